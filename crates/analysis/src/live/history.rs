//! The last intervals, for curves: of everything, and of single items that somebody watches.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use hotset_facts::{FileId, Interval, LiveIo, Observed};

use super::{IntervalSummary, LiveNumbers};

/// One interval of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// When it ended, in nanoseconds of the monotonic clock since the session began.
    pub ended_after_ns: u64,
    /// What was counted in it.
    pub numbers: LiveNumbers,
}

/// The last so many values: the oldest goes when a new one comes.
#[derive(Debug, Clone)]
pub struct History<T = Point> {
    capacity: usize,
    points: VecDeque<T>,
}

impl<T> History<T> {
    /// Keeps at most `capacity` values, at least one.
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), points: VecDeque::new() }
    }

    /// Adds the newest.
    pub fn push(&mut self, point: T) {
        if self.points.len() >= self.capacity {
            self.points.pop_front();
        }
        self.points.push_back(point);
    }

    /// All, the oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        self.points.iter()
    }

    /// The newest.
    pub fn last(&self) -> Option<&T> {
        self.points.back()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }
}

/// Something that can be watched.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Item {
    /// A process, by [`hotset_facts::LiveProcess::id`].
    Process(u32),
    /// A file.
    File(FileId),
    /// A control group; nothing for the processes whose group is not known.
    Cgroup(Option<Arc<str>>),
    /// All processes with a name.
    Command(Arc<str>),
}

/// Curves of everything and of the watched items, all over the same intervals.
#[derive(Debug, Clone)]
pub struct Histories {
    capacity: usize,
    totals: History,
    host: History<hotset_facts::HostMemory>,
    watched: HashMap<Item, History>,
}

impl Histories {
    /// Keeps at most `capacity` intervals of each curve.
    pub fn new(capacity: usize) -> Self {
        let (totals, host) = (History::new(capacity), History::new(capacity));
        Self { capacity, totals, host, watched: HashMap::new() }
    }

    /// Keeps a curve of `item` from the next interval on. One that is watched already goes on.
    pub fn watch(&mut self, item: Item) {
        let capacity = self.capacity;
        self.watched.entry(item).or_insert_with(|| History::new(capacity));
    }

    /// Forgets the curve of `item`.
    pub fn unwatch(&mut self, item: &Item) {
        self.watched.remove(item);
    }

    /// Adds an interval to every curve; an item that was idle gets zeros.
    pub fn record(&mut self, interval: &Interval, summary: &IntervalSummary) {
        let ended_after_ns = interval.ended_after_ns;
        self.totals.push(Point { ended_after_ns, numbers: summary.totals });
        self.host.push(summary.host.clone());
        for (item, history) in &mut self.watched {
            let numbers = numbers_of(item, interval, summary)
                .unwrap_or(LiveNumbers::new(LiveIo::default(), summary.totals.seconds));
            history.push(Point { ended_after_ns, numbers });
        }
    }

    /// The curve of everything.
    pub fn totals(&self) -> &History {
        &self.totals
    }

    /// The host over the same intervals.
    pub fn host(&self) -> &History<hotset_facts::HostMemory> {
        &self.host
    }

    /// The curve of a watched item.
    pub fn of(&self, item: &Item) -> Option<&History> {
        self.watched.get(item)
    }
}

fn numbers_of(item: &Item, interval: &Interval, summary: &IntervalSummary) -> Option<LiveNumbers> {
    match item {
        Item::Process(id) => {
            let at = interval.processes.iter().position(|process| process.id == *id)?;
            summary.processes.get(at).map(|row| row.numbers)
        }
        Item::File(id) => {
            let at = interval.files.iter().position(|file| file.id == *id)?;
            summary.files.get(at).map(|row| row.numbers)
        }
        Item::Cgroup(path) => {
            summary.cgroups.iter().find(|row| row.path == *path).map(|row| row.numbers)
        }
        Item::Command(comm) => {
            summary.commands.iter().find(|row| row.comm == *comm).map(|row| row.numbers)
        }
    }
}

/// A value as a point of a curve: what is missing is a gap and not zero.
impl Point {
    /// The hit ratio of this interval, 0 to 1.
    pub fn hit_ratio(&self) -> Observed<f64> {
        const IDLE: hotset_facts::Reason =
            hotset_facts::Reason::not_measured("nothing was read in this interval");
        self.numbers.hit_ratio().map_or(Observed::Missing(IDLE), Observed::Value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::summarise_interval;
    use crate::live::testing::{interval, reads};

    #[test]
    fn a_ring_keeps_the_last() {
        let mut ring = History::new(3);
        assert!(ring.is_empty());
        (1..=5).for_each(|n| ring.push(n));
        assert_eq!(ring.iter().copied().collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!((ring.len(), ring.last()), (3, Some(&5)));
        let mut least = History::new(0);
        least.push(1);
        assert_eq!(least.len(), 1);
    }

    #[test]
    fn an_idle_item_gets_zeros_and_one_that_is_not_watched_nothing() {
        let mut histories = Histories::new(2);
        let busy = interval(vec![reads(0, 10, 4)]);
        let idle = interval(vec![]);
        let item = Item::Process(busy.processes[0].id);
        histories.watch(item.clone());
        for interval in [&busy, &idle] {
            histories.record(interval, &summarise_interval(interval));
        }
        let curve: Vec<u64> = histories
            .of(&item)
            .expect("watched")
            .iter()
            .map(|point| point.numbers.io.read_pages)
            .collect();
        assert_eq!(curve, [10, 0]);
        assert_eq!(histories.totals().len(), 2);
        assert!(histories.totals().last().expect("a point").hit_ratio().value().is_none());
        assert!(histories.of(&Item::Command("other".into())).is_none());
        histories.unwatch(&item);
        assert!(histories.of(&item).is_none());
    }
}
