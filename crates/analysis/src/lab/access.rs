//! Which way of reading is best for which order and state?

mod artefact;
mod best;
mod reference;
#[cfg(test)]
mod tests;

use hotset_facts::LabSession;

use super::pick::Cells;
use super::{CellNumbers, LabAnswer};

pub(super) use reference::FIGURES;

/// What the cells of `lab access` say.
pub(super) fn answers(session: &LabSession, cells: &[CellNumbers]) -> Vec<LabAnswer> {
    let all = Cells::of(session, cells);
    let mut answers = best::of(&all);
    answers.extend(artefact::of(&all, session.conditions.read_ahead_kb));
    answers.extend(best::folios(&all));
    answers
}
