//! The instrument of a run, and what it lost.

use serde::{Deserialize, Serialize};

use crate::NotMeasured;
use crate::feature::NotMeasuredList;
use crate::format::Text;

crate::words! {
    /// How much the sensor could see.
    pub enum SensorLevel {
        /// Every count.
        Full = "full",
        /// An older kernel: exact reads and writes, less about faults and io_uring.
        Reduced = "reduced",
        /// No BPF, but calls stopped by ptrace(2): every lookup, open and process, and what /proc, rusage and cachestat(2) can say.
        Traced = "traced",
        /// No BPF: what /proc, rusage and cachestat(2) can say.
        Unprivileged = "unprivileged",
    }
}

/// What the sensor lost in a run, by cause, under the names that intervals have. Each counts how often it happened, and not
/// pages; system calls that are not decoded are in `not_measured`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SensorLosses {
    /// Names and failed paths that did not fit into the ring, or were not understood.
    pub events: u64,
    /// Requests that were counted, but for nobody: the tables of rows or processes were full.
    pub unattributed: u64,
    /// Page ranges whose origin could not be kept: some read-ahead hits count as from cache.
    pub origins: u64,
    /// Tasks that could not be followed: what they did is not counted.
    pub tasks: u64,
    /// Requests of io_uring or Linux AIO that could not be followed.
    pub requests: u64,
    /// Programs that the kernel skipped: what they would have seen is not counted.
    pub skipped_programs: u64,
}

impl SensorLosses {
    /// Of every cause but names: those that damage counts.
    pub fn of_counts(&self) -> u64 {
        [self.unattributed, self.origins, self.tasks, self.requests, self.skipped_programs]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

/// The instrument and its losses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sensor {
    /// Which sensor, e.g. `bpf`, `bpf-compat`, `trace`, `proc`.
    #[serde(deserialize_with = "crate::format::text::read")]
    pub name: Text,
    /// How much it could see.
    pub level: SensorLevel,
    /// What it lost; zero everywhere where all was counted.
    pub losses: SensorLosses,
    /// What was not measured, with reasons.
    #[serde(with = "NotMeasuredList")]
    pub not_measured: Vec<NotMeasured>,
}
