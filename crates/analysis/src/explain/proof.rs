//! Findings, and what replays of the recording with their changes showed.

use std::cmp::Ordering;

use serde::Serialize;

use super::{Explanation, TraceFinding};
use crate::bench::{Difference, RatioEstimate};
use crate::replay::{FIDELITY, Fidelity, NoClaim, Prediction, ReplaySummary};
use crate::{RuleVerdict, Severity};
use hotset_facts::replay::{ReplayChange, ReplayState};

/// Changes of how data is stored. Whatever else reads or writes it has to follow.
const STORAGE: [&str; 1] = ["packed"];
/// How much of their gain counts for the order. A cold `git status` gains 62 ms if its files are packed, and 53 ms if they are fetched
/// first: nobody packs a work tree for that.
const STORAGE_COUNTS: f64 = 0.5;

/// What became of the proof of a finding, before it was replayed.
#[derive(Debug, Clone, PartialEq)]
pub enum Attempt {
    /// It was replayed, as this variant of the session.
    Variant(usize),
    /// It was not; why.
    Not(String),
}

/// What a replay of the recording with the changes of a finding showed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Proof {
    /// The changes that were made.
    pub changes: Vec<ReplayChange>,
    /// The I/O time with them by that without.
    pub io: RatioEstimate,
    /// What they would gain the program; null where nothing is predicted.
    pub prediction: Option<Prediction>,
}

/// A finding with its proof, or without.
#[derive(Debug, Clone, PartialEq)]
pub struct ProvedFinding {
    /// What was found.
    pub finding: TraceFinding,
    /// The variant of the replays that its changes were made in, by its place; none where it was not replayed.
    pub variant: Option<usize>,
    /// What the replay showed; none where there is none, or nothing may be claimed of it.
    pub proof: Option<Proof>,
    /// Why it is not proved; none where it is.
    pub not_proved: Option<String>,
}

/// What an explanation comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// How long the run took, in nanoseconds.
    pub wall_ns: u64,
    /// How long its requests took, in nanoseconds; those of several threads add up.
    pub io_ns: u64,
    /// What is worth changing: what is proved first, the largest gain first, where that of storing data otherwise counts half;
    /// information last.
    pub findings: Vec<ProvedFinding>,
    /// What the other rules said.
    pub verdicts: Vec<RuleVerdict>,
    /// The replays; none where nothing was replayed.
    pub replays: Option<ReplaySummary>,
}

impl ProvedFinding {
    /// Whether a replay shows that the change gains something.
    pub fn is_proved(&self) -> bool {
        self.proof.is_some() && self.not_proved.is_none()
    }

    /// Nanoseconds that count for the order: those that a replay saved, else those that were estimated.
    fn gain_ns(&self) -> f64 {
        let saved = self.proof.as_ref().and_then(|proof| proof.prediction.as_ref()?.saved_ns);
        let gain_ns = saved.unwrap_or(self.finding.saving.high_ns as f64);
        let is_stored = self.finding.changes.iter().any(|change| STORAGE.contains(&&**change));
        if is_stored { gain_ns * STORAGE_COUNTS } else { gain_ns }
    }

    /// Replayed, and nothing was gained.
    pub fn is_refuted(&self) -> bool {
        self.proof.is_some() && self.not_proved.is_some()
    }
}

/// Puts findings and replays together. There is an attempt for each finding, in the same order.
pub fn explained(
    explanation: Explanation,
    attempts: Vec<Attempt>,
    replays: Option<ReplaySummary>,
) -> Explained {
    let attempts = attempts.into_iter().map(Some).chain(std::iter::repeat(None));
    let findings = explanation.findings.into_iter().zip(attempts);
    let mut findings: Vec<ProvedFinding> = findings
        .map(|(finding, attempt)| {
            let variant = match attempt {
                Some(Attempt::Variant(variant)) => Some(variant),
                _ => None,
            };
            let (proof, not_proved) = match attempt {
                Some(Attempt::Variant(variant)) => proof(variant, replays.as_ref()),
                Some(Attempt::Not(why)) => (None, Some(why)),
                None => (None, Some("nothing was replayed".to_owned())),
            };
            ProvedFinding { finding, variant, proof, not_proved }
        })
        .collect();
    findings.sort_by(order);
    let Explanation { wall_ns, io_ns, verdicts, .. } = explanation;
    Explained { wall_ns, io_ns, findings, verdicts, replays }
}

