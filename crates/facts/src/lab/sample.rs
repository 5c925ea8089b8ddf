//! One measurement of a cell, and what is wrong with it.

use crate::{Observed, StateReached};

/// What is wrong with a sample, in order of the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DoubtCode {
    /// The kernel counted other calls than this way of doing it takes.
    CallsNotConfirmed,
    /// It waited for a CPU, or the hypervisor took one.
    CpuTaken,
    /// A device was read though all was cached.
    DeviceReadsWhileWarm,
    /// The probe failed.
    Failed,
    /// Faults had to read though all was cached.
    MajorFaultsWhileWarm,
    /// Pages that came in took far more CPU time than in other samples.
    SlowPages,
    /// The state that it should begin in was not reached.
    StateNotReached,
    /// Less came from the device than a cold run reads.
    TooFewDeviceBytes,
    /// It did not do what it was asked to, as far as that is counted.
    WrongCount,
}

impl DoubtCode {
    /// The word that every view uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CallsNotConfirmed => "calls-not-confirmed",
            Self::CpuTaken => "cpu-taken",
            Self::DeviceReadsWhileWarm => "device-reads-while-warm",
            Self::Failed => "failed",
            Self::MajorFaultsWhileWarm => "major-faults-while-warm",
            Self::SlowPages => "slow-pages",
            Self::StateNotReached => "state-not-reached",
            Self::TooFewDeviceBytes => "too-few-device-bytes",
            Self::WrongCount => "wrong-count",
        }
    }
}

/// Why a sample does not count. The state before and after a run proves nothing about what happened in between, so
/// what was read during it decides too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabDoubt {
    /// The word for scripts.
    pub code: DoubtCode,
    /// A sentence with the numbers.
    pub text: String,
    /// The sample is marked and not averaged in.
    pub invalidates: bool,
}

/// One measurement of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabSample {
    /// Which round, from 0. Cells are paired by it.
    pub round: u32,
    /// Wall time of the timed part in nanoseconds. Nothing is subtracted.
    pub wall_ns: u64,
    /// Operations in it.
    pub operations: u64,
    /// User and system CPU time of the timed part, in nanoseconds.
    pub cpu_ns: Observed<u64>,
    /// Bytes that the program says it moved.
    pub bytes: u64,
    /// Calls that moved or tried to move data or looked for files, by who counted them (`syscalls_by`).
    pub syscalls: Observed<u64>,
    /// What was cached of the files right before.
    pub reached_before: Observed<StateReached>,
    /// Bytes read from the device for it, in its own context.
    pub device_read_bytes: Observed<u64>,
    /// Bytes written to the device by it or for it, as far as they were submitted before it ended.
    pub device_write_bytes: Observed<u64>,
    /// Faults that had to read.
    pub major_faults: Observed<u64>,
    /// Faults that did not; with warm mappings their count tells large from small folios.
    pub minor_faults: Observed<u64>,
    /// What makes it doubtful.
    pub doubts: Vec<LabDoubt>,
}

impl LabSample {
    /// Whether it is averaged in.
    pub fn is_valid(&self) -> bool {
        !self.doubts.iter().any(|doubt| doubt.invalidates)
    }
}
