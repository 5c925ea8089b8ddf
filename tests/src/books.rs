//! What the processes of a random mixture say that they did: `mix` writes it, a test reads it.

use std::collections::BTreeMap;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

use crate::PAGE;

/// Calls that returned without an error, what they moved, and the pages that hold it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requests {
    /// How many.
    pub calls: u64,
    /// What they moved.
    pub bytes: u64,
    /// Those that hold it.
    pub pages: u64,
}

impl Requests {
    /// One more.
    pub fn count(&mut self, offset: u64, bytes: u64) {
        *self = *self + Self { calls: 1, bytes, pages: pages_in(offset, bytes) };
    }
}

impl Add for Requests {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            bytes: self.bytes + other.bytes,
            pages: self.pages + other.pages,
        }
    }
}

/// Pages that hold these bytes.
pub fn pages_in(offset: u64, bytes: u64) -> u64 {
    if bytes == 0 { 0 } else { (offset + bytes - 1) / PAGE - offset / PAGE + 1 }
}

/// What one file has seen; `direct_…` by a descriptor with O_DIRECT, where a file system may use the cache all the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Through a descriptor without O_DIRECT.
    pub read: Requests,
    /// The same.
    pub write: Requests,
    /// Reads with O_DIRECT.
    pub direct_read: Requests,
    /// Writes with O_DIRECT.
    pub direct_write: Requests,
    /// fsync(2) and the like, whether they succeeded or not.
    pub syncs: u64,
    /// Uses of the first page while the file had no other: it may be kept beside the inode, and then no device is read for it.
    pub small: u64,
    /// Pages that a read asked for and did not return: they may be cached by now, and made of zeros.
    pub cut: u64,
    /// Bytes of the blocks that reads with O_DIRECT asked for, whatever they returned.
    pub direct_asked: u64,
    /// Blocks of which truncate(2), fallocate(2) or a write that came to nothing filled a part with zeros: the rest is read first.
    /// Where they are smaller than pages, so is the rest of a folio that was split, by who reads it and finds it cached.
    pub edges: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.read = self.read + other.read;
        self.write = self.write + other.write;
        self.direct_read = self.direct_read + other.direct_read;
        self.direct_write = self.direct_write + other.direct_write;
        self.syncs += other.syncs;
        self.small += other.small;
        self.cut += other.cut;
        self.direct_asked += other.direct_asked;
        self.edges += other.edges;
    }
}

/// One file of one process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Line {
    /// `major:minor`, as fstat(2) says.
    pub dev: String,
    /// Its inode number.
    pub ino: u64,
    /// What was done to it.
    #[serde(flatten)]
    pub counts: Counts,
}

/// One process.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Books {
    /// Its PID.
    pub pid: u64,
    /// Its files.
    pub files: Vec<Line>,
    /// Syncs that name no file with pages: msync, syncfs, sync, fsync of a directory.
    pub other_syncs: u64,
    /// Names that it looked up.
    pub lookups: u64,
    /// Those that were not there.
    pub failed_lookups: u64,
    /// How often each operation did what it was meant to.
    pub done: BTreeMap<String, u64>,
    /// What /proc/PID/io says when all is done.
    pub device_read_bytes: u64,
    /// Bytes that direct reads of an io_uring returned: they are counted as read from the device, holes too.
    pub ring_direct_read: u64,
    /// Bytes of the blocks that they asked for.
    pub ring_direct_asked: u64,
    /// What wait4(2) says.
    pub major_faults: u64,
    /// What getrusage(2) says of them, by operation: of the threads that made these, and of no worker of a ring.
    pub majors_by_operation: BTreeMap<String, u64>,
}

impl Books {
    /// All files together.
    pub fn sum(&self) -> Counts {
        let mut sum = Counts::default();
        self.files.iter().for_each(|line| sum += line.counts);
        sum
    }
}

/// By device and inode number, all processes together.
pub fn by_file(books: &[Books]) -> BTreeMap<(String, u64), Counts> {
    let mut files = BTreeMap::<_, Counts>::new();
    for line in books.iter().flat_map(|books| &books.files) {
        *files.entry((line.dev.clone(), line.ino)).or_default() += line.counts;
    }
    files
}
