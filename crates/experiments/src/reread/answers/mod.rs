//! Is reading a file a second time faster, and does it matter?

mod again;
mod parse;
mod parts;
#[cfg(test)]
mod tests;

use hotset_analysis::lab::{CellNumbers, Cells, LabAnswer};
use hotset_facts::LabSession;

/// What the cells of `lab reread` say.
pub(super) fn answers(session: &LabSession, cells: &[CellNumbers]) -> Vec<LabAnswer> {
    let cells = Cells::of(session, cells);
    let mut answers = again::answers(&cells);
    answers.extend(parts::answer(&cells));
    answers.extend(parse::answers(&cells));
    answers
}
