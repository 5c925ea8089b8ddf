//! One run of a benchmarked command, and the state that it began in.

use hotset_facts::{BenchRun, ExitStatus, Observed, StateReached, WantedState};
use serde::{Deserialize, Serialize};

use crate::wire::adapt::{Wire as _, converted, remote};
use crate::wire::observed::Null;
use crate::wire::process::PlainExit;

/// A cache state: `as-is`, `cold`, `cold-all`, `warm`, or a percentage.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct State(
    #[cfg_attr(test, schemars(regex(pattern = "^(as-is|cold|cold-all|warm|[1-9][0-9]?%)$")))]
    String,
);

impl From<WantedState> for State {
    fn from(state: WantedState) -> Self {
        Self(state.to_string())
    }
}

impl TryFrom<State> for WantedState {
    type Error = String;

    fn try_from(State(name): State) -> Result<Self, String> {
        let wrong = || format!("\"{name}\"; expected as-is, cold, cold-all, warm or 1% to 99%");
        Self::from_name(&name).ok_or_else(wrong)
    }
}

/// One run of a command, from its spawn to its exit. Nothing is subtracted.
#[derive(Serialize, Deserialize)]
#[serde(remote = "BenchRun")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct RunDef {
    /// Which of the conditions, from 0.
    condition: usize,
    /// Which round, from 0.
    round: u32,
    /// Its place in the round, from 0.
    position: u32,
    /// 0 for the first run of this condition in this round, n for its nth repetition after invalid ones.
    repeat: u32,
    /// When it was spawned, since the session began.
    started_after_ns: u64,
    /// From the call of spawn to the exit.
    wall_ns: u64,
    /// User CPU time.
    user_ns: u64,
    /// System CPU time.
    system_ns: u64,
    /// The largest resident set of one of the processes.
    max_rss_bytes: u64,
    #[serde(flatten, with = "PlainExit")]
    exit: ExitStatus,
    /// The cache state just before the spawn.
    #[serde(with = "Null::<StateReachedDef>")]
    reached_before: Observed<StateReached>,
    /// The cache state right after the exit.
    #[serde(with = "Null::<StateReachedDef>")]
    reached_after: Observed<StateReached>,
    /// Bytes that the processes themselves had read from a device.
    #[serde(with = "Null::<u64>")]
    device_read_bytes: Observed<u64>,
    /// Page faults that had to read.
    major_faults: u64,
    /// Page faults that did not.
    minor_faults: u64,
    /// Times that it gave up a CPU, usually to wait.
    voluntary_switches: u64,
    /// Times that a CPU was taken from it.
    involuntary_switches: u64,
    /// Time that the hypervisor took from all CPUs of this host during the run.
    #[serde(with = "Null::<u64>")]
    steal_ns: Observed<u64>,
    /// Time during the run in which some task of the host waited for a CPU.
    #[serde(with = "Null::<u64>")]
    cpu_pressure_ns: Observed<u64>,
    /// Time during the run in which some task of the host waited for I/O.
    #[serde(with = "Null::<u64>")]
    io_pressure_ns: Observed<u64>,
    /// Members of the command's files whose size or time of change differed after the run, by their place.
    inputs_changed: Vec<usize>,
}

/// What the cache held of a command's files at one moment.
#[derive(Serialize, Deserialize)]
#[serde(remote = "StateReached")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct StateReachedDef {
    /// Pages that the files span, as far as their state could be read.
    pages: u64,
    /// Pages among them that were cached.
    cached_pages: u64,
    /// Cached pages that nobody can evict now.
    stuck_pages: u64,
    /// Files whose state could not be read; their pages are in none of the numbers above.
    unknown_files: u64,
}

remote!(RunDef => BenchRun, StateReachedDef => StateReached);
converted!(State => WantedState);
