//! A baseline: what earlier sessions measured, kept under a name to compare later ones with.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{BenchCommand, Condition, Timer};
use crate::format::Time;
use crate::{Environment, Observed};

/// Sessions of the same commands on the same host, the first one first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Baseline {
    /// What people call it; the file is named by it.
    pub name: String,
    /// Its sessions, in the order in which they were saved; at least one.
    pub sessions: Vec<BaselineSession>,
}

/// One session: all that a comparison needs of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BaselineSession {
    /// The version of hotset that measured it.
    pub version: String,
    /// When it began.
    #[serde(with = "Time")]
    pub started_at: SystemTime,
    /// What machine it was measured on.
    pub host: HostIdentity,
    /// What else is known of the host.
    pub environment: Environment,
    /// How busy other programs kept the host meanwhile.
    pub other_programs: OtherPrograms,
    /// What limits short times.
    pub timer: Timer,
    /// The commands.
    pub commands: Vec<BenchCommand>,
    /// The conditions, with their valid runs.
    pub conditions: Vec<BaselineCondition>,
}

/// What tells one machine from another, beside its memory and the number of its CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostIdentity {
    /// What the CPU calls itself.
    pub cpu_model: Observed<String>,
    /// `physical` or `virtual`, with vendor and product where the firmware names them.
    pub machine: Observed<String>,
}

/// CPU time that a session did not use itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherPrograms {
    /// CPU time that other programs of the host and its kernel used, on all CPUs together.
    pub cpu_ns: Observed<u64>,
    /// How long the session was.
    pub within_ns: u64,
}

/// A command in a cache state, with one run a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BaselineCondition {
    /// Which command in which state.
    #[serde(flatten)]
    pub condition: Condition,
    /// The runs that count, in the order of their rounds.
    pub samples: Vec<BaselineSample>,
}

/// A run that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BaselineSample {
    /// Its round, from 0.
    pub round: u32,
    /// Wall time from the call of spawn to the exit.
    pub wall_ns: u64,
    /// CPU time, user and system, of the command and the children that it waited for.
    pub cpu_ns: u64,
    /// Time during the run in which some task of the host waited for a CPU (PSI, `some`).
    pub cpu_pressure_ns: Observed<u64>,
    /// Time that the hypervisor took from all CPUs of this host during the run.
    pub steal_ns: Observed<u64>,
}
