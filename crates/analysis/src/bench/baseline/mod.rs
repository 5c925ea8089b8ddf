//! A session of commands against a baseline: what it keeps of one, which conditions are the same, and how their times compare.
//! What follows from these times is [`crate::baseline`]'s.

mod compare;
mod describe;
mod save;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use compare::{against, against_saved};
pub use describe::{DescribedBaseline, describe};
pub use save::{NotSaved, saved_session};

use crate::baseline::{Change, ComparedWith};

/// How a session compares with a baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BaselineComparison {
    /// What it was compared with.
    #[serde(flatten)]
    pub with: ComparedWith,
    /// Each condition of this session that was asked for.
    pub conditions: Vec<ConditionChange>,
    /// What the baseline has and this session lacks: its command and state.
    pub only_in_baseline: Vec<String>,
}

/// How a condition compares with the same one of the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConditionChange {
    /// The condition, by its place in `conditions` of the session.
    pub condition: usize,
    /// What the baseline ran under this name, where that was something else: its words. Null where it was the same.
    pub other_command: Option<String>,
    /// How the wall times compare.
    pub wall: Change,
    /// How the CPU times compare, user and system.
    pub cpu: Change,
}
