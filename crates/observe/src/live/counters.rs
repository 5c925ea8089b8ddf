//! The counters of a row, and what they grew by since they were looked at last.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU64, Ordering};

use hotset_facts::{LiveIo, SizeHistogram};

use crate::record::{HISTOGRAM_BUCKETS, Row};

/// 64-bit words in a row.
pub(crate) const ROW_WORDS: usize = size_of::<Row>() / 8;

/// The sum of some words of a row, each read once.
macro_rules! sum {
    ($load:ident [$first:ident $(+ $field:ident)*]) => {
        $load(offset_of!(Row, $first) / 8)$(.wrapping_add($load(offset_of!(Row, $field) / 8)))*
    };
}

macro_rules! counters_of_row {
    ($(
        $(#[$group_doc:meta])*
        $group:ident: $kind:ident $Name:ident $(($($histogram:tt)+))? {
            $(
                $(#[$doc:meta])*
                $field:ident: $unit:ident $rows:tt $needs:ident
                $(live [$live:ident $(and $more:tt)? $metric:literal $help:literal])?;
            )*
        }
    )*) => {
        /// Reads everything that a row has counted since it began, in the order of the table, while programs may add to it.
        pub(crate) fn read(row: &[AtomicU64]) -> LiveIo {
            let load = |place: usize| row.get(place).map_or(0, |word| word.load(Ordering::Acquire));
            LiveIo {
                $($($($live: sum!(load $rows)$(.wrapping_add(sum!(load $more)))?,)?)*)*
            }
        }
    };
}

hotset_facts::counters!(counters_of_row);

/// The same of a row that was copied.
pub(crate) fn of(row: &Row) -> LiveIo {
    let words: Vec<AtomicU64> = crate::record::bytes_of(row)
        .chunks_exact(8)
        .map(|word| AtomicU64::new(word.try_into().map_or(0, u64::from_ne_bytes)))
        .collect();
    read(&words)
}

/// What was counted since `before`, which moves on. A part of the pages that was counted before its pages is left for the
/// next time: in what this gives, misses and read-ahead hits together are never more than the pages.
pub(crate) fn advance(before: &mut LiveIo, now: &LiveIo) -> LiveIo {
    let mut grown = now.zip_with(before, u64::wrapping_sub);
    *before = *now;
    let mut room = grown.read_pages;
    for (grown, before) in [
        (&mut grown.read_misses, &mut before.read_misses),
        (&mut grown.readahead_hits, &mut before.readahead_hits),
    ] {
        let early = grown.saturating_sub(room);
        *grown -= early;
        *before = before.wrapping_sub(early);
        room -= *grown;
    }
    // Zeros are a part of those.
    let early = grown.read_zeros.saturating_sub(grown.read_pages - room);
    grown.read_zeros -= early;
    before.read_zeros = before.read_zeros.wrapping_sub(early);
    grown
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

    fn counted(pages: u64, misses: u64, ahead: u64) -> LiveIo {
        LiveIo {
            read_pages: pages,
            read_misses: misses,
            readahead_hits: ahead,
            ..LiveIo::default()
        }
    }

    #[test]
    fn a_row_is_read_by_the_table() {
        let mut row: Row = crate::record::read(&[0; size_of::<Row>()]).expect("a row");
        row.read_pages = 3;
        row.read_ra_hits = 4;
        row.wait_ns = 5;
        row.miss_ns = 6;
        row.sync_ns = 7;
        let io = of(&row);
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
