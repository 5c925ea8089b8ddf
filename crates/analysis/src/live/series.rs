//! Counters by some key, for at most so many keys.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::SystemTime;

use hotset_facts::LiveIo;

/// Intervals that a series keeps its place, however little it does: few series begin and end, whatever comes and goes.
/// At an interval of 5 s this is 5 minutes, after which Prometheus forgets a series that ended.
const TENURE_INTERVALS: u64 = 60;

/// What is left of an interval's work in the memory of a series after one more: half after seven intervals.
const DECAY: f64 = 0.9;

/// How much busier than the least busy series a key must have been in one interval to take its place.
const BUSIER: f64 = 2.0;

/// The counters of one key since it was admitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Series<K> {
    /// The key.
    pub key: K,
    /// What was counted for it. Never goes backwards.
    pub io: LiveIo,
    /// Where its counters were zero: the beginning of the interval in which it was admitted.
    pub since: SystemTime,
    admitted: u64,
    busy: f64,
}

/// Counters for a bounded number of keys, and one for all others. None goes backwards. A key that finds no place counts as
/// other; if it is much busier than the least busy series, it takes that one's place from the next interval on. What was
/// counted for a series that ended stays in the total.
#[derive(Debug, Clone)]
pub struct SeriesSet<K> {
    limit: usize,
    at: HashMap<K, usize>,
    series: Vec<Series<K>>,
    other: LiveIo,
    ended: LiveIo,
    refused: u64,
    interval: u64,
    began: SystemTime,
    /// The busiest key of this interval that found no place.
    waiting: Option<(K, f64)>,
}

/// How busy somebody was: pages asked for, and about as much for what is not counted in pages.
fn weight(io: &LiveIo) -> f64 {
    const PAGE_BYTES: u64 = 4096;
    let pages = [io.read_pages, io.write_pages, io.direct_bytes() / PAGE_BYTES, io.faults];
    pages.into_iter().fold(0_u64, u64::saturating_add) as f64
}

