//! What an experiment measured: all of it is read back.

use std::time::SystemTime;

use hotset_facts::{
    Environment, FactValue, LabCell, LabConditions, LabFact, LabSession, LabSize, LabSkipped,
    Level, Observed,
};
use serde::{Deserialize, Serialize};

use super::cell::CellDef;
use crate::wire::adapt::{List, Wire as _, converted, remote};
use crate::wire::environment::{EnvironmentDef, Time};
use crate::wire::observed::Null;

#[derive(Serialize, Deserialize)]
#[serde(remote = "LabSession")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SessionDef {
    /// Of the envelope.
    #[serde(skip)]
    version: String,
    /// The experiment's name.
    experiment: String,
    /// When it began.
    #[serde(with = "Time")]
    started_at: SystemTime,
    /// How long it took.
    took_ns: u64,
    /// How much was measured.
    #[serde(with = "SizeDef")]
    size: LabSize,
    /// The seed of the order within rounds.
    seed: u64,
    /// Rounds that were run.
    rounds: u32,
    /// There were fewer rounds than planned.
    interrupted: bool,
    #[serde(with = "EnvironmentDef")]
    environment: Environment,
    #[serde(with = "ConditionsDef")]
    conditions: LabConditions,
    /// What was not measured.
    #[serde(with = "List::<SkippedDef>")]
    skipped: Vec<LabSkipped>,
    /// What was found beside the cells.
    #[serde(with = "List::<FactDef>")]
    facts: Vec<LabFact>,
    /// Written with their numbers.
    #[serde(skip_serializing, with = "List::<CellDef>")]
    cells: Vec<LabCell>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LabSize", rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum SizeDef {
    Quick,
    Default,
    Full,
}

/// What the host was like while it ran.
#[derive(Serialize, Deserialize)]
#[serde(remote = "LabConditions")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ConditionsDef {
    /// Where the files were.
    directory: String,
    /// The file system's type there.
    filesystem: String,
    /// Read-ahead of the device there, in KiB.
    #[serde(with = "Null::<u64>")]
    read_ahead_kb: Observed<u64>,
    /// 1-minute load average times 100, at the start.
    #[serde(with = "Null::<u64>")]
    load_hundredths_before: Observed<u64>,
    /// The same at the end.
    #[serde(with = "Null::<u64>")]
    load_hundredths_after: Observed<u64>,
    /// Share of the time, in thousandths, in which some task waited for a CPU.
    #[serde(with = "Null::<u64>")]
    cpu_pressure_permille: Observed<u64>,
    /// Pages of idle files that vanished while they were watched.
    #[serde(with = "Null::<u64>")]
    evicted_while_idle_pages: Observed<u64>,
    /// What an empty timed loop costs, in picoseconds an operation; not subtracted.
    #[serde(with = "Null::<u64>")]
    null_engine_ps: Observed<u64>,
    /// What a pair of clock readings costs.
    #[serde(with = "Null::<u64>")]
    clock_ns: Observed<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LabSkipped")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SkippedDef {
    /// What was not measured.
    what: String,
    /// Why, and how to get it.
    why: String,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LabFact")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FactDef {
    /// What it is about.
    subject: String,
    /// In which state or mode; null where it is of none.
    condition: Option<String>,
    /// What is told of the subject; null where that says it all.
    quantity: Option<String>,
    #[serde(with = "NumberOrText")]
    value: FactValue,
}

/// A whole number or a text.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a whole number or a text")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) enum NumberOrText {
    Number(u64),
    Text(String),
}

impl From<FactValue> for NumberOrText {
    fn from(value: FactValue) -> Self {
        match value {
            FactValue::Number(number) => Self::Number(number),
            FactValue::Text(text) => Self::Text(text),
        }
    }
}

impl From<NumberOrText> for FactValue {
    fn from(read: NumberOrText) -> Self {
        match read {
            NumberOrText::Number(number) => Self::Number(number),
            NumberOrText::Text(text) => Self::Text(text),
        }
    }
}

impl From<Level> for NumberOrText {
    fn from(level: Level) -> Self {
        match level {
            Level::Number(number) => Self::Number(number),
            Level::Name(name) => Self::Text(name),
        }
    }
}

impl From<NumberOrText> for Level {
    fn from(read: NumberOrText) -> Self {
        match read {
            NumberOrText::Number(number) => Self::Number(number),
            NumberOrText::Text(name) => Self::Name(name),
        }
    }
}

remote!(SkippedDef => LabSkipped, FactDef => LabFact);
converted!(NumberOrText => FactValue);
