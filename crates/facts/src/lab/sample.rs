//! One measurement of a cell, and what is wrong with it.

use serde::{Deserialize, Serialize};

use crate::{Observed, StateReached};

crate::words! {
    /// What is wrong with a sample, in order of the words.
    #[derive(PartialOrd, Ord)]
    pub enum DoubtCode {
        /// The kernel counted other calls than this way of doing it takes.
        CallsNotConfirmed = "calls-not-confirmed",
        /// It waited for a CPU, or the hypervisor took one.
        CpuTaken = "cpu-taken",
        /// A device was read though all was cached.
        DeviceReadsWhileWarm = "device-reads-while-warm",
        /// The probe failed.
        Failed = "failed",
        /// Faults had to read though all was cached.
        MajorFaultsWhileWarm = "major-faults-while-warm",
        /// Pages that came in took far more CPU time than in other samples.
        SlowPages = "slow-pages",
        /// The state that it should begin in was not reached.
        StateNotReached = "state-not-reached",
        /// Less came from the device than a cold run reads.
        TooFewDeviceBytes = "too-few-device-bytes",
        /// It did not do what it was asked to, as far as that is counted.
        WrongCount = "wrong-count",
    }
}

/// Why a sample does not count. The state before and after a run proves nothing about what happened in between, so
/// what was read during it decides too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabDoubt {
    /// The word for scripts.
    pub code: DoubtCode,
    /// A sentence with the numbers.
    pub text: String,
    /// The sample is marked and not averaged in.
    pub invalidates: bool,
}

/// One measurement, and the lists that samples are written as: one for each field, of one length.
macro_rules! samples {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        /// One measurement of a cell.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct LabSample {
            $($(#[$doc])* pub $name: $type,)*
        }

        /// A value a sample, in order of time, those that don't count too.
        #[derive(Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub(super) struct Runs {
            /// Whether it counts.
            #[serde(skip_deserializing)]
            valid: Vec<bool>,
            $($(#[$doc])* $name: Vec<$type>,)*
        }

        impl From<&Vec<LabSample>> for Runs {
            fn from(samples: &Vec<LabSample>) -> Self {
                Self {
                    valid: samples.iter().map(LabSample::is_valid).collect(),
                    $($name: samples.iter().map(|sample| sample.$name.clone()).collect(),)*
                }
            }
        }

        impl TryFrom<Runs> for Vec<LabSample> {
            type Error = String;

            fn try_from(runs: Runs) -> Result<Self, String> {
                let expected = runs.round.len();
                for (key, found) in [$((stringify!($name), runs.$name.len())),*] {
                    if found != expected {
                        let right = format!("expected {expected}, one for each of round");
                        return Err(format!("{key} has {found} entries; {right}"));
                    }
                }
                $(let mut $name = runs.$name.into_iter();)*
                let sample = |_| Some(LabSample { $($name: $name.next()?),* });
                Ok((0..expected).filter_map(sample).collect())
            }
        }
    };
}

samples! {
    /// Which round, from 0. Cells are paired by it.
    round: u32,
    /// Wall time of the timed part in nanoseconds. Nothing is subtracted.
    wall_ns: u64,
    /// Operations in it.
    operations: u64,
    /// User and system CPU time of the timed part, in nanoseconds.
    cpu_ns: Observed<u64>,
    /// Bytes that the program says it moved.
    bytes: u64,
    /// Calls that moved or tried to move data or looked for files, by who counted them (`syscalls_by`).
    syscalls: Observed<u64>,
    /// What was cached of the files right before.
    reached_before: Observed<StateReached>,
    /// Bytes read from the device for it, in its own context.
    device_read_bytes: Observed<u64>,
    /// Bytes written to the device by it or for it, as far as they were submitted before it ended.
    device_write_bytes: Observed<u64>,
    /// Faults that had to read.
    major_faults: Observed<u64>,
    /// Faults that did not; with warm mappings their count tells large from small folios.
    minor_faults: Observed<u64>,
    /// What makes it doubtful.
    doubts: Vec<LabDoubt>,
}

crate::format::stands_for!(Runs => Vec<LabSample>);

impl LabSample {
    /// Whether it is averaged in.
    pub fn is_valid(&self) -> bool {
        !self.doubts.iter().any(|doubt| doubt.invalidates)
    }
}
