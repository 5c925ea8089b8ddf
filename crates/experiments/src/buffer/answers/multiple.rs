//! Whether a buffer has to be a multiple of a page.

use super::{largest, usual_piece};
use hotset_analysis::bench::Difference;
use hotset_analysis::lab::ConstLevel::Number;
use hotset_analysis::lab::{Cells, LabAnswer, words};

/// A multiple of the page and its neighbours.
const AROUND: [(u64, [u64; 2]); 2] = [(4096, [4095, 4097]), (8192, [8191, 8193])];

/// Each neighbour against its multiple, by rounds, in the largest files.
pub(super) fn answer(native: &Cells<'_>) -> Option<LabAnswer> {
    let (total, cells) = largest(native)?;
    let (piece, cells) = usual_piece(&cells)?;
    let with_buffer = |bytes| cells.one(&[("buffer_bytes", Number(bytes))]);
    let (mut told, mut evidence) = (Vec::new(), Vec::new());
    let (mut slower, mut faster, mut widest) = (0, 0, Some(0.0_f64));
    let mut worst = 1.0_f64;
    for (multiple, neighbours) in AROUND {
        let Some(multiple_cell) = with_buffer(multiple) else { continue };
        let mut used = false;
        for neighbour in neighbours {
            let Some(cell) = with_buffer(neighbour) else { continue };
            let Some(ratio) = multiple_cell.to(&cell) else { continue };
            match ratio.difference() {
                Difference::Slower => slower += 1,
                Difference::Faster => faster += 1,
                _ => {}
            }
            let is_shown = matches!(ratio.difference(), Difference::Slower | Difference::Faster);
            if is_shown && ratio.ratio.ln().abs() >= worst.ln().abs() {
                worst = ratio.ratio;
            }
            widest = widest.and_then(|widest| Some(widest.max(ratio.smallest_effect()?)));
            let interval = ratio.interval.map_or_else(String::new, |known| {
                format!(" ({} to {})", words::real(known.low), words::real(known.high))
            });
            told.push(format!("{neighbour} B {}{interval}", words::times(ratio.ratio)));
            evidence.push(cell.id());
            used = true;
        }
        if used {
            evidence.push(multiple_cell.id());
        }
    }
    if told.is_empty() {
        return None;
    }
    let verdict = verdict(widest.is_some(), slower, faster, told.len());
    Some(LabAnswer {
        question: "Must a buffer be a multiple of 4096 bytes?".to_owned(),
        answer: format!(
            "{verdict}. Time relative to the nearest multiple{}, for pieces of {} in a file of {}: {}.",
            if widest.is_some() { " (95 % CI)" } else { "" },
            words::bytes(piece),
            words::bytes(total),
            told.join(", ")
        ),
        number: number(widest.is_some(), slower + faster, worst),
        confidence: match widest {
            Some(effect) => format!(
                "95 % CIs; effects of {} or more would have been detected",
                words::percent(effect)
            ),
            None => "no 95 % CI".to_owned(),
        },
        evidence,
    })
}

/// The largest of the differences that are shown.
fn number(has_intervals: bool, shown: usize, worst: f64) -> String {
    match shown {
        _ if !has_intervals => "too few rounds".to_owned(),
        0 => "no difference detected".to_owned(),
        _ => format!("{} the time", words::times(worst)),
    }
}

/// What so many slower and faster ones among `all` come to.
fn verdict(has_intervals: bool, slower: usize, faster: usize, all: usize) -> &'static str {
    match (slower, faster) {
        _ if !has_intervals => "Too few rounds to tell",
        (0, 0) => "No difference detected",
        (0, _) => "No: no size next to a multiple is slower here, and some are faster",
        (_, 0) if slower == all => "Yes: sizes next to a multiple are slower",
        (_, 0) => "In part: some sizes next to a multiple are slower",
        _ => "No pattern: some sizes next to a multiple are slower, others faster",
    }
}
