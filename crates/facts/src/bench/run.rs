//! One run of a benchmarked command.

use serde::{Deserialize, Serialize};

use crate::{ExitStatus, Observed, StateReached};

/// One run of a command, from its spawn to its exit, with what tells whether it counts. Nothing is subtracted.
///
/// All resources are those of the command and the children that it waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchRun {
    /// Which condition, by its place in `conditions`.
    pub condition: usize,
    /// Which round, from 0. Runs are paired by it. Forced warm-up rounds are counted too.
    pub round: u32,
    /// Its place in the round, from 0, in the order in which the conditions ran.
    pub position: u32,
    /// 0 for the first run of this condition in this round, n for its nth repetition after invalid ones.
    pub repeat: u32,
    /// When it was spawned, in nanoseconds since the session began.
    pub started_after_ns: u64,
    /// Wall time from the call of spawn to the exit.
    pub wall_ns: u64,
    /// User CPU time.
    pub user_ns: u64,
    /// System CPU time.
    pub system_ns: u64,
    /// The largest resident set of one of the processes.
    pub max_rss_bytes: u64,
    /// How the command ended.
    #[serde(flatten)]
    pub exit: ExitStatus,
    /// The cache state just before the spawn.
    pub reached_before: Observed<StateReached>,
    /// The cache state right after the exit.
    pub reached_after: Observed<StateReached>,
    /// Bytes that the processes themselves had read from a device: `ru_inblock` in units of 512 bytes. Reads that
    /// another process or a kernel thread submitted for them are not in it.
    pub device_read_bytes: Observed<u64>,
    /// Page faults that had to read.
    pub major_faults: u64,
    /// Page faults that did not. With the same files warm, their count tells large from small folios.
    pub minor_faults: u64,
    /// Times that it gave up a CPU, usually to wait.
    pub voluntary_switches: u64,
    /// Times that a CPU was taken from it.
    pub involuntary_switches: u64,
    /// Time that the hypervisor took from all CPUs of this host during the run.
    pub steal_ns: Observed<u64>,
    /// Time during the run in which some task of the host waited for a CPU (PSI, `some`).
    pub cpu_pressure_ns: Observed<u64>,
    /// Time during the run in which some task of the host waited for I/O (PSI, `some`).
    pub io_pressure_ns: Observed<u64>,
    /// Files of the command's set whose size or time of change differed after the run, by their place in its `members`.
    pub inputs_changed: Vec<usize>,
}
