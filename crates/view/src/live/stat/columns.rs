//! The columns of a line, in text and in CSV.

use hotset_analysis::live::StatLine;
use hotset_facts::{Observed, Reason};

/// What a column holds.
pub(super) enum Cell {
    /// So many.
    Count(Observed<u64>),
    /// Bytes, which text shows in MiB with so many decimals.
    Bytes(Observed<u64>, usize),
    /// A share of 1, which text shows in percent.
    Share(Option<f64>),
}

/// Title and width as text, name in CSV, and what a line holds. The first six are those of bcc's cachestat since 2015:
/// `%8s %8s %8s %8s %12s %10s`. New ones come after the last.
type Column = (&'static str, usize, &'static str, fn(&StatLine) -> Cell);

pub(super) const COLUMNS: [Column; 12] = [
    ("TOTAL", 8, "total", |line| Cell::Count(Observed::Value(line.total))),
    ("MISSES", 8, "misses", |line| Cell::Count(Observed::Value(line.misses))),
    ("HITS", 8, "hits", |line| Cell::Count(Observed::Value(line.hits))),
    ("DIRTIES", 8, "dirties", |line| Cell::Count(line.dirties)),
    ("BUFFERS_MB", 12, "buffers_bytes", |line| Cell::Bytes(line.buffers_bytes, 0)),
    ("CACHED_MB", 10, "cached_bytes", |line| Cell::Bytes(line.cached_bytes, 0)),
    ("READ-AHEAD", 10, "readahead_pages", |line| {
        Cell::Count(Observed::Value(line.readahead_pages))
    }),
    ("DEVICE%", 8, "device_share", |line| Cell::Share(line.device_share)),
    ("DIRECT_MB", 10, "direct_bytes", |line| Cell::Bytes(Observed::Value(line.direct_bytes), 1)),
    ("FAULTS", 8, "faults", |line| Cell::Count(line.faults)),
    ("EVICTED", 8, "evicted_pages", |line| Cell::Count(line.evicted_pages)),
    ("WRITEBACK_MB", 12, "writeback_bytes", |line| Cell::Bytes(line.writeback_bytes, 1)),
];

/// The columns that can be without a number, in the order of the line, with why they are.
pub(crate) fn columns_without_number(
    line: &StatLine,
) -> impl Iterator<Item = (&'static str, Reason)> {
    COLUMNS.iter().filter_map(|(title, _, _, cell)| match cell(line) {
        Cell::Count(value) | Cell::Bytes(value, _) => Some((*title, value.reason()?)),
        Cell::Share(_) => None,
    })
}
