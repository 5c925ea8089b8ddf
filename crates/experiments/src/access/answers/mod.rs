//! Which way of reading is best for which order and state?

mod artefact;
mod best;
mod chain;
#[cfg(test)]
mod tests;

use hotset_analysis::lab::{CellNumbers, Cells, LabAnswer};
use hotset_facts::LabSession;

/// What the cells of `lab access` say.
pub(super) fn answers(session: &LabSession, cells: &[CellNumbers]) -> Vec<LabAnswer> {
    let all = Cells::of(session, cells);
    let mut answers = best::of(&all);
    answers.extend(artefact::of(&all, session.conditions.read_ahead_kb));
    answers.extend(chain::of(&all));
    answers.extend(best::folios(&all));
    answers
}
