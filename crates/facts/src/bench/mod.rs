//! One benchmark session: which commands, in which cache states, and every run of them.

mod run;
mod set;
mod state;

use std::ffi::OsString;
use std::time::SystemTime;

pub use run::BenchRun;
pub use set::{FileSet, LearnedBy, LearnedIo, SetMember, StuckPages};
pub use state::{Percent, StateReached, WantedState};

use crate::{Environment, ExitStatus, Observed};

/// A command that is benchmarked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchCommand {
    /// What people call it: its given name, or its words. Unique within a session.
    pub name: String,
    /// The words that are executed, the shell's own included.
    pub argv: Vec<OsString>,
    /// The shell that it runs in, if one was asked for.
    pub shell: Option<OsString>,
    /// Values put into its words, in the order of their parameters.
    pub parameters: Vec<(String, String)>,
}

/// Why a condition is in the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConditionRole {
    /// It was asked for.
    Measured,
    /// It repeats another condition under a second name (A/A), so that the session shows its own noise.
    NoiseFloor {
        /// The condition that it repeats, an index into [`BenchSession::conditions`].
        twin_of: usize,
    },
}

/// A command in a cache state. Each round runs each condition once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The command, an index into [`BenchSession::commands`].
    pub command: usize,
    /// The state that each run starts in.
    pub state: WantedState,
    /// Why it is in the session.
    pub role: ConditionRole,
}

/// How the first rounds are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Warmup {
    /// The series of rounds shows whether there was a warm-up.
    Detect,
    /// So many first rounds are a warm-up, because someone said so; 0 means none.
    Rounds(u32),
}

/// What limits how short a time can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timer {
    /// The resolution of the clock that took the wall times.
    pub resolution_ns: u64,
    /// How much the wall time of a command that does nothing varied here: the inter-quartile range.
    pub spawn_noise_ns: Observed<u64>,
}

/// Why a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// Every interval that was asked for is narrower than the target.
    PreciseEnough,
    /// All rounds that were asked for are done.
    RunsDone,
    /// The time given is used up.
    MaxTime,
    /// Someone interrupted it.
    Interrupted,
    /// A command failed, and failures were not to be ignored.
    Failed {
        /// The condition, an index into [`BenchSession::conditions`].
        condition: usize,
        /// How the command ended.
        exit: ExitStatus,
        /// The end of what it wrote, both streams, as far as these were kept.
        output_tail: Vec<u8>,
    },
}

/// Everything that a session told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchSession {
    /// The version of hotset.
    pub version: String,
    /// When it began.
    pub started_at: SystemTime,
    /// The host that it was measured on.
    pub environment: Environment,
    /// What limits short times.
    pub timer: Timer,
    /// The commands.
    pub commands: Vec<BenchCommand>,
    /// The files of each command, in the order of `commands`.
    pub sets: Vec<FileSet>,
    /// What the sensor saw of each command, in the order of `commands`.
    pub learned: Vec<Observed<LearnedIo>>,
    /// The conditions of a round.
    pub conditions: Vec<Condition>,
    /// The seed of the order within rounds.
    pub seed: u64,
    /// Rounds that were planned before the first one; any beyond came in blocks, after a look at the data.
    pub planned_rounds: u32,
    /// What is done about a warm-up.
    pub warmup: Warmup,
    /// Every run, in order of time.
    pub runs: Vec<BenchRun>,
    /// Why it ended.
    pub stop: StopReason,
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
