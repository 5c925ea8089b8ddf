//! Lines of `hotset stat`: text, CSV, JSON, and what is said beside them.

mod csv;
mod text;
mod words;

pub use crate::wire::json_line;
pub use csv::{CSV_HEADER, csv_line};
pub use text::{Layout, MIN_WIDTH, header, line};
pub use words::{gap_words, late_words, loss_words, missing_words, summary_words};

use std::time::SystemTime;

use hotset_analysis::live::{GrownLoss, StatLine};
use hotset_facts::Observed;

/// One line with what belongs to it.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// When the interval ended.
    pub at: SystemTime,
    /// Its numbers.
    pub line: &'a StatLine,
    /// What got lost in it.
    pub lost: &'a [GrownLoss],
    /// Lines that were due before this one and are part of it.
    pub late: u64,
}

impl Row<'_> {
    /// Whether its counts are only a lower bound.
    pub(crate) fn at_least(&self) -> bool {
        self.lost.iter().any(|loss| loss.counts)
    }
}

/// The columns that can be without a number, in the order of the line, with why they are.
fn gaps(line: &StatLine) -> impl Iterator<Item = (&'static str, hotset_facts::Reason)> {
    let why = |name, value: Observed<u64>| value.reason().map(|reason| (name, reason));
    [
        why("DIRTIES", line.dirties),
        why("BUFFERS_MB", line.buffers_bytes),
        why("CACHED_MB", line.cached_bytes),
        why("FAULTS", line.faults),
        why("EVICTED", line.evicted_pages),
        why("WRITEBACK_MB", line.writeback_bytes),
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests;
