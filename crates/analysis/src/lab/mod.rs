//! The experiments of `hotset lab`: each cell in numbers, and answers to the questions that each experiment asks.
//!
//! A round is the unit of inference: cells are compared inside of rounds, by [`compare`], and intervals are the exact
//! ones of [`crate::bench`]. A sample that doesn't count is never averaged in and never dropped: the figure of all
//! samples stands beside the one of those that count.
//!
//! Each experiment has a module with one function, `answers`. It finds cells by their factors ([`find`]) and says in a
//! sentence what they show. A question whose cells weren't measured has no answer, and none is made up.

mod access;
mod answer;
mod beside;
mod buffer;
mod direct;
mod doubts;
mod load;
mod noise;
mod numbers;
mod pick;
mod reference;
mod reread;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod words;

use hotset_facts::{Experiment, LabSession};

use crate::bench::Warning;

pub use answer::{LabAnswer, compare, find, sure, sure_of_median};
pub use beside::{Beside, agreement, beside};
pub use direct::fact as direct_fact;
pub use numbers::{CellNumbers, LabReason, value_of};
pub use reference::{KnownLevel, ReferenceFigure, references};

/// An experiment in numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct LabSummary {
    /// What was measured.
    pub session: LabSession,
    /// Each cell in numbers, in the order of the session's cells.
    pub cells: Vec<CellNumbers>,
    /// What was asked and what the cells say, the most important first.
    pub answers: Vec<LabAnswer>,
    /// Doubts and advice, the gravest first.
    pub doubts: Vec<Warning>,
}

/// Derives everything from a session. Same session, same summary.
pub fn summarise_lab(session: LabSession) -> LabSummary {
    let cells: Vec<CellNumbers> = session.cells.iter().map(CellNumbers::of).collect();
    let mut answers = match session.experiment {
        Experiment::Reread => reread::answers(&session, &cells),
        Experiment::Buffer => buffer::answers(&session, &cells),
        Experiment::Access => access::answers(&session, &cells),
        Experiment::Load => load::answers(&session, &cells),
        Experiment::Direct => direct::answers(&session, &cells),
    };
    answers.extend(noise::of(&session));
    let doubts = doubts::of(&session, &cells);
    LabSummary { session, cells, answers, doubts }
}
