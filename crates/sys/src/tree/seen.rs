//! The files and directories that must not be met twice.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use hotset_facts::FileId;

/// Parts with a lock each, so that threads rarely wait, and so that a table that grows is copied in small steps.
const PARTS: usize = 64;

/// A set of identities that threads share: 17 to 35 bytes for each.
pub(super) struct Seen {
    parts: Vec<Mutex<HashSet<FileId>>>,
}

impl Seen {
    pub(super) fn new() -> Self {
        Self { parts: (0..PARTS).map(|_| Mutex::default()).collect() }
    }

    /// True for the first to say so.
    pub(super) fn is_new(&self, id: FileId) -> bool {
        // Inodes are handed out in runs.
        let part = (id.ino ^ (id.ino >> 6)) as usize % PARTS;
        self.parts[part].lock().unwrap_or_else(PoisonError::into_inner).insert(id)
    }
}
