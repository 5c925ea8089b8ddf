//! Experiments of `hotset lab` in numbers: what all of them share. Each cell in numbers, how small a difference a session
//! can tell, what to doubt, and the words that answers are made from.
//!
//! A round is the unit of inference: cells are compared inside of rounds, by [`MeasuredCell::to`], and intervals are the exact
//! ones of [`crate::bench`]. A sample that doesn't count is never averaged in and never dropped: the figure of all
//! samples stands beside the one of those that count.
//!
//! What an experiment asks, and how it answers, is its own matter: it picks its cells by their factors ([`Cells`]) and says
//! in a sentence what they show. A question whose cells weren't measured has no answer, and none is made up.

mod answer;
mod baseline;
mod doubts;
mod noise;
mod numbers;
mod pick;
mod published;
mod runs;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
pub mod words;

use hotset_facts::LabSession;

use crate::bench::Warning;

pub use answer::{LabAnswer, PairedTime, confidence, share_confidence, unless_shown};
pub use baseline::{
    CELL_SPREAD, CellChange, FactDifference, LabComparison, LabNotSaved, LabTerms, against,
    against_saved, cell_medians, few_rounds, saved_session,
};
pub use numbers::{CellNumbers, LabReason, value_of};
pub use pick::{Cells, MeasuredCell};
pub use published::{ConstLevel, PublishedFigure};
pub use runs::{CellComparison, agreement, compare_runs};

/// An experiment in numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct LabSummary {
    /// What was measured.
    pub session: LabSession,
    /// Each cell in numbers, in the order of the session's cells.
    pub cells: Vec<CellNumbers>,
    /// What was asked and what the cells say, the most important first.
    pub answers: Vec<LabAnswer>,
    /// How the session compares with a baseline, where one was named; it does not follow from the session.
    pub baseline: Option<LabComparison>,
    /// Doubts and advice, the gravest first.
    pub doubts: Vec<Warning>,
}

/// Derives everything from a session; `answers` are the experiment's own. Same session, same summary.
pub fn summarise_lab(
    session: LabSession,
    answers: impl FnOnce(&LabSession, &[CellNumbers]) -> Vec<LabAnswer>,
) -> LabSummary {
    let cells: Vec<CellNumbers> = session.cells.iter().map(CellNumbers::of).collect();
    let mut answers = answers(&session, &cells);
    answers.extend(noise::of(&session));
    let doubts = doubts::of(&session, &cells);
    LabSummary { session, cells, answers, baseline: None, doubts }
}
