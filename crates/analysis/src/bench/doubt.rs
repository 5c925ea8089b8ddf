//! Why a run may not be what it should be.

use std::fmt;

use hotset_facts::units::{self, plural};
use hotset_facts::{ExitStatus, WantedState};

use super::warnings::default_time;

/// One reason to doubt a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doubt {
    /// It failed, and ended the session.
    Failed {
        /// How it ended.
        exit: ExitStatus,
    },
    /// The cache was not in the wanted state just before the spawn.
    StateNotReached {
        /// The state that was wanted.
        wanted: WantedState,
        /// The share of pages that was cached, 0 to 1.
        share: f64,
    },
    /// Nobody could tell which state the cache was in before the spawn.
    StateUnknown,
    /// The state of some files could not be read.
    FilesUnknown {
        /// How many.
        files: u64,
    },
    /// A warm run read from the device.
    DeviceRead {
        /// How much, in bytes.
        bytes: u64,
    },
    /// A warm run waited for pages of a mapping.
    MajorFaults {
        /// How often.
        faults: u64,
    },
    /// A run brought pages in that its own reads from the device don't explain.
    DeviceReadTooLittle {
        /// What it read itself, in bytes.
        bytes: u64,
        /// What the pages that are newly cached take from the device at least, in bytes.
        needed_bytes: u64,
    },
    /// Nobody could tell how much it read from the device.
    DeviceUnknown,
    /// The CPU was taken from it unusually often.
    InvoluntarySwitches {
        /// How often.
        switches: u64,
        /// How often is usual at most.
        limit: u64,
    },
    /// The hypervisor took CPU time from this host.
    Steal {
        /// As a share of the run's wall time.
        share: f64,
    },
    /// Tasks of the host had to wait for a CPU.
    CpuPressure {
        /// For this share of the run's wall time.
        share: f64,
    },
    /// The kernel took unusually long for each page that it cached: the host was still giving this machine memory.
    SlowPages {
        /// System time per newly cached page, in nanoseconds.
        ns_per_page: f64,
        /// What is usual in this session.
        usual_ns: f64,
    },
    /// Files of the set had another size or time of change after the run.
    InputsChanged {
        /// How many.
        files: usize,
    },
}

impl Doubt {
    /// The word for scripts.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Failed { .. } => "failed",
            Self::StateNotReached { .. } => "state-not-reached",
            Self::StateUnknown => "state-unknown",
            Self::FilesUnknown { .. } => "files-unknown",
            Self::DeviceRead { .. } => "device-read",
            Self::MajorFaults { .. } => "major-faults",
            Self::DeviceReadTooLittle { .. } => "device-read-too-little",
            Self::DeviceUnknown => "device-unknown",
            Self::InvoluntarySwitches { .. } => "involuntary-switches",
            Self::Steal { .. } => "steal",
            Self::CpuPressure { .. } => "cpu-pressure",
            Self::SlowPages { .. } => "slow-pages",
            Self::InputsChanged { .. } => "inputs-changed",
        }
    }

    /// True if the run isn't counted because of it. What is merely unknown or worth a word doesn't make it invalid.
    pub fn invalidates(&self) -> bool {
        !matches!(
            self,
            Self::FilesUnknown { .. } | Self::DeviceUnknown | Self::InputsChanged { .. }
        )
    }

    /// What a person can do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Failed { .. } => "find out why, or accept it with --ignore-failure",
            Self::StateNotReached { wanted: WantedState::Warm, .. } => {
                "memory may be too small for these files, or the host evicts idle pages"
            }
            Self::StateNotReached { .. } => {
                "another process reads these files: stop it, or bench a copy of them"
            }
            Self::StateUnknown | Self::FilesUnknown { .. } => {
                "run as the owner of these files, or as root"
            }
            Self::DeviceRead { .. } => {
                "the command reads something beyond its learned files (--show-files), or pages were evicted while it ran"
            }
            Self::MajorFaults { .. } => {
                "pages of a mapping were evicted while it ran, or swapped out: give the host more memory"
            }
            Self::DeviceReadTooLittle { .. } => {
                "another process read for it, or the block device's own cache had it: --state cold-all empties that too"
            }
            Self::DeviceUnknown => "this kernel doesn't account for I/O by task",
            Self::InvoluntarySwitches { .. } | Self::CpuPressure { .. } => {
                "other programs compete for the CPUs: stop them"
            }
            Self::Steal { .. } => "neighbours compete for this machine's CPUs: try another time",
            Self::SlowPages { .. } => {
                "the first use of memory that the host hadn't backed yet: more rounds will tell"
            }
            Self::InputsChanged { .. } => {
                "restore the files between runs (--prepare), or leave them out of the set"
            }
        }
    }
}

impl Doubt {
    /// What is doubtful, in words; `time` writes nanoseconds.
    pub(crate) fn text(&self, time: &dyn Fn(f64) -> String) -> String {
        match self {
            Self::Failed { exit: ExitStatus::Code(code) } => format!("it exited with {code}"),
            Self::Failed { exit: ExitStatus::Signal(signal) } => {
                format!("it was killed by signal {signal}")
            }
            Self::StateNotReached { wanted, share } => {
                format!("not {wanted}: {:.1} % of the pages were cached", 100.0 * share)
            }
            Self::StateUnknown => "the cache state is unknown".to_owned(),
            Self::FilesUnknown { files } => {
                format!("the cache state of {} is unknown", plural(*files, "file"))
            }
            Self::DeviceRead { bytes } => format!("read {} from the device", units::bytes(*bytes)),
            Self::MajorFaults { faults } => plural(*faults, "major fault"),
            Self::DeviceReadTooLittle { bytes, needed_bytes } => {
                let (read, needed) = (units::bytes(*bytes), units::bytes(*needed_bytes));
                format!("read {read} from the device; {needed} expected")
            }
            Self::DeviceUnknown => "device reads are unknown".to_owned(),
            Self::InvoluntarySwitches { switches, limit } => {
                format!("{switches} involuntary context switches; at most {limit} expected")
            }
            Self::Steal { share } => {
                format!("the hypervisor took CPU time: {:.1} % of the wall time", 100.0 * share)
            }
            Self::CpuPressure { share } => {
                format!("tasks waited for a CPU {:.0} % of the time", 100.0 * share)
            }
            Self::SlowPages { ns_per_page, usual_ns } => {
                let [spent, usual] = [*ns_per_page, *usual_ns].map(time);
                format!("{spent} of system time per cached page; {usual} expected")
            }
            Self::InputsChanged { files } => format!("{files} of the files changed"),
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&default_time))
    }
}
