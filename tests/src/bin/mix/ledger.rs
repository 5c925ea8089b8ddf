//! The books: what was done to each file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::worker::Handle;

/// A file, by what fstat(2) says of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct FileId {
    /// `major:minor`.
    pub(super) dev: String,
    pub(super) ino: u64,
}

/// Calls that returned without an error, what they moved, and the pages that hold it.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Requests {
    calls: u64,
    bytes: u64,
    pages: u64,
}

impl Requests {
    fn add(&mut self, offset: u64, bytes: u64) {
        self.calls += 1;
        self.bytes += bytes;
        self.pages += pages_in(offset, bytes);
    }

    fn merge(&mut self, other: Self) {
        self.calls += other.calls;
        self.bytes += other.bytes;
        self.pages += other.pages;
    }
}

/// What one file has seen, by how its descriptor was opened: with O_DIRECT, a file system may use the cache all the same.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Counts {
    read: Requests,
    write: Requests,
    direct_read: Requests,
    direct_write: Requests,
    syncs: u64,
    /// Pages of which hotset does not tell whether a device was read for them (docs/method.md): of files of one page, which
    /// may be kept beside the inode, and of reads that end before what they asked for.
    untold: u64,
    /// Descriptors with O_DIRECT.
    direct: u64,
}

/// One line of the books, as JSON.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    id: FileId,
    #[serde(flatten)]
    counts: Counts,
}

/// What a thread, or all threads of a process, did.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    files: BTreeMap<FileId, Counts>,
    /// Syncs that name no file with pages: msync, syncfs, sync, fsync of a directory.
    other_syncs: u64,
    lookups: u64,
    failed_lookups: u64,
    /// Direct reads that outlive the call that submits them.
    ring_direct: Requests,
    /// How often each operation did what it was meant to.
    done: BTreeMap<&'static str, u64>,
}

/// The same on its way to the parent, and to the test.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Books {
    pid: u32,
    files: Vec<Line>,
    other_syncs: u64,
    lookups: u64,
    failed_lookups: u64,
    done: BTreeMap<String, u64>,
    /// What /proc/PID/io says when all is done.
    pub(super) device_read_bytes: u64,
    ring_direct_reads: u64,
    ring_direct_read_bytes: u64,
    /// What wait4(2) says.
    pub(super) major_faults: u64,
}

impl Ledger {
    pub(super) fn read(&mut self, of: &Handle, offset: u64, bytes: usize) {
        let counts = self.counts(of);
        let to = if of.direct { &mut counts.direct_read } else { &mut counts.read };
        to.add(offset, bytes as u64);
        counts.untold += u64::from(offset + bytes as u64 <= hotset_sys::page_size());
    }

    pub(super) fn opened_direct(&mut self, of: &Handle) {
        self.counts(of).direct += 1;
    }

    /// Pages of so many bytes may have been read, of which it is not told whether from the device.
    pub(super) fn untold(&mut self, of: &Handle, bytes: usize) {
        self.counts(of).untold += (bytes as u64).div_ceil(hotset_sys::page_size()) + 1;
    }

    pub(super) fn write(&mut self, of: &Handle, offset: u64, bytes: usize) {
        let counts = self.counts(of);
        let to = if of.direct { &mut counts.direct_write } else { &mut counts.write };
        to.add(offset, bytes as u64);
    }

    /// By a request whose result comes apart from the call.
    pub(super) fn read_later(&mut self, of: &Handle, offset: u64, bytes: usize) {
        self.read(of, offset, bytes);
        if of.direct {
            self.ring_direct.add(offset, bytes as u64);
        }
    }

    /// Whether it succeeded or not: hotset counts what the program asked for.
    pub(super) fn sync(&mut self, of: &Handle) {
        self.counts(of).syncs += 1;
    }

    pub(super) fn other_sync(&mut self) {
        self.other_syncs += 1;
    }

    pub(super) fn lookup(&mut self, failed: bool) {
        self.lookups += 1;
        self.failed_lookups += u64::from(failed);
    }

    pub(super) fn may_do(&mut self, operation: &'static str) {
        self.done.entry(operation).or_default();
    }

    pub(super) fn done(&mut self, operation: &'static str) {
        *self.done.entry(operation).or_default() += 1;
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (id, counts) in other.files {
            let sum = self.files.entry(id).or_default();
            sum.read.merge(counts.read);
            sum.write.merge(counts.write);
            sum.direct_read.merge(counts.direct_read);
            sum.direct_write.merge(counts.direct_write);
            sum.syncs += counts.syncs;
            sum.untold += counts.untold;
            sum.direct += counts.direct;
        }
        self.other_syncs += other.other_syncs;
        self.lookups += other.lookups;
        self.failed_lookups += other.failed_lookups;
        self.ring_direct.merge(other.ring_direct);
        for (name, times) in other.done {
            *self.done.entry(name).or_default() += times;
        }
    }

    /// Of this process.
    pub(super) fn books(self) -> Books {
        Books {
            pid: std::process::id(),
            files: self.files.into_iter().map(|(id, counts)| Line { id, counts }).collect(),
            other_syncs: self.other_syncs,
            lookups: self.lookups,
            failed_lookups: self.failed_lookups,
            done: self.done.into_iter().map(|(name, times)| (name.to_owned(), times)).collect(),
            device_read_bytes: 0,
            ring_direct_reads: self.ring_direct.calls,
            ring_direct_read_bytes: self.ring_direct.bytes,
            major_faults: 0,
        }
    }

    fn counts(&mut self, of: &Handle) -> &mut Counts {
        self.files.entry(of.id.clone()).or_default()
    }
}

fn pages_in(offset: u64, bytes: u64) -> u64 {
    let page = hotset_sys::page_size();
    if bytes == 0 { 0 } else { (offset + bytes - 1) / page - offset / page + 1 }
}
