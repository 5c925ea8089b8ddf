//! Lines of `hotset stat`: text, CSV, JSON, and what is said beside them.

mod columns;
mod csv;
mod text;
mod words;

pub use crate::wire::json_line;
pub(crate) use columns::columns_without_number;
pub use csv::{csv_header, csv_line};
pub use text::{Layout, MIN_WIDTH, header, line};
pub use words::{gap_words, late_words, loss_words, missing_words, summary_words};

use std::time::SystemTime;

use hotset_analysis::live::{GrownLoss, StatLine};

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

#[cfg(test)]
pub(crate) mod tests;
