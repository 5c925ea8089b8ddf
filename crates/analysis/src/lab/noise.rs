//! How small a difference the session can tell: what a cell differs from itself.

use hotset_facts::{LabCell, LabSession};

use super::answer::compare;
use super::{LabAnswer, confidence, words};
use crate::bench::RatioEstimate;

pub(super) fn of(session: &LabSession) -> Option<LabAnswer> {
    let mut found: Vec<(&LabCell, &LabCell, RatioEstimate)> = session
        .cells
        .iter()
        .filter(|cell| cell.is_twin())
        .filter_map(|twin| {
            let first = session.cells.iter().find(|cell| twin.is_twin_of(cell))?;
            Some((first, twin, compare(first, twin)?))
        })
        .collect();
    let differs =
        |ratio: &RatioEstimate| ratio.interval.is_some_and(|interval| !interval.holds(1.0));
    let away = |ratio: &RatioEstimate| ratio.ratio.ln().abs();
    // What differs for certain first, then what is farthest apart.
    found.sort_by(|a, b| differs(&b.2).cmp(&differs(&a.2)).then(away(&b.2).total_cmp(&away(&a.2))));
    let (first, twin, ratio) = found.first()?;
    let each: Vec<String> = found
        .iter()
        .map(|(first, _, ratio)| format!("{} ({})", words::times(ratio.ratio), words::cell(first)))
        .collect();
    let verdict = match ratio.interval {
        None => "Too few rounds to tell whether identical cells differ.",
        Some(_) if differs(ratio) => {
            "Identical cells differ by more than their confidence intervals allow: this session cannot resolve smaller \
             differences."
        }
        Some(_) => "Identical cells differ no more than expected by chance.",
    };
    Some(LabAnswer {
        question: "How large is the noise floor of this session?".to_owned(),
        answer: format!(
            "{verdict} Time of the second of two identical cells relative to the first: {}.",
            each.join(", ")
        ),
        number: words::times(ratio.ratio),
        confidence: format!("{}: {}", words::cell(first), confidence(ratio)),
        evidence: vec![first.id.clone(), twin.id.clone()],
    })
}
