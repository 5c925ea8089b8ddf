//! What a trace says of itself, beside its records.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::feature::NotMeasuredList;
use crate::format::{Argv, KnownTime, Path, required};
use crate::{Command, Environment, FileId, FileKind, NotMeasured, Pid};

use super::{FileIndex, ProcessIndex, SiteIndex};

crate::words! {
    /// Where the records of a trace come from.
    pub enum TraceSource {
        /// `hotset record`.
        Recorded = "hotset",
        /// The text of strace -f -ttt -T -y.
        Strace = "strace",
        /// An I/O log of fio.
        Fio = "fio",
        /// Comma-separated values.
        Csv = "csv",
        /// Requests as libCacheSim's oracleGeneral has them.
        Oracle = "oracle",
        /// The text of blkparse: below the page cache.
        Blkparse = "blkparse",
    }
}

/// What recording costs a request, measured when the recording began: a byte was read from the cache again and again, first without
/// the sensor, then recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordingCost {
    /// Nanoseconds that a call takes without the sensor, less its duration when it is recorded. A duration lacks the way into the
    /// kernel and back, and holds a part of the sensor's work: below zero where that is more.
    pub beyond_duration_ns: i64,
    /// Nanoseconds that recording makes a request longer.
    pub added_ns: u64,
}

/// Memory of the processes of a recording that is no file cache, summed over those that ran at a time. They were looked at again and again:
/// what lasts shorter than the time between two looks can have been missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceMemory {
    /// Bytes of anonymous memory, resident or swapped, at the most: heaps, stacks, private copies of mapped files.
    pub anon_peak_bytes: u64,
    /// When that was, in nanoseconds since the recording began.
    pub anon_peak_at_ns: u64,
    /// Bytes of shared memory and of files of tmpfs that processes mapped, at the most.
    pub shmem_peak_bytes: u64,
    /// Bytes of page tables at the most.
    pub page_tables_peak_bytes: u64,
    /// How often the processes were looked at.
    pub looks: u64,
    /// The longest time between two looks, in nanoseconds.
    pub longest_gap_ns: u64,
}

/// Memory of the processes of a recording that is no file cache, from a time on until the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryStep {
    /// Nanoseconds since the recording began.
    pub from_ns: u64,
    /// Bytes of anonymous memory, shared memory and page tables.
    pub bytes: u64,
}

/// How the host of a recording reclaims memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reclaim {
    /// Whether the kernel replaces pages by the multi-gen LRU; otherwise by two lists.
    pub multi_gen_lru: bool,
    /// Bytes of swap.
    pub swap_bytes: u64,
}

/// What a trace is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceHead {
    /// The version of hotset that wrote it.
    pub hotset: String,
    /// Where its records come from.
    pub source: TraceSource,
    /// When the recording began, where that is known.
    #[serde(with = "KnownTime")]
    pub started_at: Option<SystemTime>,
    /// The host; null where it is not known.
    #[serde(deserialize_with = "required")]
    pub environment: Option<Environment>,
    /// The command that was observed; null where it is not known.
    #[serde(deserialize_with = "required")]
    pub command: Option<Command>,
    /// What recording cost a request; null where that is not known.
    #[serde(default)]
    pub cost: Option<RecordingCost>,
    /// Memory of its processes beside the cache; null where nobody looked.
    #[serde(default)]
    pub memory: Option<TraceMemory>,
    /// The same over time, in ascending order; empty where nobody looked.
    #[serde(default)]
    pub memory_steps: Vec<MemoryStep>,
    /// How the host reclaims memory; null where it is not known.
    #[serde(default)]
    pub reclaim: Option<Reclaim>,
    /// What its records lack, with reasons.
    #[serde(with = "NotMeasuredList")]
    pub not_measured: Vec<NotMeasured>,
    /// What its source could not know, or what was lost on the way: a sentence each.
    pub lacks: Vec<String>,
}

/// A process of a trace: one program that it ran. An exec makes another of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceProcess {
    /// Its PID.
    pub pid: Pid,
    /// The PID of its parent; null where it is not known.
    #[serde(deserialize_with = "required")]
    pub ppid: Option<Pid>,
    /// The kernel's short name for it.
    pub comm: String,
    /// Its words, cut at the sensor's bound; empty where they are not known.
    #[serde(flatten, with = "Argv")]
    pub argv: Vec<OsString>,
}

