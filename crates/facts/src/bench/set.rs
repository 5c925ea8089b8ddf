//! The files of a benchmarked command: what its cache states are set on.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::format::Path;
use crate::{FileId, FileRow, Io, Unevictable, Unreadable, WantedState};

/// Pages of one file that could not be evicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StuckPages {
    /// How many stayed when eviction was last tried.
    pub pages: u64,
    /// What kept them.
    pub reason: Unevictable,
}

/// One file of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetMember {
    /// Its path.
    #[serde(flatten, with = "Path")]
    pub path: PathBuf,
    /// Its identity.
    #[serde(flatten)]
    pub id: FileId,
    /// Its size when it was learned.
    pub size_bytes: u64,
    /// Its time of last change when it was learned, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Of its size, what nothing is read for: holes, and space that was never written.
    pub hole_bytes: u64,
    /// Reading it may take fewer bytes from the device than it has: its data is compressed, or nobody tells.
    pub may_be_compressed: bool,
    /// The command reads it.
    pub read: bool,
    /// The command maps or executes it.
    pub mapped: bool,
    /// The command writes it.
    pub written: bool,
    /// Set where pages of it stay in the cache.
    #[serde(deserialize_with = "crate::format::required")]
    pub cannot_evict: Option<StuckPages>,
}

crate::words! {
    /// How the files of a command became known.
    pub enum LearnedBy {
        /// A run under the BPF sensor.
        Sensor = "sensor",
        /// A run whose system calls were traced.
        Trace = "trace",
        /// Someone listed them.
        Given = "given",
        /// Nobody learned them: the set is empty, and only `as-is` and `cold-all` can be asked for.
        Nothing = "nothing",
    }
}

/// The files that a command reads, maps and writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileSet {
    /// How they became known.
    pub learned_by: LearnedBy,
    /// The files, each once.
    pub members: Vec<SetMember>,
    /// Files that belong here but could not be opened; their state is neither set nor verified.
    pub unreadable: Vec<Unreadable>,
}

/// What the sensor saw of a command's I/O.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LearnedIo {
    /// The state in which that run began.
    pub state: WantedState,
    /// Its wall time.
    pub wall_ns: u64,
    /// The sum over all files.
    pub totals: Io,
    /// A row a file, most from the device first.
    pub files: Vec<FileRow>,
}
