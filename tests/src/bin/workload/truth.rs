//! The truth of one run, as JSON.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::syncs::SyncTruth;
use super::{Doing, Outcome};

/// What the case did, counted by itself, and what the kernel said around it. `null` is "not well defined here".
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Truth {
    pub(super) case: String,
    pub(super) page_size: u64,
    pub(super) pid: u32,
    pub(super) file: FileTruth,
    /// The file behind `--probe`, which holds the pages (of an overlay: its layer's file).
    pub(super) backing: Option<FileTruth>,
    /// The other file of a copy.
    pub(super) file2: Option<FileTruth>,
    /// Calls that moved bytes; for mappings: pages touched.
    pub(super) requests: u64,
    /// Calls that found the end of the file.
    pub(super) eof_calls: u64,
    pub(super) bytes: u64,
    /// Sum over requests of the pages that the moved bytes touch.
    pub(super) pages: u64,
    /// Sum over requests of the pages that cachestat(2) did not count right before the request.
    pub(super) pages_missing_before: Option<u64>,
    pub(super) distinct_pages: u64,
    pub(super) pages_cached_before: u64,
    pub(super) pages_cached_after: u64,
    /// What this process made the block layer read during the loop.
    pub(super) block_read_bytes: u64,
    /// What it wrote past the cache, or dirtied: for buffered writes, /proc/PID/io counts when a page turns dirty.
    pub(super) block_write_bytes: u64,
    pub(super) minflt: u64,
    pub(super) majflt: u64,
    /// Pages that writes created in the cache.
    pub(super) new_pages: Option<u64>,
    /// Pages that turned from clean to dirty.
    pub(super) dirtied_pages: Option<u64>,
    pub(super) sync_calls: u64,
    pub(super) direct: Option<DirectTruth>,
    /// Successful opens of the measured files, the one before the loop included.
    pub(super) opens: u64,
    pub(super) lookups: Option<LookupTruth>,
    pub(super) syncs: Option<SyncTruth>,
    /// Inode numbers of files that were made one after the other: fewer than the files where one came again.
    pub(super) distinct_inodes: Option<u64>,
    /// With `--each`, every request that moved bytes, in order.
    pub(super) each: Option<Vec<RequestTruth>>,
    pub(super) wall_ns: u64,
    pub(super) children: Vec<u32>,
    /// One a child, in the order of `children`.
    pub(super) child_truths: Vec<Truth>,
}

/// One request.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct RequestTruth {
    pub(super) offset: u64,
    pub(super) bytes: u64,
    /// Pages that cachestat(2) did not count right before it.
    pub(super) missing: Option<u64>,
}

/// One file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct FileTruth {
    pub(super) path: PathBuf,
    /// `major:minor`.
    pub(super) dev: String,
    pub(super) ino: u64,
    /// At the end of the run.
    pub(super) size_bytes: u64,
    pub(super) pages_cached_before: u64,
    pub(super) pages_cached_after: u64,
    pub(super) dirty_pages_before: Option<u64>,
    pub(super) dirty_pages_after: Option<u64>,
}

impl FileTruth {
    /// Identity and size as of now.
    pub(super) fn of(path: &Path, fd: impl AsFd) -> Outcome<Self> {
        let stat = rustix::fs::fstat(fd).doing(path.display())?;
        let id = hotset_sys::file_id(&stat);
        Ok(Self {
            path: path.to_owned(),
            dev: id.dev.to_string(),
            ino: id.ino,
            size_bytes: stat.st_size.unsigned_abs(),
            ..Self::default()
        })
    }
}

/// Calls and bytes past the cache.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct DirectTruth {
    pub(super) read_calls: u64,
    pub(super) read_bytes: u64,
    /// Bytes among them that were read before in this run.
    pub(super) reread_bytes: u64,
    /// By a clock around the calls, so that no call's own time is longer: of each the share of its bytes that were read before.
    pub(super) reread_time_ns: u64,
    /// The rest of these times.
    pub(super) first_time_ns: u64,
    pub(super) write_calls: u64,
    pub(super) write_bytes: u64,
}

/// Path lookups of the loop alone; starting a program makes others.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct LookupTruth {
    pub(super) calls: u64,
    pub(super) failed: u64,
    pub(super) failed_paths: Vec<FailedPath>,
    pub(super) by_directory: Vec<DirectoryLookups>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct FailedPath {
    /// Absolute, also where it was asked for relative to a directory.
    pub(super) path: PathBuf,
    pub(super) calls: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct DirectoryLookups {
    pub(super) directory: PathBuf,
    pub(super) calls: u64,
    pub(super) failed: u64,
}

impl Truth {
    pub(super) fn write(&self, path: Option<&Path>) -> Outcome<()> {
        let Some(path) = path else { return Ok(()) };
        let text = serde_json::to_string_pretty(self)?;
        std::fs::write(path, text + "\n").doing(path.display())
    }
}
