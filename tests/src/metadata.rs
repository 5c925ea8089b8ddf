//! Does a test read its file system's metadata from the device? The kernel charges a task for it as for the pages of files, so
//! that what the task read from the device is more than what it read of its files.

use std::fs::File;
use std::path::Path;

use crate::evictions::{devices_of, metadata_of};
use crate::tracepoints::{Tracepoint, of_this_thread, sum};

/// A folio comes into the page cache.
const CAME: Tracepoint = Tracepoint("filemap", "mm_filemap_add_to_page_cache");

/// Counts what the calling thread, and what it starts, reads of metadata, from when it is made: pages of the block devices that
/// have the files. ext4 has its metadata there, and others may evict it.
pub struct MetadataReads(Vec<File>);

impl MetadataReads {
    /// On the file systems of these files, as far as they exist.
    pub fn beside<P: AsRef<Path>>(files: &[P]) -> Self {
        let filters = devices_of(files).into_iter().map(metadata_of);
        Self(filters.map(|filter| of_this_thread(CAME, &filter)).collect())
    }

    /// It read none.
    pub fn none(&self) -> bool {
        sum(&self.0) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystems::{FileSystem, Kind};
    use crate::state::until;

    #[test]
    fn metadata_that_is_not_cached_is_read() {
        let mut system = FileSystem::new(Kind::Ext4);
        let dir = system.path("d");
        std::fs::create_dir(&dir).expect("mkdir");
        let beside = MetadataReads::beside(&["/proc"]);
        system.mount_again();
        let read = MetadataReads::beside(&[&dir]);
        assert_eq!(std::fs::read_dir(&dir).expect("a directory").count(), 0);
        assert!(!read.none());
        assert!(beside.none());
        until("nobody evicts it in between", || {
            let read = MetadataReads::beside(&[&dir]);
            assert_eq!(std::fs::read_dir(&dir).expect("a directory").count(), 0);
            read.none().then_some(())
        });
    }
}