impl<K: Hash + Eq + Clone> SeriesSet<K> {
    /// No series yet, and at most `limit` of them at any time.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            at: HashMap::new(),
            series: Vec::new(),
            other: LiveIo::default(),
            ended: LiveIo::default(),
            refused: 0,
            interval: 0,
            began: SystemTime::UNIX_EPOCH,
            waiting: None,
        }
    }

    /// Begins an interval, which started at `began`: work of before counts less, and who waits may get a place.
    pub fn begin(&mut self, began: SystemTime) {
        self.interval += 1;
        self.began = began;
        let waiting = self.waiting.take();
        // Where a place came free meanwhile nobody has to go: whoever goes on working gets it.
        if let Some((key, busy)) = waiting
            && self.series.len() >= self.limit
            && let Some(at) = self.replaceable(busy)
        {
            let io = self.end_at(at);
            self.ended.add(&io);
            self.admit(key, LiveIo::default(), busy);
        }
        self.series.iter_mut().for_each(|series| series.busy *= DECAY);
    }

    /// Adds what was counted for `key`. A key that was idle is not admitted.
    pub fn add(&mut self, key: &K, io: &LiveIo) {
        if let Some(&at) = self.at.get(key) {
            let series = &mut self.series[at];
            series.io.add(io);
            series.busy += weight(io);
        } else if io.is_idle() {
        } else if self.series.len() < self.limit {
            self.admit(key.clone(), *io, weight(io));
        } else {
            self.refused = self.refused.saturating_add(1);
            self.other.add(io);
            let busy = weight(io);
            if self.limit > 0 && self.waiting.as_ref().is_none_or(|(_, most)| busy > *most) {
                self.waiting = Some((key.clone(), busy));
            }
        }
    }

    /// Adds what was counted for no key.
    pub fn add_other(&mut self, io: &LiveIo) {
        self.other.add(io);
    }

    /// Ends the series of every key that is gone. If one comes back it begins at zero. Who came and went within this interval
    /// had no series that anybody saw, and counts as other; nobody gone takes a place.
    pub fn retain(&mut self, mut is_there: impl FnMut(&K) -> bool) {
        for at in (0..self.series.len()).rev() {
            let Series { key, admitted, .. } = &self.series[at];
            if is_there(key) {
                continue;
            }
            let unseen = *admitted == self.interval;
            let io = self.end_at(at);
            if unseen {
                self.other.add(&io);
            } else {
                self.ended.add(&io);
            }
        }
        self.waiting = self.waiting.take().filter(|(key, _)| is_there(key));
    }

    /// The series, in no particular order.
    pub fn series(&self) -> &[Series<K>] {
        &self.series
    }

    /// The series of a key.
    pub fn get(&self, key: &K) -> Option<&Series<K>> {
        self.series.get(*self.at.get(key)?)
    }

    /// What was counted for keys without a series, and for no key.
    pub fn other(&self) -> &LiveIo {
        &self.other
    }

    /// How often a key was counted as other because there were series enough.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// All that was added, also to series that ended.
    pub fn total(&self) -> LiveIo {
        let mut total = self.other;
        total.add(&self.ended);
        self.series.iter().for_each(|series| total.add(&series.io));
        total
    }

    fn admit(&mut self, key: K, io: LiveIo, busy: f64) {
        self.at.insert(key.clone(), self.series.len());
        let (since, admitted) = (self.began, self.interval);
        self.series.push(Series { key, io, since, admitted, busy });
    }

    /// The least busy of the series that had their time, if somebody this busy may take its place.
    fn replaceable(&self, busy: f64) -> Option<usize> {
        let old = |series: &Series<K>| self.interval - series.admitted >= TENURE_INTERVALS;
        let (at, least) = (self.series.iter().enumerate())
            .filter(|(_, series)| old(series))
            .min_by(|(_, a), (_, b)| a.busy.total_cmp(&b.busy))?;
        (busy > least.busy * BUSIER).then_some(at)
    }

    /// Takes a series out and hands back what was counted for it.
    fn end_at(&mut self, at: usize) -> LiveIo {
        let gone = self.series.swap_remove(at);
        self.at.remove(&gone.key);
        if let Some(moved) = self.series.get(at) {
            self.at.insert(moved.key.clone(), at);
        }
        gone.io
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(read_pages: u64) -> LiveIo {
        LiveIo { read_pages, ..LiveIo::default() }
    }

    fn keys(set: &SeriesSet<u32>) -> Vec<u32> {
        let mut keys: Vec<u32> = set.series().iter().map(|series| series.key).collect();
        keys.sort_unstable();
        keys
    }

    /// A set with the keys 1 and 2, of which 2 does nothing any more, after so many intervals.
    fn aged(intervals: u64) -> SeriesSet<u32> {
        let mut set = SeriesSet::new(2);
        set.begin(SystemTime::UNIX_EPOCH);
        set.add(&2, &pages(1));
        for _ in 0..intervals {
            set.add(&1, &pages(10));
            set.begin(SystemTime::UNIX_EPOCH);
        }
        set
    }

    #[test]
    fn a_busy_key_takes_the_place_of_an_idle_one_from_the_next_interval_on() {
        let mut set = aged(TENURE_INTERVALS);
        set.add(&3, &pages(7));
        assert_eq!((keys(&set), set.other().read_pages), (vec![1, 2], 7));
        set.begin(SystemTime::UNIX_EPOCH);
        assert_eq!(keys(&set), [1, 3]);
        set.add(&3, &pages(5));
        let third = set.series().iter().find(|series| series.key == 3).map(|series| series.io);
        assert_eq!(third, Some(pages(5)));
        assert_eq!(set.total().read_pages, 10 * TENURE_INTERVALS + 1 + 7 + 5);
    }

    #[test]
    fn nobody_loses_a_place_before_its_time_or_to_somebody_hardly_busier() {
        let mut young = aged(TENURE_INTERVALS - 2);
        young.add(&3, &pages(1_000));
        young.begin(SystemTime::UNIX_EPOCH);
        assert_eq!(keys(&young), [1, 2]);
        let mut set = SeriesSet::new(1);
        for _ in 0..=TENURE_INTERVALS {
            set.begin(SystemTime::UNIX_EPOCH);
            set.add(&1, &pages(10));
        }
        set.add(&2, &pages(100));
        set.begin(SystemTime::UNIX_EPOCH);
        assert_eq!(keys(&set), [1]);
    }

    #[test]
    fn what_is_gone_ends_and_stays_in_the_total() {
        let mut set = SeriesSet::new(3);
        set.begin(SystemTime::UNIX_EPOCH);
        for key in 1..=3 {
            set.add(&key, &pages(u64::from(key)));
        }
        set.begin(SystemTime::UNIX_EPOCH);
        set.retain(|&key| key != 1);
        assert_eq!((keys(&set), set.total().read_pages), (vec![2, 3], 6));
        set.add(&3, &pages(1));
        set.add(&1, &pages(9));
        let pages_of =
            |key| set.series().iter().find(|series| series.key == key).map(|s| s.io.read_pages);
        assert_eq!((pages_of(1), pages_of(3), set.total().read_pages), (Some(9), Some(4), 16));
    }

    #[test]
    fn who_comes_and_goes_within_an_interval_is_other_and_takes_no_place() {
        let mut set = aged(TENURE_INTERVALS + 1);
        set.add(&3, &pages(1_000));
        // Gone before it could get the place of 2.
        set.retain(|&key| key != 3);
        set.begin(SystemTime::UNIX_EPOCH);
        assert_eq!((keys(&set), set.other().read_pages), (vec![1, 2], 1_000));
        set.retain(|&key| key != 2);
        set.add(&4, &pages(5));
        set.retain(|&key| key != 4);
        let total = 10 * (TENURE_INTERVALS + 1) + 1 + 1_000 + 5;
        assert_eq!((keys(&set), set.other().read_pages), (vec![1], 1_005));
        assert_eq!(set.total().read_pages, total);
    }

    #[test]
    fn nobody_goes_where_a_place_came_free() {
        let mut set = aged(TENURE_INTERVALS + 1);
        set.add(&3, &pages(1_000));
        set.retain(|&key| key != 1);
        set.begin(SystemTime::UNIX_EPOCH);
        set.add(&3, &pages(7));
        assert_eq!(keys(&set), [2, 3]);
    }
}