/// What is proved, what may be so, what informs, and what a replay refutes; the largest gain first. The gain of storing data otherwise
/// counts half.
fn order(one: &ProvedFinding, other: &ProvedFinding) -> Ordering {
    let class = |finding: &ProvedFinding| match finding {
        refuted if refuted.is_refuted() => 3,
        informs if informs.finding.severity == Severity::Info && !informs.is_proved() => 2,
        proved => u8::from(!proved.is_proved()),
    };
    class(one).cmp(&class(other)).then_with(|| other.gain_ns().total_cmp(&one.gain_ns()))
}

/// Why nothing is claimed, with the numbers behind it.
fn no_claim(why: NoClaim, fidelity: &Fidelity) -> String {
    let (least, most) = FIDELITY;
    match (why, fidelity.ratio) {
        (NoClaim::Faster | NoClaim::Slower, Some(ratio)) => format!(
            "{} ({ratio:.2}x, expected {least:.2}x to {most:.2}x). Record again if the host was busy; explain -- CMD does so with --attempts 3",
            why.as_str()
        ),
        _ => why.as_str().to_owned(),
    }
}

/// What the replays say of a variant: a proof, and why it proves nothing.
fn proof(variant: usize, replays: Option<&ReplaySummary>) -> (Option<Proof>, Option<String>) {
    let none = |why: &str| (None, Some(why.to_owned()));
    let Some(replays) = replays else { return none("nothing was replayed") };
    let of_variant = |cell: &&crate::replay::ReplayCell| {
        cell.variant == variant && cell.state == ReplayState::Recorded
    };
    if replays.cells.iter().find(of_variant).is_some_and(|cell| cell.with_differences > 0) {
        return none("results of the changed replay differ from the recording");
    }
    if let Some(why) = replays.fidelity.no_claim {
        return none(&no_claim(why, &replays.fidelity));
    }
    let ratio = replays
        .ratios
        .iter()
        .find(|ratio| ratio.variant == variant && ratio.state == ReplayState::Recorded);
    let Some(ratio) = ratio else { return none("no round has a valid replay of both") };
    let prediction = replays.predictions.iter().find(|prediction| prediction.variant == variant);
    let changes = replays.session.variants.get(variant).map(|variant| variant.changes.clone());
    let proof = Proof {
        changes: changes.unwrap_or_default(),
        io: ratio.io,
        prediction: prediction.filter(|prediction| prediction.no_prediction.is_none()).cloned(),
    };
    let not_proved = match ratio.io.difference() {
        Difference::Faster => None,
        Difference::Slower => Some("replayed with the change, I/O is slower"),
        Difference::NoInterval => Some("too few rounds for a confidence interval"),
        _ => Some("replayed with the change, I/O shows no difference"),
    };
    (Some(proof), not_proved.map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Saving;
    use crate::replay::summarise_replay;
    use crate::replay::testing::{sample, session};

    fn finding(rule: &'static str, change: &str) -> TraceFinding {
        TraceFinding {
            rule,
            severity: Severity::Warning,
            title: String::new(),
            evidence: Vec::new(),
            saving: Saving::of_wall(0, 80_000_000, 300_000_000),
            files: Vec::new(),
            more_files: 0,
            sites: Vec::new(),
            changes: vec![change.to_owned()],
            unproved: None,
            advice: String::new(),
            how: Vec::new(),
            settings: Vec::new(),
            risks: None,
        }
    }

    /// Rules in the order that replays give them: one of the recording, and two with changes, that take so many milliseconds.
    fn order(replays_ms: [u64; 3]) -> Vec<&'static str> {
        let round = |round| (0..).zip(replays_ms).map(move |(at, ms)| sample(at, round, ms));
        let explanation = Explanation {
            wall_ns: 300_000_000,
            io_ns: 100_000_000,
            findings: vec![
                finding("many-small-files", "packed"),
                finding("cold-start", "prefetch"),
                finding("serial-reads", "prefetch"),
            ],
            verdicts: Vec::new(),
        };
        let attempts = [1, 2, 2].map(Attempt::Variant).to_vec();
        let replays = summarise_replay(session((0..6).flat_map(round).collect()));
        let explained = explained(explanation, attempts, Some(replays));
        assert!(explained.findings.iter().all(ProvedFinding::is_proved), "{explained:?}");
        explained.findings.iter().map(|one| one.finding.rule).collect()
    }

    #[test]
    fn data_is_stored_otherwise_only_for_twice_the_gain() {
        assert_eq!(order([95, 33, 42]), ["cold-start", "serial-reads", "many-small-files"]);
        assert_eq!(order([95, 15, 65]), ["many-small-files", "cold-start", "serial-reads"]);
    }
}
