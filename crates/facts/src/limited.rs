//! A run of a command under a memory limit.

use serde::{Deserialize, Serialize};

use crate::format::required;
use crate::{ExitStatus, Io};

/// A run of a command in a control group of its own with a memory limit, from cold files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LimitedRun {
    /// The limit in bytes.
    pub limit_bytes: u64,
    /// How it ended.
    #[serde(flatten)]
    pub exit: ExitStatus,
    /// Processes of it that the kernel killed because the limit left too little.
    pub killed: u64,
    /// Nanoseconds from its start to its end.
    pub wall_ns: u64,
    /// What it asked for of all files, and what the device did for it.
    pub totals: Io,
    /// Pages that were evicted from the group and read again, by the kernel's count; null before Linux 5.9.
    #[serde(deserialize_with = "required")]
    pub refault_pages: Option<u64>,
    /// The most memory that was charged to it at a time, in bytes; null with control groups of version 2 before Linux 5.19.
    #[serde(deserialize_with = "required")]
    pub peak_bytes: Option<u64>,
    /// Pages of its files that could not be evicted before it ran, because others use them.
    pub stuck_pages: u64,
    /// Files of it whose pages could not be looked at before it ran.
    pub unknown_files: u64,
    /// Events that the sensor lost; its counts are too low then.
    pub lost: u64,
}
