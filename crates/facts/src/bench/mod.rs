//! One benchmark session: which commands, in which cache states, and every run of them.

mod baseline;
mod run;
mod set;
mod state;

use std::ffi::OsString;
use std::time::SystemTime;

pub use baseline::{
    Baseline, BaselineCondition, BaselineSample, BaselineSession, HostIdentity, OtherPrograms,
};
pub use run::BenchRun;
pub use set::{FileSet, LearnedBy, LearnedIo, SetMember, StuckPages};
pub use state::{Percent, StateReached, WantedState};

use serde::{Deserialize, Serialize};

use crate::format::{Argv, OutputTail, Shell, Time};
use crate::{Environment, ExitStatus, Observed};

/// A command that is benchmarked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = crate::format::about("argv", "The words that are executed, the shell's own included."), transform = crate::format::about("shell", "The shell that it runs in; null where none was asked for.")))]
pub struct BenchCommand {
    /// What people call it: its given name, or its words. Unique within a session.
    pub name: String,
    /// The words that are executed, the shell's own included.
    #[serde(flatten, with = "Argv")]
    pub argv: Vec<OsString>,
    /// The shell that it runs in, if one was asked for.
    #[serde(flatten, with = "Shell::<Option<String>>")]
    pub shell: Option<OsString>,
    /// Values put into its words, in the order of their parameters.
    pub parameters: Vec<(String, String)>,
}

/// Why a condition is in the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Option<usize>", into = "Option<usize>")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ConditionRole {
    /// It was asked for.
    Measured,
    /// It repeats another condition under a second name (A/A), so that the session shows its own noise.
    NoiseFloor {
        /// The condition that it repeats, by its place in `conditions`.
        twin_of: usize,
    },
}

/// The condition that it repeats; nothing for one that was asked for.
impl From<ConditionRole> for Option<usize> {
    fn from(role: ConditionRole) -> Self {
        match role {
            ConditionRole::Measured => None,
            ConditionRole::NoiseFloor { twin_of } => Some(twin_of),
        }
    }
}

impl From<Option<usize>> for ConditionRole {
    fn from(twin: Option<usize>) -> Self {
        twin.map_or(Self::Measured, |twin_of| Self::NoiseFloor { twin_of })
    }
}

/// A command in a cache state. Each round runs each condition once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Condition {
    /// The command, by its place in `commands`.
    pub command: usize,
    /// The state that each run starts in.
    pub state: WantedState,
    /// The condition that it repeats, by its place in `conditions`; null for one that was asked for.
    #[serde(rename = "repeats", deserialize_with = "crate::format::required")]
    pub role: ConditionRole,
}

/// How the first rounds are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Option<u32>", into = "Option<u32>")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Warmup {
    /// The series of rounds shows whether there was a warm-up.
    Detect,
    /// So many first rounds are a warm-up, because someone said so; 0 means none.
    Rounds(u32),
}

/// How many rounds; nothing where the series shows it.
impl From<Warmup> for Option<u32> {
    fn from(warmup: Warmup) -> Self {
        match warmup {
            Warmup::Detect => None,
            Warmup::Rounds(rounds) => Some(rounds),
        }
    }
}

impl From<Option<u32>> for Warmup {
    fn from(rounds: Option<u32>) -> Self {
        rounds.map_or(Self::Detect, Self::Rounds)
    }
}

/// What limits how short a time can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timer {
    /// The resolution of the clock that took the wall times.
    pub resolution_ns: u64,
    /// How much the wall time of a command that does nothing varied here: the inter-quartile range of the quietest of three batches.
    pub spawn_noise_ns: Observed<u64>,
}

/// Why a session ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum StopReason {
    /// Every interval that was asked for is narrower than the target.
    PreciseEnough,
    /// Those that are not are of times that are too short for more rounds to help.
    TooShort,
    /// All rounds that were asked for are done.
    RunsDone,
    /// The time given is used up.
    MaxTime,
    /// Someone interrupted it.
    Interrupted,
    /// A command failed, and failures were not to be ignored.
    #[cfg_attr(feature = "schema", schemars(transform = crate::format::about("output_tail", "The end of what it wrote to standard output and standard error, as far as that was kept.")))]
    Failed {
        /// The condition, by its place in `conditions`.
        condition: usize,
        /// How the command ended.
        #[serde(flatten)]
        exit: ExitStatus,
        /// The end of what it wrote to standard output and standard error, as far as that was kept.
        #[serde(flatten, with = "OutputTail")]
        output_tail: Vec<u8>,
    },
    /// Something around the commands failed, or a cache state could not be set.
    Error {
        /// What it was.
        message: String,
    },
}

/// Everything that a session told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchSession {
    /// The version of hotset.
    #[serde(skip)]
    pub version: String,
    /// When it began.
    #[serde(with = "Time")]
    pub started_at: SystemTime,
    /// The host that it was measured on.
    pub environment: Environment,
    /// What limits short times.
    pub timer: Timer,
    /// The seed of the order within rounds.
    pub seed: u64,
    /// Rounds that were planned before the first one; any beyond came in blocks, after a look at the data.
    pub planned_rounds: u32,
    /// So many first rounds are a warm-up; null where the series of rounds shows it.
    #[serde(deserialize_with = "crate::format::required")]
    pub warmup: Warmup,
    /// Why it ended.
    pub stop: StopReason,
    /// The commands.
    pub commands: Vec<BenchCommand>,
    /// The files of each command, in the order of `commands`.
    #[serde(rename = "files")]
    pub sets: Vec<FileSet>,
    /// What the sensor saw of each command, in the order of `commands`.
    pub learned: Vec<Observed<LearnedIo>>,
    /// The conditions of a round.
    pub conditions: Vec<Condition>,
    /// Every run, in order of time.
    pub runs: Vec<BenchRun>,
}

/// What a session has come to between two rounds.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// The session as it would be if it ended now.
    pub session: &'a BenchSession,
    /// Rounds that are done, warm-up rounds included.
    pub rounds: u32,
    /// Time since the session began.
    pub elapsed_ns: u64,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// One more round.
    GoOn,
    /// No more, for this reason.
    Stop(StopReason),
}
