//! What a run from a cold state has to read itself.

use hotset_facts::{BenchRun, FileSet};

use super::{Usual, new_pages};

/// How the files of a command are stored.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stored {
    hole_bytes: u64,
    may_be_compressed: bool,
}

impl Stored {
    pub(super) fn of(set: &FileSet) -> Self {
        Self {
            hole_bytes: set.members.iter().map(|member| member.hole_bytes).sum(),
            may_be_compressed: set.members.iter().any(|member| member.may_be_compressed),
        }
    }

    /// What a run from a cold state reads from the device at least: its new pages without holes. The size of compressed data
    /// is not known; there it is what most runs of the same condition read, and at least one byte. Not the most that one
    /// read: that one may have read tables of the file system too, which stay cached.
    pub(super) fn needed_bytes(self, run: &BenchRun, usual: &Usual, page_size: u64) -> u64 {
        let new_bytes = new_pages(run).unwrap_or(0).saturating_mul(page_size);
        let data_bytes = new_bytes.saturating_sub(self.hole_bytes);
        if self.may_be_compressed { data_bytes.min(usual.device_bytes.max(1)) } else { data_bytes }
    }
}
