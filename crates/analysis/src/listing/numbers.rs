//! The numbers of one row and of a total.

use hotset_facts::{
    ListedFile, ListingTotals, Observed, Reason, Residency, ResidencySource, Skipped,
};

/// What a row says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowNumbers {
    /// Files that the row stands for.
    pub files: u64,
    /// Files among them whose state nobody knows.
    pub unknown_files: u64,
    /// Bytes that they hold.
    pub size_bytes: u64,
    /// Base pages that these bytes span.
    pub pages: u64,
    /// Pages in the cache, of the files whose state is known.
    pub cached_pages: Observed<u64>,
    /// The memory of these pages.
    pub cached_bytes: Observed<u64>,
    /// Dirty pages.
    pub dirty_pages: Observed<u64>,
    /// The memory of the dirty pages.
    pub dirty_bytes: Observed<u64>,
    /// Pages being written back.
    pub writeback_pages: Observed<u64>,
    /// The memory of the pages being written back.
    pub writeback_bytes: Observed<u64>,
    /// Pages that were cached once and evicted.
    pub evicted_pages: Observed<u64>,
    /// Pages evicted so lately that reading them again would count as part of the working set.
    pub recently_evicted_pages: Observed<u64>,
    /// What these pages would take.
    pub recently_evicted_bytes: Observed<u64>,
    /// The share of the pages in the cache, from 0 to 1, of the files whose state is known; none where there are no pages.
    pub share: Option<f64>,
    /// Which system call answered.
    pub source: Option<ResidencySource>,
}

impl RowNumbers {
    /// The numbers of one file.
    pub fn of_file(file: &ListedFile, page_bytes: u64) -> Self {
        let field = |get: fn(&Residency) -> Observed<u64>| match &file.state {
            Observed::Value(state) => get(state),
            Observed::Missing(reason) => Observed::Missing(*reason),
        };
        let bytes = |pages: Observed<u64>| pages.map(|pages| pages.saturating_mul(page_bytes));
        let cached_pages = field(|state| Observed::Value(state.cached_pages));
        let dirty_pages = field(|state| state.dirty_pages);
        let writeback_pages = field(|state| state.writeback_pages);
        let recently_evicted_pages = field(|state| state.recently_evicted_pages);
        let state = file.state.as_value();
        Self {
            files: 1,
            unknown_files: u64::from(state.is_none()),
            size_bytes: file.size_bytes,
            pages: pages_of(file, page_bytes),
            cached_pages,
            cached_bytes: bytes(cached_pages),
            dirty_pages,
            dirty_bytes: bytes(dirty_pages),
            writeback_pages,
            writeback_bytes: bytes(writeback_pages),
            evicted_pages: field(|state| state.evicted_pages),
            recently_evicted_pages,
            recently_evicted_bytes: bytes(recently_evicted_pages),
            share: state.and_then(share),
            source: state.map(|state| state.source),
        }
    }

    /// The numbers of a directory, whose row sums up the files below it.
    pub fn of_totals(totals: &ListingTotals, page_bytes: u64) -> Self {
        let nothing_known = totals.files > 0 && totals.unknown_files == totals.files;
        let known = |value: u64| match nothing_known {
            true => Observed::Missing(Reason::denied("the state of no file in it is known")),
            false => Observed::Value(value),
        };
        let bytes = |value: u64| known(value.saturating_mul(page_bytes));
        Self {
            files: totals.files,
            unknown_files: totals.unknown_files,
            size_bytes: totals.size_bytes,
            pages: totals.pages,
            cached_pages: known(totals.cached_pages),
            cached_bytes: bytes(totals.cached_pages),
            dirty_pages: known(totals.dirty_pages),
            dirty_bytes: bytes(totals.dirty_pages),
            writeback_pages: known(totals.writeback_pages),
            writeback_bytes: bytes(totals.writeback_pages),
            evicted_pages: Observed::Missing(Reason::not_measured("not summed up by directory")),
            recently_evicted_pages: known(totals.recently_evicted_pages),
            recently_evicted_bytes: bytes(totals.recently_evicted_pages),
            share: ratio(totals.cached_pages, totals.known_pages),
            source: None,
        }
    }
}

/// Pages that a file spans, whether its state is known or not.
pub(super) fn pages_of(file: &ListedFile, page_bytes: u64) -> u64 {
    match &file.state {
        Observed::Value(state) => state.pages,
        Observed::Missing(_) => file.size_bytes.div_ceil(page_bytes.max(1)),
    }
}

/// The share of a file that is cached; none for an empty one.
pub(super) fn share(state: &Residency) -> Option<f64> {
    ratio(state.cached_pages, state.pages)
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    // A file that was truncated while it was asked about can have more pages than its size spans.
    (whole > 0).then(|| (part as f64 / whole as f64).min(1.0))
}

/// What the last line says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TotalNumbers {
    /// The sums as a row.
    pub row: RowNumbers,
    /// The pages of the files whose state is known, in bytes: what the share is a share of.
    pub known_bytes: u64,
    /// What was passed over.
    pub skipped: Skipped,
    /// Rows that were shown of it.
    pub shown: u64,
    /// Whether it was stopped before its end.
    pub partial: bool,
}

impl TotalNumbers {
    /// From the sums of a listing.
    pub fn new(
        totals: &ListingTotals,
        skipped: Skipped,
        shown: u64,
        partial: bool,
        page_bytes: u64,
    ) -> Self {
        Self {
            row: RowNumbers::of_totals(totals, page_bytes),
            known_bytes: totals.known_pages.saturating_mul(page_bytes),
            skipped,
            shown,
            partial,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{file, unknown};
    use super::*;

    #[test]
    fn a_row_says_pages_and_bytes_and_a_share() {
        let row = RowNumbers::of_file(&file("/a", 10_000, 2), 4096);
        assert_eq!((row.pages, row.cached_pages), (3, Observed::Value(2)));
        assert_eq!(row.cached_bytes, Observed::Value(8192));
        assert_eq!(row.share, Some(2.0 / 3.0));
        assert_eq!(RowNumbers::of_file(&file("/empty", 0, 0), 4096).share, None);
    }

    #[test]
    fn an_unknown_file_has_a_size_and_no_share() {
        let row = RowNumbers::of_file(&unknown("/a", 10_000), 4096);
        assert_eq!((row.pages, row.size_bytes, row.unknown_files), (3, 10_000, 1));
        assert!(row.cached_pages.value().is_none() && row.share.is_none());
        assert!(row.dirty_bytes.reason().is_some());
    }

    #[test]
    fn a_total_is_a_share_of_what_is_known() {
        let mut totals = ListingTotals::default();
        for file in [file("/a", 8192, 1), unknown("/b", 1 << 30)] {
            totals.add(pages_of(&file, 4096), file.size_bytes, &file.state);
        }
        let total = TotalNumbers::new(&totals, Skipped::default(), 2, false, 4096);
        assert_eq!((total.row.share, total.known_bytes), (Some(0.5), 8192));
        assert_eq!((total.row.files, total.row.unknown_files), (2, 1));
        let mut nothing = ListingTotals::default();
        nothing.add(2, 8192, &unknown("/b", 8192).state);
        assert!(RowNumbers::of_totals(&nothing, 4096).cached_pages.value().is_none());
        let empty = RowNumbers::of_totals(&ListingTotals::default(), 4096);
        assert_eq!((empty.cached_pages, empty.share), (Observed::Value(0), None));
    }
}
