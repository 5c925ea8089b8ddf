//! Answers, and what the experiments' own modules make them from.

use hotset_facts::{LabCell, LabSample};
use serde::Serialize;

use super::numbers::by_round;
use super::words;
use crate::bench::{Difference, RatioEstimate};

/// A question and what the cells say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabAnswer {
    /// The question, with its question mark.
    pub question: String,
    /// The answer: a sentence with its number.
    pub answer: String,
    /// That number, with its unit.
    pub number: String,
    /// How sure it is: the interval and from how many rounds, or why there is none.
    pub confidence: String,
    /// The ids of the cells that it rests on.
    pub evidence: Vec<String>,
}

/// The time of `b` divided by that of `a`, by the rounds in which both have samples that count. None where there is no
/// such round, or where the two are in different units.
pub fn compare(a: &LabCell, b: &LabCell) -> Option<RatioEstimate> {
    if a.unit != b.unit {
        return None;
    }
    let counted = |cell: &LabCell| {
        let samples = cell.samples.iter().filter(|sample: &&LabSample| sample.is_valid());
        by_round(cell.unit, samples)
    };
    let (a, b) = (counted(a), counted(b));
    RatioEstimate::of_reals(a.iter().filter_map(|(round, &a)| Some((a, *b.get(round)?))))
}

/// How sure a ratio is: `95 % interval 1.10 to 1.32, from 15 rounds`.
pub fn confidence(ratio: &RatioEstimate) -> String {
    let rounds = words::rounds(ratio.rounds);
    match ratio.interval {
        Some(one) => {
            let (low, high) = (words::real(one.low), words::real(one.high));
            format!("95 % interval {low} to {high}, from {rounds}")
        }
        None => format!("no 95 % interval, from {rounds}"),
    }
}

/// What an interval allows to say of a ratio, where it is not that there is a difference: a clause, with its comma.
pub fn unless_shown(ratio: &RatioEstimate) -> &'static str {
    match ratio.difference() {
        Difference::Faster | Difference::Slower => "",
        Difference::NoInterval => ", too few rounds to tell",
        Difference::NoDifferenceShown | Difference::WithinNoise => ", no difference shown",
    }
}
