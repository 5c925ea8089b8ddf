//! What documents with findings have in common.

use std::collections::BTreeMap;

use hotset_analysis::{Evidence, Number, Outcome, RuleVerdict, Saving};
use hotset_facts::Reason;
use hotset_facts::format::{constant, required};
use serde::{Deserialize, Serialize};

use super::ReadError;

/// A count, or another number; null where it is none, such as infinity.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) enum NumberKey {
    Count(u64),
    Real(Option<f64>),
}

/// What the change would save, at least and at most.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SavingKeys {
    pub(super) low: u64,
    pub(super) high: u64,
}

impl NumberKey {
    pub(super) fn of(number: Number) -> Self {
        match number {
            Number::Count(count) => Self::Count(count),
            Number::Real(real) => Self::Real(Some(real)),
        }
    }

    /// What is no number was more than any.
    pub(super) fn number(&self) -> Number {
        match *self {
            Self::Count(count) => Number::Count(count),
            Self::Real(real) => Number::Real(real.unwrap_or(f64::INFINITY)),
        }
    }
}

impl From<&Saving> for SavingKeys {
    fn from(saving: &Saving) -> Self {
        Self { low: saving.low_ns, high: saving.high_ns }
    }
}

/// The numbers of a finding by their names.
pub(super) fn evidence_keys(evidence: &[Evidence]) -> BTreeMap<&'static str, NumberKey> {
    evidence.iter().map(|evidence| (evidence.name, NumberKey::of(evidence.value))).collect()
}

/// A rule that found nothing.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct VerdictKeys {
    rule: String,
    verdict: VerdictWord,
    /// What was missing, where it could not tell.
    #[serde(deserialize_with = "required")]
    reason: Option<String>,
}

#[derive(Serialize, Deserialize, Clone, Copy)]
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
        Self { rule: verdict.rule.to_owned(), verdict: word, reason }
    }
}

impl VerdictKeys {
    /// What was written.
    pub(super) fn verdict(&self) -> Result<RuleVerdict, ReadError> {
        let outcome = match (self.verdict, &self.reason) {
            (VerdictWord::Clear, _) => Outcome::Clear,
            (VerdictWord::NotEnoughData, Some(reason)) => {
                Outcome::NotEnoughData(reason_of(reason)?)
            }
            (VerdictWord::NotEnoughData, None) => {
                return Err(ReadError::at("reason", "null; expected what was missing"));
            }
        };
        Ok(RuleVerdict { rule: constant(&self.rule), outcome })
    }
}

/// Out of its kind and detail in one text.
fn reason_of(text: &str) -> Result<Reason, ReadError> {
    let parts = text.split_once(": ").and_then(|(kind, detail)| {
        let kind = serde_json::from_value(kind.into()).ok()?;
        Some(Reason { kind, detail: constant(detail) })
    });
    let wrong = || {
        ReadError::at("reason", format!("\"{text}\"; expected a kind of reason, `: ` and a detail"))
    };
    parts.ok_or_else(wrong)
}
