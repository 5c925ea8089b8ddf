//! Which rows a view shows: the first few by some number, without sorting all of them.

use std::cmp::Ordering;

use super::{
    CgroupNumbers, CommandNumbers, FileNumbers, LiveNumbers, MountNumbers, ProcessNumbers,
};

/// A row with counters.
pub trait HasNumbers {
    /// Its counters.
    fn numbers(&self) -> &LiveNumbers;
}

macro_rules! has_numbers {
    ($($row:ty),*) => {
        $(impl HasNumbers for $row {
            fn numbers(&self) -> &LiveNumbers {
                &self.numbers
            }
        })*
    };
}

has_numbers!(ProcessNumbers, FileNumbers, CgroupNumbers, CommandNumbers, MountNumbers);

/// By which number rows are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SortKey {
    /// Requested pages.
    Pages,
    /// Requested pages that were cached.
    Hits,
    /// Requested pages that were not.
    #[default]
    Misses,
    /// Pages that turned dirty.
    Dirties,
    /// Hits among the requested pages.
    ReadHitRatio,
    /// Pages among the written ones that were cached already.
    WriteHitRatio,
    /// Requested pages that came from the device.
    Device,
    /// Those among the requested pages.
    DeviceShare,
    /// Bytes past the cache.
    Direct,
    /// Faults on file mappings.
    Faults,
    /// Pages read ahead.
    ReadAhead,
    /// Bytes that buffered reads returned.
    ReadBytes,
    /// Bytes that buffered writes accepted.
    WriteBytes,
    /// Time in I/O calls.
    Time,
}

impl SortKey {
    /// The value that rows with these counters are ordered by; nothing for a ratio of nothing.
    pub fn value(self, numbers: &LiveNumbers) -> Option<f64> {
        let io = &numbers.io;
        let count = match self {
            Self::ReadHitRatio => return numbers.hit_ratio(),
            Self::WriteHitRatio => return numbers.write_hit_ratio(),
            Self::DeviceShare => return numbers.device_share(),
            Self::Pages => io.read_pages,
            Self::Hits => numbers.hits(),
            Self::Misses => numbers.misses(),
            Self::Dirties => io.dirtied_pages,
            Self::Device => io.from_device(),
            Self::Direct => numbers.direct_bytes(),
            Self::Faults => io.faults,
            Self::ReadAhead => io.readahead_pages,
            Self::ReadBytes => io.read_bytes,
            Self::WriteBytes => io.write_bytes,
            Self::Time => numbers.io_ns(),
        };
        Some(count as f64)
    }
}

/// The numbers of the first `n` of `rows` by `key`. A row without the value comes after all that have one, in both
/// directions; what is equal is ordered by its requested pages, then as it stands in `rows`.
pub fn top<T: HasNumbers>(rows: &[T], key: SortKey, descending: bool, n: usize) -> Vec<usize> {
    let compare = |a: &T, b: &T| {
        let by_value = match (key.value(a.numbers()), key.value(b.numbers())) {
            (Some(a), Some(b)) if descending => b.total_cmp(&a),
            (Some(a), Some(b)) => a.total_cmp(&b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        };
        by_value.then_with(|| b.numbers().io.read_pages.cmp(&a.numbers().io.read_pages))
    };
    top_by(rows, n, compare)
}

/// The numbers of the first `n` of `rows` by `compare`; what is equal stays in the order of `rows`. Costs a pass over all
/// rows and a sort of `n`.
pub fn top_by<T>(rows: &[T], n: usize, compare: impl Fn(&T, &T) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let by = |a: &usize, b: &usize| compare(&rows[*a], &rows[*b]).then(a.cmp(b));
    if n == 0 {
        return Vec::new();
    }
    if n < order.len() {
        order.select_nth_unstable_by(n - 1, by);
        order.truncate(n);
    }
    order.sort_unstable_by(by);
    order
}

#[cfg(test)]
mod tests {
    use hotset_facts::LiveIo;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn row((read_pages, read_misses, write_pages): (u64, u64, u64)) -> ProcessNumbers {
        let io = LiveIo { read_pages, read_misses, write_pages, ..LiveIo::default() };
        ProcessNumbers { process: 0, files: 0, numbers: LiveNumbers::new(io, 1.0) }
    }

    const KEYS: [SortKey; 5] = [
        SortKey::Pages,
        SortKey::Misses,
        SortKey::ReadHitRatio,
        SortKey::WriteHitRatio,
        SortKey::DeviceShare,
    ];

    proptest! {
        #[test]
        fn the_top_is_the_start_of_a_full_sort(
            counts in vec((0_u64..4, 0_u64..4, 0_u64..2), 0..60),
            key in prop::sample::select(KEYS.to_vec()),
            descending: bool,
            n in 0_usize..70,
        ) {
            let rows: Vec<_> = counts.into_iter().map(row).collect();
            let all = top(&rows, key, descending, rows.len());
            let mut by_hand: Vec<usize> = (0..rows.len()).collect();
            by_hand.sort_by(|&a, &b| {
                let (a, b) = (&rows[a].numbers, &rows[b].numbers);
                let rank = |numbers| match key.value(numbers) {
                    Some(value) if descending => (0, -value),
                    Some(value) => (0, value),
                    None => (1, 0.0),
                };
                rank(a).partial_cmp(&rank(b)).expect("no NaN")
                    .then(b.io.read_pages.cmp(&a.io.read_pages))
            });
            prop_assert_eq!(&all, &by_hand);
            let first = top(&rows, key, descending, n);
            prop_assert_eq!(first.as_slice(), &all[..n.min(all.len())]);
        }
    }

    #[test]
    fn a_ratio_of_nothing_comes_last_both_ways() {
        let rows = [row((0, 0, 0)), row((4, 4, 0)), row((4, 0, 0))];
        assert_eq!(top(&rows, SortKey::ReadHitRatio, true, 3), [2, 1, 0]);
        assert_eq!(top(&rows, SortKey::ReadHitRatio, false, 3), [1, 2, 0]);
    }
}
