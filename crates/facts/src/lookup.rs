//! Path lookups: open, stat, access and the like.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Observed;
use crate::format::Path;

/// Counts of path lookups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LookupCounters {
    /// Calls that resolve a path.
    pub calls: u64,
    /// Calls that ended in ENOENT or ENOTDIR.
    pub failed: u64,
    /// Nanoseconds in all of them; not known where they were counted by tracing.
    pub time_ns: Observed<u64>,
    /// Nanoseconds in the failed ones.
    pub failed_time_ns: Observed<u64>,
}

impl Default for LookupCounters {
    /// None, which took no time.
    fn default() -> Self {
        let no_time = Observed::Value(0);
        Self { calls: 0, failed: 0, time_ns: no_time, failed_time_ns: no_time }
    }
}

impl LookupCounters {
    /// Adds `other` to these counters.
    pub fn add(&mut self, other: &Self) {
        let sum = |a: Observed<u64>, b| a.zip_with(b, |a, b| a + b);
        self.calls += other.calls;
        self.failed += other.failed;
        self.time_ns = sum(self.time_ns, other.time_ns);
        self.failed_time_ns = sum(self.failed_time_ns, other.failed_time_ns);
    }
}

/// One path that was asked for in vain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = crate::format::about("path", "The path, absolute where its base was known, else as the program gave it.")))]
pub struct FailedLookup {
    /// The path, absolute where its base was known, else as the program gave it.
    #[serde(flatten, with = "Path")]
    pub path: PathBuf,
    /// How often it was asked for.
    pub calls: u64,
}

/// All lookups of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lookups {
    /// Exact counts.
    #[serde(flatten)]
    pub counters: LookupCounters,
    /// Failed lookups whose path was not kept: the ring was full, or the table of paths was.
    pub failed_unnamed: u64,
    /// Failed paths, most asked for first.
    pub failed_paths: Vec<FailedLookup>,
}
