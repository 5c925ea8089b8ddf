//! A baseline of experiments: what earlier sessions measured, kept under a name to compare later ones with.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::sample::samples;
use super::{Factor, Factors, LabConditions, LabFact, LabSize, LabUnit, TWIN};
use crate::format::Time;
use crate::{Environment, HostIdentity, Observed, OtherPrograms};

/// Sessions of experiments on the same host, the first one first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabBaseline {
    /// What people call it; the file is named by it.
    pub name: String,
    /// Its sessions, in the order in which they were saved; at least one.
    pub sessions: Vec<LabBaselineSession>,
}

/// A session of one experiment: all that a comparison needs of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabBaselineSession {
    /// The version of hotset that measured it.
    pub version: String,
    /// The experiment's name.
    pub experiment: String,
    /// How much was measured.
    pub size: LabSize,
    /// When it began.
    #[serde(with = "Time")]
    pub started_at: SystemTime,
    /// What machine it was measured on.
    pub host: HostIdentity,
    /// What else is known of the host.
    pub environment: Environment,
    /// What the host was like.
    pub conditions: LabConditions,
    /// How busy other programs kept the host meanwhile.
    pub other_programs: OtherPrograms,
    /// What the experiment found beside its cells, such as the versions of runtimes.
    pub facts: Vec<LabFact>,
    /// The cells, with their samples that count.
    pub cells: Vec<LabBaselineCell>,
}

/// A combination of factors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabBaselineCell {
    /// Unique in its experiment, made of its factors: `access/pread/random/1000/warm`.
    pub id: String,
    /// What was varied, by name: what tells this cell from the others.
    #[serde(with = "Factors")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "std::collections::BTreeMap<String, super::Level>")
    )]
    pub factors: Vec<Factor>,
    /// What a sample is measured in.
    pub unit: LabUnit,
    /// Every sample that counts, in order of time.
    #[serde(rename = "runs", with = "KeptRuns")]
    pub samples: Vec<LabBaselineSample>,
}

impl LabBaselineCell {
    /// True for the second of two equal cells.
    pub fn is_twin(&self) -> bool {
        self.factors.iter().any(|factor| factor.name == TWIN)
    }

    /// True for the first of two equal cells, if this is the second.
    pub fn is_twin_of(&self, one: &Self) -> bool {
        super::is_twin_of(&self.factors, &one.factors)
    }
}

samples! {
    /// A sample that counts.
    LabBaselineSample as KeptRuns;
    /// Which round, from 0.
    round: u32,
    /// Wall time of the timed part in nanoseconds. Nothing is subtracted.
    wall_ns: u64,
    /// Operations in it.
    operations: u64,
    /// User and system CPU time of the timed part, in nanoseconds.
    cpu_ns: Observed<u64>,
    /// Bytes that the program says it moved.
    bytes: u64,
    /// Pages that the cell's files have.
    pages: Observed<u64>,
}
