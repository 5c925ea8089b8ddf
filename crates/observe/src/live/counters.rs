//! The counters of a row, and what they grew by since they were looked at last.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU64, Ordering};

use hotset_facts::{LiveIo, SizeHistogram};

use crate::record::{HISTOGRAM_BUCKETS, Row};

/// How many counters an interval has.
pub(crate) const COUNTERS: usize = LiveIo::NAMES.len();
/// 64-bit words in a row.
pub(crate) const ROW_WORDS: usize = size_of::<Row>() / 8;

/// Everything that a row has counted since it began, in the order of [`LiveIo::values`].
pub(crate) type Counted = [u64; COUNTERS];

const READ_PAGES: usize = 2;
const READ_MISSES: usize = 3;
const READAHEAD_HITS: usize = 4;

macro_rules! words {
    ($($field:ident),* $(,)?) => {
        [$(offset_of!(Row, $field) / 8),*]
    };
}

/// Where each counter stands in a row. The programs add the parts of the pages before the pages, and these are read in this
/// order, so that no part is ever larger than its whole.
const PLACES: [usize; COUNTERS] = words![
    read_calls,
    read_bytes,
    read_pages,
    read_misses,
    read_ra_hits,
    write_calls,
    write_bytes,
    write_pages,
    write_new,
    write_misses,
    write_dirtied,
    direct_read_calls,
    direct_read_bytes,
    direct_write_calls,
    direct_write_bytes,
    faults,
    major_faults,
    fault_pages,
    ra_pages,
    sync_calls,
    device_read_bytes,
    device_write_bytes,
    hit_ns,
    wait_ns,
    write_ns,
    direct_ns,
    sync_ns,
];
const WAIT_NS: usize = 23;
const MISS_NS: usize = offset_of!(Row, miss_ns) / 8;

/// Reads the counters of a row that programs may add to.
pub(crate) fn read(row: &[AtomicU64]) -> Counted {
    let load = |place: usize| row.get(place).map_or(0, |word| word.load(Ordering::Acquire));
    let mut counted = PLACES.map(load);
    counted[WAIT_NS] = counted[WAIT_NS].wrapping_add(load(MISS_NS));
    counted
}

/// The same of a row that was copied.
pub(crate) fn of(row: &Row) -> Counted {
    let words: Vec<AtomicU64> = crate::record::bytes_of(row)
        .chunks_exact(8)
        .map(|word| AtomicU64::new(word.try_into().map_or(0, u64::from_ne_bytes)))
        .collect();
    read(&words)
}

/// What was counted since `before`, which moves on. A part of the pages that was counted before its pages is left for the
/// next time: in what this gives, misses and read-ahead hits together are never more than the pages.
pub(crate) fn advance(before: &mut Counted, now: &Counted) -> LiveIo {
    let mut grown = [0; COUNTERS];
    for (grown, (now, before)) in grown.iter_mut().zip(now.iter().zip(before.iter())) {
        *grown = now.wrapping_sub(*before);
    }
    *before = *now;
    let mut room = grown[READ_PAGES];
    for part in [READ_MISSES, READAHEAD_HITS] {
        let early = grown[part].saturating_sub(room);
        grown[part] -= early;
        before[part] = before[part].wrapping_sub(early);
        room -= grown[part];
    }
    LiveIo::from_values(grown)
}

/// Adds calls by size: reads, then writes. False where they are not known any more: the sensor counts them in 32 bits, which
/// a busy row fills within hours, and then its calls are more than the sum.
pub(crate) fn add_histograms(sum: &mut (SizeHistogram, SizeHistogram), row: &Row) -> bool {
    let add = |sum: &mut SizeHistogram, counts: [u32; HISTOGRAM_BUCKETS], calls: u64| {
        sum.0.iter_mut().zip(counts).for_each(|(sum, count)| *sum += u64::from(count));
        // Calls under way are in one and not yet in the other; what wrapped is missing as a whole.
        calls.saturating_sub(counts.into_iter().map(u64::from).sum()) < 1 << 31
    };
    let reads = add(&mut sum.0, row.read_histogram, row.read_calls);
    add(&mut sum.1, row.write_histogram, row.write_calls) && reads
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(pages: u64, misses: u64, ahead: u64) -> Counted {
        LiveIo {
            read_pages: pages,
            read_misses: misses,
            readahead_hits: ahead,
            ..LiveIo::default()
        }
        .values()
    }

    #[test]
    fn places_and_names_have_the_same_order() {
        let mut row: Row = crate::record::read(&[0; size_of::<Row>()]).expect("a row");
        row.read_pages = 3;
        row.read_ra_hits = 4;
        row.wait_ns = 5;
        row.miss_ns = 6;
        row.sync_ns = 7;
        let io = LiveIo::from_values(of(&row));
        let expected = LiveIo {
            read_pages: 3,
            readahead_hits: 4,
            read_wait_ns: 11,
            sync_ns: 7,
            ..LiveIo::default()
        };
        assert_eq!(io, expected);
    }

    #[test]
    fn a_part_that_runs_ahead_of_its_pages_waits_for_them() {
        let mut before = counted(10, 2, 1);
        let first = advance(&mut before, &counted(11, 5, 2));
        assert_eq!((first.read_pages, first.read_misses, first.readahead_hits), (1, 1, 0));
        let second = advance(&mut before, &counted(20, 5, 2));
        assert_eq!((second.read_pages, second.read_misses, second.readahead_hits), (9, 2, 1));
        assert!(advance(&mut before, &counted(20, 5, 2)).is_idle());
    }

    #[test]
    fn calls_by_size_that_wrapped_are_not_known() {
        let mut row: Row = crate::record::read(&[0; size_of::<Row>()]).expect("a row");
        row.read_histogram[3] = u32::MAX;
        row.read_calls = u64::from(u32::MAX) + 1;
        let mut sum = Default::default();
        assert!(add_histograms(&mut sum, &row), "one call under way");
        assert_eq!(sum.0.0[3], u64::from(u32::MAX));
        row.read_histogram[3] = 0;
        assert!(!add_histograms(&mut sum, &row));
        (row.read_calls, row.write_calls) = (0, 5 << 32);
        assert!(!add_histograms(&mut sum, &row));
    }

    #[test]
    fn counters_may_wrap() {
        let mut before = counted(u64::MAX, 0, 0);
        assert_eq!(advance(&mut before, &counted(1, 0, 0)).read_pages, 2);
    }
}
