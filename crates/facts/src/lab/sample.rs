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

/// A sample, and the lists that samples are written as: one for each field, of one length; and one of what follows from each sample,
/// which is not read.
macro_rules! samples {
    (
        $(#[$about:meta])*
        $Sample:ident as $Lists:ident
        $(, with $(#[$how:meta])* $derived:ident: $Derived:ty = $follows:expr)?;
        $($(#[$doc:meta])* $name:ident: $type:ty,)*
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $Sample {
            $($(#[$doc])* pub $name: $type,)*
        }

        /// A value a sample, in order of time.
        #[derive(Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub(super) struct $Lists {
            $($(#[$how])* #[serde(skip_deserializing)] $derived: Vec<$Derived>,)?
            $($(#[$doc])* $name: Vec<$type>,)*
        }

        impl From<&Vec<$Sample>> for $Lists {
            fn from(samples: &Vec<$Sample>) -> Self {
                Self {
                    $($derived: samples.iter().map($follows).collect(),)?
                    $($name: samples.iter().map(|sample| sample.$name.clone()).collect(),)*
                }
            }
        }

        impl TryFrom<$Lists> for Vec<$Sample> {
            type Error = String;

            fn try_from(runs: $Lists) -> Result<Self, String> {
                let expected = runs.round.len();
                for (key, found) in [$((stringify!($name), runs.$name.len())),*] {
                    if found != expected {
                        let right = format!("expected {expected}, one for each of round");
                        return Err(format!("{key} has {found} entries; {right}"));
                    }
                }
                $(let mut $name = runs.$name.into_iter();)*
                let sample = |_| Some($Sample { $($name: $name.next()?),* });
                Ok((0..expected).filter_map(sample).collect())
            }
        }

        crate::format::stands_for!($Lists => Vec<$Sample>);
    };
}

pub(super) use samples;

samples! {
    /// One measurement of a cell.
    LabSample as Runs, with
    /// Whether it counts.
    valid: bool = LabSample::is_valid;
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

impl LabSample {
    /// Whether it is averaged in.
    pub fn is_valid(&self) -> bool {
        !self.doubts.iter().any(|doubt| doubt.invalidates)
    }
}