/// A file of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceFile {
    /// Its path as the first process that touched it saw it; null where it is not known.
    #[serde(flatten, with = "Path::<Option<String>>")]
    pub path: Option<PathBuf>,
    /// What it is.
    pub kind: FileKind,
    /// Its identity; null where it is not known.
    #[serde(deserialize_with = "required")]
    pub id: Option<FileId>,
    /// Its size when it was first seen.
    #[serde(deserialize_with = "required")]
    pub size_bytes: Option<u64>,
    /// Pages of it that were cached then.
    #[serde(deserialize_with = "required")]
    pub cached_pages: Option<u64>,
}

/// One call in a chain of calls.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frame {
    /// The function's name; null where nothing tells it.
    #[serde(deserialize_with = "required")]
    pub function: Option<String>,
    /// The object file or the source of code made at run time.
    #[serde(deserialize_with = "required")]
    pub module: Option<String>,
    /// Bytes from the beginning of the function, or of the module where the function is not known.
    pub offset: u64,
    /// The source file, where debug information has it.
    #[serde(deserialize_with = "required")]
    pub source: Option<String>,
    /// The line in it.
    #[serde(deserialize_with = "required")]
    pub line: Option<u32>,
}

crate::words! {
    /// How much of a call site's chain is known.
    pub enum SiteState {
        /// To the thread's first function.
        Whole = "whole",
        /// The innermost calls: the copy of the stack ended, or what unwinds it was not found.
        Cut = "cut",
        /// The instruction alone.
        Lost = "lost",
    }
}

/// Code that made requests: its chain of calls, innermost first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Site {
    /// The calls, innermost first. Most chains share most of them.
    pub frames: Vec<Arc<Frame>>,
    /// How much of the chain is known.
    pub state: SiteState,
}

/// Records that found no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gap {
    /// The thread whose records they are; null where it ended before that could be told.
    #[serde(deserialize_with = "required")]
    pub tid: Option<u32>,
    /// Nanoseconds from the beginning of the recording to the first of them, at least.
    pub from_ns: u64,
    /// To the last of them, at most.
    pub to_ns: u64,
    /// How many.
    pub records: u64,
}

/// The lists that records point into. A part of a trace holds what was added since the part before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TraceLists {
    /// Processes, by [`ProcessIndex`].
    pub processes: Vec<TraceProcess>,
    /// Files, by [`super::FileIndex`].
    pub files: Vec<TraceFile>,
    /// Call sites, by [`super::SiteIndex`].
    pub sites: Vec<Site>,
    /// Where records are missing.
    pub gaps: Vec<Gap>,
}

impl TraceLists {
    /// The process of a record.
    pub fn process(&self, index: ProcessIndex) -> Option<&TraceProcess> {
        self.processes.get(index.0 as usize)
    }

    /// The file of a record.
    pub fn file(&self, index: FileIndex) -> Option<&TraceFile> {
        self.files.get(index.0 as usize)
    }

    /// The call site of a record.
    pub fn site(&self, index: SiteIndex) -> Option<&Site> {
        self.sites.get(index.0 as usize)
    }

    /// Appends what another part added.
    pub fn append(&mut self, mut other: Self) {
        self.processes.append(&mut other.processes);
        self.files.append(&mut other.files);
        self.sites.append(&mut other.sites);
        self.gaps.append(&mut other.gaps);
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_head_comes_back_and_its_time_is_text() -> Result<(), serde_json::Error> {
        let head = TraceHead {
            hotset: "0.1.0".to_owned(),
            source: TraceSource::Recorded,
            started_at: Some(UNIX_EPOCH),
            environment: None,
            command: None,
            cost: None,
            memory: None,
            memory_steps: Vec::new(),
            reclaim: None,
            not_measured: Vec::new(),
            lacks: vec!["faults".to_owned()],
        };
        let written = serde_json::to_value(&head)?;
        assert_eq!(written["started_at"], json!("1970-01-01T00:00:00Z"));
        assert_eq!(serde_json::from_value::<TraceHead>(written)?, head);
        Ok(())
    }
}
