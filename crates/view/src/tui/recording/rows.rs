//! The lines of the format as they are written and read.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Counters by name; those that are 0 are left out.
pub(super) type Counters = Map<String, Value>;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HeaderLine {
    pub(super) schema: String,
    pub(super) hotset: String,
    pub(super) host: String,
    pub(super) interval_ns: u64,
    pub(super) scope: Option<String>,
    pub(super) not_measured: Vec<Gap>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Gap {
    pub(super) what: String,
    pub(super) reason: String,
}

/// What is read of every line before any is shown.
#[derive(Debug, Deserialize)]
pub(super) struct TimeLine {
    pub(super) at: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct IntervalLine {
    pub(super) at: String,
    pub(super) ended_after_ns: u64,
    pub(super) length_ns: u64,
    pub(super) totals: Counters,
    pub(super) others: Counters,
    pub(super) evicted_pages: Option<u64>,
    pub(super) host: HostLine,
    pub(super) losses: Counters,
    pub(super) processes: Vec<ProcessLine>,
    pub(super) files: Vec<FileLine>,
    pub(super) cgroups: Vec<GroupLine>,
    /// Process, file, and what it did to it.
    pub(super) pairs: Vec<(u32, u32, Counters)>,
    /// How many processes, files and control groups have no line, and what they did.
    pub(super) unlisted: [(u64, Counters); 3],
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HostLine {
    pub(super) memory: Option<MemoryLine>,
    pub(super) refaulted_pages: Option<u64>,
    pub(super) reclaimed_pages: Option<u64>,
    pub(super) written_back_pages: Option<u64>,
    pub(super) memory_some_ns: Option<u64>,
    pub(super) memory_full_ns: Option<u64>,
    pub(super) io_some_ns: Option<u64>,
    pub(super) io_full_ns: Option<u64>,
    pub(super) cpu_some_ns: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MemoryLine {
    pub(super) total_bytes: u64,
    pub(super) free_bytes: u64,
    pub(super) cached_bytes: u64,
    pub(super) buffers_bytes: u64,
    pub(super) shmem_bytes: u64,
    pub(super) swap_cached_bytes: u64,
    pub(super) dirty_bytes: u64,
    pub(super) writeback_bytes: u64,
    pub(super) mapped_bytes: u64,
    pub(super) unevictable_bytes: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProcessLine {
    pub(super) id: u32,
    pub(super) pid: u32,
    pub(super) ppid: Option<u32>,
    pub(super) uid: Option<u32>,
    pub(super) user: Option<String>,
    pub(super) comm: String,
    pub(super) cgroup: Option<String>,
    pub(super) ended: bool,
    pub(super) files: u32,
    pub(super) io: Counters,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FileLine {
    /// Major and minor number of the device.
    pub(super) dev: (u32, u32),
    pub(super) ino: u64,
    pub(super) kind: KindWord,
    pub(super) path: Option<PathLine>,
    pub(super) deleted: bool,
    pub(super) processes: u32,
    pub(super) io: Counters,
}

/// A path as text, or as bytes where it is none.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum PathLine {
    Text(String),
    Bytes(Vec<u8>),
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KindWord {
    Regular,
    BlockDevice,
    Others,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct GroupLine {
    pub(super) path: Option<String>,
    pub(super) name: Option<String>,
    pub(super) processes: u32,
    pub(super) io: Counters,
}
