//! How much does buffering writes gain, and how large should the buffer be?

mod call;
mod knee;
mod multiple;
mod rest;
#[cfg(test)]
mod tests;

use hotset_analysis::lab::ConstLevel::{Name, Number};
use hotset_analysis::lab::{CellNumbers, Cells, LabAnswer, MeasuredCell, words};
use hotset_facts::LabSession;

/// What the cells of `lab buffer` say.
pub(super) fn answers(session: &LabSession, cells: &[CellNumbers]) -> Vec<LabAnswer> {
    let cells = Cells::of(session, cells);
    let written = cells.with(&[("phase", Name("write"))]);
    let mut answers = Vec::new();
    let writers = cells.names("writer").len();
    answers.extend(knee::answers(&native(&written), (writers > 1).then_some("native")));
    let whole = cells.with(&[("phase", Name("open+write+close"))]);
    for writer in whole.names("writer") {
        answers.extend(knee::answers(&whole.named("writer", writer), Some(writer)));
    }
    answers.extend(multiple::answer(&native(&written)));
    answers.extend(call::answer(&written));
    answers.extend(rest::synced(&written));
    answers.extend(rest::small_files(&cells));
    answers.extend(rest::setvbuf(&written));
    answers
}

/// The native writer, new files, no sync.
fn native<'a>(written: &Cells<'a>) -> Cells<'a> {
    written.with(&[("writer", Name("native")), ("sync", Name("none")), ("file", Name("new"))])
}

/// The largest total of some cells, and the cells with it.
fn largest<'a>(cells: &Cells<'a>) -> Option<(u64, Cells<'a>)> {
    let total = *cells.numbers("total_bytes").last()?;
    Some((total, cells.with(&[("total_bytes", Number(total))])))
}

/// The piece size to speak of where only one is: 16 bytes, or else the smallest.
fn usual_piece<'a>(cells: &Cells<'a>) -> Option<(u64, Cells<'a>)> {
    let pieces = cells.numbers("piece_bytes");
    let piece = if pieces.contains(&16) { 16 } else { *pieces.first()? };
    Some((piece, cells.with(&[("piece_bytes", Number(piece))])))
}

fn buffer_of(picked: &MeasuredCell<'_>) -> Option<u64> {
    picked.cell.number("buffer_bytes")
}

/// A buffer's size in words.
fn buffer_words(bytes: u64) -> String {
    match bytes {
        0 => "no buffer".to_owned(),
        _ => format!("a buffer of {}", words::bytes(bytes)),
    }
}
