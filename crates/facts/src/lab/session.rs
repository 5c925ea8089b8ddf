//! One experiment, run: where, how much, and what it found.

use std::fmt;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::LabCell;
use crate::format::Time;
use crate::{Environment, Observed};

crate::words! {
    /// How much is measured.
    #[derive(Default)]
    pub enum LabSize {
        /// All experiments together in 1 to 3 minutes on a quiet machine, with 1 GiB of disk space.
        Quick = "quick",
        /// A few minutes per experiment.
        #[default]
        Default = "default",
        /// The articles' sizes.
        Full = "full",
    }
}

/// What a fact is worth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a whole number or a text")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FactValue {
    /// A whole number.
    Number(u64),
    /// A text.
    Text(String),
}

impl From<u64> for FactValue {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<String> for FactValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl fmt::Display for FactValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// Something that an experiment found beside its cells: `ruby` 3.1.2, `dd cold: misses` 8192.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabFact {
    /// What it is about: `ruby`, `dd`.
    pub subject: String,
    /// In which state or mode, where it is of one: `cold`.
    #[serde(deserialize_with = "crate::format::required")]
    pub condition: Option<String>,
    /// What is told of it, where the subject doesn't say it all: `misses`.
    #[serde(deserialize_with = "crate::format::required")]
    pub quantity: Option<String>,
    /// What was found.
    pub value: FactValue,
}

impl LabFact {
    /// A fact whose subject says it all.
    pub fn new(subject: impl Into<String>, value: impl Into<FactValue>) -> Self {
        let (subject, value) = (subject.into(), value.into());
        Self { subject, condition: None, quantity: None, value }
    }

    /// Its name for people: `ruby`, `dd cold: misses`.
    pub fn name(&self) -> String {
        let mut name = self.subject.clone();
        for (sign, part) in [(" ", &self.condition), (": ", &self.quantity)] {
            if let Some(part) = part {
                name = name + sign + part;
            }
        }
        name
    }
}

/// Something that was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabSkipped {
    /// What: `ruby`, `method io_uring_32`, `O_DIRECT on tmpfs`.
    pub what: String,
    /// Why, and how to get it.
    pub why: String,
}

impl LabSkipped {
    /// What was not measured, and why.
    pub fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what: what.into(), why: why.into() }
    }
}

/// What the host was like while an experiment ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabConditions {
    /// The directory that held the files, with its file system and device in `environment`.
    pub directory: String,
    /// The file system's type there.
    pub filesystem: String,
    /// Read-ahead of the device there, in KiB.
    pub read_ahead_kb: Observed<u64>,
    /// 1-minute load average at the start, times 100.
    pub load_hundredths_before: Observed<u64>,
    /// The same at the end.
    pub load_hundredths_after: Observed<u64>,
    /// Share of the time, in thousandths, in which some task waited for a CPU (PSI).
    pub cpu_pressure_permille: Observed<u64>,
    /// Pages of idle files that vanished while they were watched: something evicts cache here.
    pub evicted_while_idle_pages: Observed<u64>,
    /// What an empty timed loop costs, in picoseconds an operation: the harness's own cost, which is not subtracted.
    pub null_engine_ps: Observed<u64>,
    /// What a pair of clock readings costs, in nanoseconds.
    pub clock_ns: Observed<u64>,
}

/// One experiment, run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabSession {
    /// The version of hotset.
    #[serde(skip)]
    pub version: String,
    /// Its name, which is also what is typed: `reread`.
    pub experiment: String,
    /// When it began.
    #[serde(with = "Time")]
    pub started_at: SystemTime,
    /// How long it took, in nanoseconds.
    pub took_ns: u64,
    /// How much was measured.
    pub size: LabSize,
    /// The seed of the order within rounds.
    pub seed: u64,
    /// Rounds that were run.
    pub rounds: u32,
    /// It was interrupted: fewer rounds than planned.
    pub interrupted: bool,
    /// The host that it was measured on.
    pub environment: Environment,
    /// What the host was like.
    pub conditions: LabConditions,
    /// What was not measured, each with why.
    pub skipped: Vec<LabSkipped>,
    /// What the experiment found beside its cells.
    pub facts: Vec<LabFact>,
    /// What was measured.
    #[serde(skip_serializing)]
    pub cells: Vec<LabCell>,
}
