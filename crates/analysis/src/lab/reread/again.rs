//! The second read against the first.

use super::super::KnownLevel::{Name, Number};
use super::super::answer::sure;
use super::super::pick::{Cells, Picked};
use super::super::{LabAnswer, words};
use crate::bench::Difference;

/// One answer for each size.
pub(super) fn answers(cells: &Cells<'_>) -> Vec<LabAnswer> {
    let kept = cells.with(&[
        ("what", Name("read")),
        ("contents", Name("pattern")),
        ("cache", Name("kept")),
    ]);
    kept.numbers("size_bytes").into_iter().filter_map(|bytes| answer(&kept, bytes)).collect()
}

fn answer(kept: &Cells<'_>, bytes: u64) -> Option<LabAnswer> {
    let of = |which| kept.one(&[("size_bytes", Number(bytes)), ("which", Name(which))]);
    let (first, later): (Picked<'_>, Picked<'_>) = (of("first")?, of("later")?);
    let ratio = later.to(&first)?;
    let takes = format!(
        "the first read takes {}, a later one {}",
        words::time(first.median),
        words::time(later.median)
    );
    let answer = match ratio.difference() {
        // The first one is in the denominator's place: slower means that later ones are faster.
        Difference::Slower => format!("Yes, {}: {takes}.", words::times(ratio.ratio)),
        Difference::Faster => format!("No, it gets slower: {takes}."),
        Difference::NoInterval => format!("Too few rounds to tell: {takes}."),
        _ => format!("No difference is shown: {takes}."),
    };
    Some(LabAnswer {
        question: format!("Does reading a file of {} again get faster?", words::bytes(bytes)),
        answer,
        number: words::times(ratio.ratio),
        sure: sure(&ratio),
        evidence: vec![first.id(), later.id()],
    })
}
