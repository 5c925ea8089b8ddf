//! Roots that name the same thing, or lie below one another.

use std::collections::HashMap;
use std::path::PathBuf;

use hotset_facts::FileId;
use rustix::fs::FileType;

/// Roots that are compared with each other and with what is found below them. Beyond that only the files named as roots
/// are compared with each other, and hard links with everything.
pub const MAX_COMPARED_ROOTS: usize = 4096;

/// Which root a file or directory belongs to, if it is one itself.
#[derive(Default)]
pub(super) struct Roots {
    owners: HashMap<FileId, usize>,
    has_files: bool,
}

impl Roots {
    pub(super) fn new(roots: &[PathBuf]) -> Self {
        let mut all = Self::default();
        if roots.len() < 2 || roots.len() > MAX_COMPARED_ROOTS {
            return all;
        }
        for (index, root) in roots.iter().enumerate() {
            if let Ok(stat) = rustix::fs::stat(root) {
                all.owners.entry(crate::file_id(&stat)).or_insert(index);
                all.has_files |= FileType::from_raw_mode(stat.st_mode) != FileType::Directory;
            }
        }
        all
    }

    /// True where `id` belongs to another root than `root`.
    pub(super) fn owned_by_another(&self, id: FileId, root: usize) -> bool {
        !self.owners.is_empty() && self.owners.get(&id).is_some_and(|&owner| owner != root)
    }

    /// True where a file in a directory can be a root itself.
    pub(super) fn has_files(&self) -> bool {
        self.has_files
    }
}
