//! Answers, and what the experiments' own modules make them from.

use hotset_facts::{LabCell, LabSample};
use serde::Serialize;

use super::numbers::by_round;
use super::words;
use crate::bench::{
    ConfidenceInterval, Difference, RatioEstimate, median, median_interval, sorted,
};

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
    /// The 95 % confidence interval and from how many rounds it is, or why there is none.
    pub confidence: String,
    /// The ids of the cells that it rests on.
    pub evidence: Vec<String>,
}

impl LabAnswer {
    /// An answer whose number is a ratio.
    pub fn of_ratio(
        question: impl Into<String>,
        answer: String,
        ratio: &RatioEstimate,
        evidence: Vec<String>,
    ) -> Self {
        let (number, confidence) = (words::times(ratio.ratio), confidence(ratio));
        Self { question: question.into(), answer, number, confidence, evidence }
    }
}

/// The time of `b` divided by that of `a`, by the rounds in which both have samples that count. None where there is no
/// such round, or where the two are in different units.
pub(super) fn compare(a: &LabCell, b: &LabCell) -> Option<RatioEstimate> {
    (a.unit == b.unit).then(|| RatioEstimate::of_reals(pairs(a, b))).flatten()
}

/// The values of both cells in the rounds in which both have samples that count.
fn pairs(a: &LabCell, b: &LabCell) -> Vec<(f64, f64)> {
    let counted = |cell: &LabCell| {
        let samples = cell.samples.iter().filter(|sample: &&LabSample| sample.is_valid());
        by_round(cell.unit, samples)
    };
    let (a, b) = (counted(a), counted(b));
    a.iter().filter_map(|(round, &a)| Some((a, *b.get(round)?))).collect()
}

/// A time that is made of two cells, round by round.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedTime {
    /// Its median over rounds, in nanoseconds.
    pub ns: f64,
    /// How sure it is, in words.
    pub confidence: String,
}

impl PairedTime {
    pub(super) fn of(a: &LabCell, b: &LabCell, ns: impl Fn(f64, f64) -> f64) -> Option<Self> {
        let pairs = (a.unit == b.unit).then(|| pairs(a, b))?;
        let values = sorted(pairs.into_iter().map(|(a, b)| ns(a, b)));
        let confidence = interval_words(median_interval(&values), values.len(), words::time);
        Some(Self { ns: median(values)?, confidence })
    }
}

/// The confidence interval of a ratio: `95 % CI 1.10 to 1.32, 15 rounds`; without one, what shows a difference all the same.
pub fn confidence(ratio: &RatioEstimate) -> String {
    let words = interval_words(ratio.interval, ratio.rounds, words::real);
    let is_shown = matches!(ratio.difference(), Difference::Faster | Difference::Slower);
    match ratio.interval {
        None if is_shown => format!("{words}, but the times do not overlap"),
        _ => words,
    }
}

/// That of a share: `95 % CI 52.1 % to 55.8 %, 15 rounds`.
pub fn share_confidence(share: &RatioEstimate) -> String {
    interval_words(share.interval, share.rounds, words::percent)
}

fn interval_words(
    interval: Option<ConfidenceInterval>,
    rounds: usize,
    text: impl Fn(f64) -> String,
) -> String {
    let rounds = words::rounds(rounds);
    match interval {
        Some(one) => {
            format!("95 % CI {} to {}, {rounds}", text(one.low), text(one.high))
        }
        None => format!("no 95 % CI, {rounds}"),
    }
}

/// What an interval allows to say of a ratio, where it is not that there is a difference: a clause, with its comma.
pub fn unless_shown(ratio: &RatioEstimate) -> &'static str {
    match ratio.difference() {
        Difference::Faster | Difference::Slower => "",
        Difference::NoInterval => ", too few rounds to tell",
        Difference::NoDifferenceShown | Difference::WithinNoise => ", no difference detected",
    }
}
