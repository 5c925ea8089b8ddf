//! Bytes by interval: from the page cache, from the device, written.

use std::collections::BTreeMap;

use hotset_facts::trace::{OperationClass, TraceRecord};

/// The length of an interval at first.
const INTERVAL_NS: u64 = 100_000_000;

/// Intervals beyond which two become one: about 4 MiB of them.
const MOST: usize = 65_536;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// What is counted, with its name.
pub(super) const NAMES: [&str; 4] =
    ["read from page cache", "read from device", "written to page cache", "device I/O"];

/// Sums by interval, which become longer when they become too many.
#[derive(Debug)]
pub(super) struct Counters {
    interval_ns: u64,
    sums: BTreeMap<u64, [u64; NAMES.len()]>,
}

impl Counters {
    pub(super) fn new() -> Self {
        Self { interval_ns: INTERVAL_NS, sums: BTreeMap::new() }
    }

    /// Adds what a record moved, to the interval in which it began.
    pub(super) fn add(&mut self, record: &TraceRecord) {
        let mut moved = [0; NAMES.len()];
        if let Some(pages) = record.pages {
            let zeros = u64::from(pages.zeros.unwrap_or(0));
            let [hits, ahead, misses] = [pages.hits, pages.ahead_hits, pages.misses].map(u64::from);
            let [cache, device, written, _] = &mut moved;
            match record.class {
                OperationClass::Read => {
                    *cache = hits.saturating_sub(ahead) * PAGE;
                    *device = (misses + ahead).saturating_sub(zeros) * PAGE;
                }
                OperationClass::Write => *written = u64::from(pages.pages) * PAGE,
                OperationClass::Fault => {
                    *device = u64::from(pages.pages).saturating_sub(zeros) * PAGE;
                }
                _ => {}
            }
        }
        let [.., requested] = &mut moved;
        let device = [record.device_read_bytes, record.device_write_bytes];
        *requested = device.into_iter().flatten().fold(0, u64::saturating_add);
        if moved.iter().all(|bytes| *bytes == 0) {
            return;
        }
        let sums = self.sums.entry(record.start_ns / self.interval_ns).or_default();
        sums.iter_mut().zip(moved).for_each(|(sum, bytes)| *sum = sum.saturating_add(bytes));
        if self.sums.len() > MOST {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.interval_ns = self.interval_ns.saturating_mul(2);
        for (interval, moved) in std::mem::take(&mut self.sums) {
            let sums = self.sums.entry(interval / 2).or_default();
            sums.iter_mut().zip(moved).for_each(|(sum, bytes)| *sum = sum.saturating_add(bytes));
        }
    }

    /// Times with bytes per second from then on. An interval without anything is told as zeros.
    pub(super) fn rates(&self) -> impl Iterator<Item = (u64, [u64; NAMES.len()])> {
        let per_second = |bytes: u64| {
            let rate = u128::from(bytes) * 1_000_000_000 / u128::from(self.interval_ns);
            u64::try_from(rate).unwrap_or(u64::MAX)
        };
        let has = |interval: &u64| self.sums.contains_key(interval);
        self.sums.iter().flat_map(move |(interval, sums)| {
            let begin = (interval.saturating_mul(self.interval_ns), sums.map(per_second));
            let next = interval.saturating_add(1);
            let end =
                (!has(&next)).then(|| (next.saturating_mul(self.interval_ns), [0; NAMES.len()]));
            [Some(begin), end].into_iter().flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::{Operation, RecordPages};

    use super::*;

    #[test]
    fn sums_survive_longer_intervals() {
        let mut counters = Counters::new();
        let pages =
            RecordPages { pages: 3, hits: 2, ahead_hits: 1, misses: 1, ..RecordPages::default() };
        let count = 70_000;
        for at in 0..count {
            let record = TraceRecord::new(at * INTERVAL_NS, Operation::Read);
            counters.add(&TraceRecord { pages: Some(pages), ..record });
        }
        assert!(counters.sums.len() <= MOST && counters.interval_ns == 2 * INTERVAL_NS);
        let sum = counters.sums.values().fold([0; 4], |mut all: [u64; 4], sums| {
            all.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
            all
        });
        assert_eq!(sum, [count * PAGE, 2 * count * PAGE, 0, 0]);
        let rates: Vec<_> = counters.rates().collect();
        assert_eq!(rates[0], (0, [10 * PAGE, 20 * PAGE, 0, 0]));
        assert_eq!(rates.last().map(|(_, rates)| *rates), Some([0; 4]));
    }
}
