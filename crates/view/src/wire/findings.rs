//! What documents with findings have in common.

use std::collections::BTreeMap;

use hotset_analysis::{Evidence, Number, Outcome, RuleVerdict, Saving};
use serde::Serialize;

/// A count, or another number; null where it is none, such as infinity.
#[derive(Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) enum NumberKey {
    Count(u64),
    Real(Option<f64>),
}

/// What the change would save, at least and at most.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SavingKeys {
    low: u64,
    high: u64,
}

impl From<&Saving> for SavingKeys {
    fn from(saving: &Saving) -> Self {
        Self { low: saving.low_ns, high: saving.high_ns }
    }
}

/// The numbers of a finding by their names.
pub(super) fn evidence_keys(evidence: &[Evidence]) -> BTreeMap<&'static str, NumberKey> {
    let number = |evidence: &Evidence| match evidence.value {
        Number::Count(count) => NumberKey::Count(count),
        Number::Real(real) => NumberKey::Real(Some(real)),
    };
    evidence.iter().map(|evidence| (evidence.name, number(evidence))).collect()
}

/// A rule that found nothing.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct VerdictKeys {
    rule: &'static str,
    verdict: VerdictWord,
    /// What was missing, where it could not tell.
    reason: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum VerdictWord {
    Clear,
    NotEnoughData,
}

impl From<&RuleVerdict> for VerdictKeys {
    fn from(verdict: &RuleVerdict) -> Self {
        let (word, reason) = match verdict.outcome {
            Outcome::Clear => (VerdictWord::Clear, None),
            Outcome::NotEnoughData(reason) => {
                (VerdictWord::NotEnoughData, Some(reason.to_string()))
            }
        };
        Self { rule: verdict.rule, verdict: word, reason }
    }
}
