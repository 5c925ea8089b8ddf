//! Is reading a file a second time faster, and does it matter?

mod again;
mod languages;
mod parse;
mod parts;
#[cfg(test)]
mod tests;

use hotset_analysis::lab::ConstLevel::Name;
use hotset_analysis::lab::{CellNumbers, Cells, LabAnswer};
use hotset_facts::LabSession;

/// What the cells of `lab reread` say.
pub(super) fn answers(session: &LabSession, cells: &[CellNumbers]) -> Vec<LabAnswer> {
    let cells = Cells::of(session, cells);
    let mut answers = again::answers(&cells);
    answers.extend(parts::answer(&cells));
    answers.extend(parse::answers(&cells));
    answers.extend(languages::answer(&cells));
    answers
}

/// Cells of files that are only read: generated ones, or the user's own.
fn of_files<'a>(cells: &Cells<'a>) -> Cells<'a> {
    let own = cells.with(&[("contents", Name("file"))]);
    if own.all().is_empty() { cells.with(&[("contents", Name("pattern"))]) } else { own }
}
