//! The code of an observed program that asked: call sites with what each asked for.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::format::Path;
use crate::trace::{OperationClass, Site};

/// What one call site did to one file, in one way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SiteRow {
    /// The place of the site in the list of sites.
    pub site: u32,
    /// What it did.
    pub class: OperationClass,
    /// The file; null where it is not known, or stands for files that are not told apart.
    #[serde(flatten, with = "Path::<Option<String>>")]
    pub path: Option<PathBuf>,
    /// How much.
    #[serde(flatten)]
    pub io: SiteIo,
}

/// Sums of the requests of a call site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SiteIo {
    /// Requests; of faults, faults.
    pub calls: u64,
    /// Requests among them that failed.
    pub failed: u64,
    /// Bytes that reads and writes moved.
    pub bytes: u64,
    /// Pages that were not cached and were brought in for it.
    pub missed_pages: u64,
    /// Bytes that the device was asked to read while it waited.
    pub device_read_bytes: u64,
    /// Nanoseconds that the requests took.
    pub time_ns: u64,
}

impl SiteIo {
    /// Adds `other`, saturating.
    pub fn add(&mut self, other: &Self) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.calls, other.calls);
        add(&mut self.failed, other.failed);
        add(&mut self.bytes, other.bytes);
        add(&mut self.missed_pages, other.missed_pages);
        add(&mut self.device_read_bytes, other.device_read_bytes);
        add(&mut self.time_ns, other.time_ns);
    }
}

/// How many different places in the code, with their callers, came to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SiteContexts {
    /// Resolved to the thread's first function.
    pub whole: u64,
    /// Resolved in part: the copy of the stack ended, or what unwinds it was not found.
    pub cut: u64,
    /// The instruction alone: the process was gone, or its stack could not be unwound.
    pub lost: u64,
    /// Not resolved, because there were too many sites already, or their stack found no room.
    pub refused: u64,
}

/// Who asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallSites {
    /// The sites that rows are of, each a chain of calls.
    pub sites: Vec<Site>,
    /// What each did to which file, most time first.
    pub rows: Vec<SiteRow>,
    /// What came of the different contexts.
    pub contexts: SiteContexts,
    /// Requests whose code is not known: their context was refused, or nothing was at hand to find it by.
    pub unknown_requests: u64,
    /// Requests that are in no row, because the buffer was full.
    pub lost_requests: u64,
    /// Requests in rows that found no place in the list; they are in no row.
    pub other_requests: u64,
}
