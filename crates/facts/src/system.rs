//! What occupies the page cache of the whole machine.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::format::{Mount, Path};
use crate::{Dev, FileId, Observed, Pid, Reason, Residency, Unreadable};

crate::words! {
    /// By which means the cache was looked at.
    pub enum CacheSource {
        /// The kernel's own lists of superblocks and inodes: everything, whether anybody has it open or not.
        InodeList = "inode_list",
        /// A walk over the mounted file systems: what has a name there and may be asked about.
        Walk = "walk",
    }
}

crate::words! {
    /// What kind of thing holds pages.
    pub enum PageHolder {
        /// A regular file, shared memory included.
        Regular = "regular",
        /// A directory.
        Directory = "directory",
        /// A symbolic link.
        Symlink = "symlink",
        /// A block device: its pages are `Buffers`, and no part of `Cached`.
        BlockDevice = "block_device",
        /// A file system's own inode: metadata, bitmaps, a journal.
        Internal = "internal",
    }
}

/// Pages by what holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PagesByHolder {
    /// Regular files.
    pub regular: u64,
    /// Directories: their entries.
    pub directories: u64,
    /// Symbolic links.
    pub symlinks: u64,
    /// Block devices.
    pub block_devices: u64,
    /// File systems' own inodes.
    pub internal: u64,
}

impl PagesByHolder {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.regular + self.directories + self.symlinks + self.block_devices + self.internal
    }
}

crate::words! {
    /// What a file system's pages are to the kernel's own counts.
    pub enum FileSystemKind {
        /// Its pages are copies of what stands elsewhere, part of `Cached`.
        Ordinary = "ordinary",
        /// Its pages are the files (tmpfs, shared memory): `Shmem`, also a part of `Cached`.
        SharedMemory = "shared_memory",
        /// Its inodes are the block devices: `Buffers`, no part of `Cached`.
        BlockDevices = "block_devices",
        /// Its pages are reserved huge pages: no part of `Cached`.
        HugePages = "huge_pages",
    }
}

/// One file system, mounted here, elsewhere or nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = crate::format::about("mount", "Where it is mounted, seen from here; null where it isn't: another mount namespace, a lazy unmount, or the kernel's own.")))]
pub struct CachedFileSystem {
    /// Its device number, as /proc/self/mountinfo has it.
    pub dev: Dev,
    /// Its type, e.g. `ext4`.
    #[serde(rename = "type")]
    pub fs_type: String,
    /// What the kernel calls it: a device's name, or the type again.
    pub name: String,
    /// What its pages count as.
    pub kind: FileSystemKind,
    /// Where it is mounted, seen from here; null where it isn't: another mount namespace, a lazy unmount, or the
    /// kernel's own.
    #[serde(flatten, with = "Mount::<Option<String>>")]
    pub mount_point: Option<PathBuf>,
    /// Inodes in memory, or files that a walk asked about.
    pub inodes: u64,
    /// Inodes among them with pages.
    pub cached_inodes: u64,
    /// Their pages.
    pub pages: PagesByHolder,
    /// Regular files without a name, which something holds open.
    pub deleted_files: u64,
    /// Their pages.
    pub deleted_pages: u64,
    /// Why these numbers are less than the whole; null where they are the whole.
    #[serde(deserialize_with = "crate::format::required")]
    pub gap: Option<Reason>,
}

/// One file of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = crate::format::about("path", "Its path as seen from here, its last one where it is deleted. Where its file system is not mounted here, the path within it.")))]
pub struct CachedFile {
    /// Its path as seen from here, its last one where it is deleted. Where its file system is not mounted here, the path
    /// within it.
    #[serde(flatten, with = "Path::<Observed<String>>")]
    pub path: Observed<PathBuf>,
    /// Whether `path` leads to it from here: false where it is deleted, mounted over, or on a file system that is not
    /// mounted here.
    pub reachable: bool,
    /// True where it has no name any more.
    pub deleted: bool,
    /// What it is.
    #[serde(rename = "kind")]
    pub holder: PageHolder,
    /// Its identity; the device is that of its file system.
    #[serde(flatten)]
    pub id: FileId,
    /// The place of its file system in [`SystemCache::file_systems`].
    #[serde(skip)]
    pub file_system: usize,
    /// The device's number where it is a block device, else null.
    #[serde(deserialize_with = "crate::format::required")]
    pub device: Option<Dev>,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Its pages in the cache.
    pub cached_pages: u64,
    /// What cachestat(2) adds to it, for those that could be opened.
    pub state: Observed<Residency>,
    /// Processes that hold it, where it is deleted and somebody looked.
    pub holders: Vec<Holder>,
    /// Whether some process has it mapped; none where only the kernel's list would tell.
    #[serde(skip)]
    pub mapped: Option<bool>,
}

/// A process that has a file open or mapped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Holder {
    /// Its PID.
    pub pid: Pid,
    /// The name of its program.
    pub name: String,
}

/// /proc/meminfo, as far as it is about the cache. In bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemInfo {
    /// Memory that the kernel manages.
    pub total_bytes: u64,
    /// Memory that nothing uses.
    pub free_bytes: u64,
    /// Pages of files, those of block devices and of the swap cache left out; shared memory is in it.
    pub cached_bytes: u64,
    /// Pages of block devices.
    pub buffers_bytes: u64,
    /// Shared memory and tmpfs.
    pub shmem_bytes: u64,
    /// Pages in the swap cache.
    pub swap_cached_bytes: u64,
    /// Waiting to be written back.
    pub dirty_bytes: u64,
    /// Being written back.
    pub writeback_bytes: u64,
    /// Mapped by processes.
    pub mapped_bytes: u64,
    /// Locked, or else not to be evicted.
    pub unevictable_bytes: u64,
}

/// What occupies the cache, and how much of it is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SystemCache {
    /// By which means the cache was looked at.
    pub source: CacheSource,
    /// Why the kernel's own lists were not used; null where they were.
    #[serde(rename = "fallback_reason", deserialize_with = "crate::format::required")]
    pub fallback: Option<String>,
    /// Bytes of a page.
    #[serde(rename = "page_size_bytes")]
    pub page_size: u64,
    /// All file systems with pages, or with a gap.
    #[serde(skip_serializing)]
    pub file_systems: Vec<CachedFileSystem>,
    /// The files with most pages, in no particular order.
    #[serde(skip_serializing)]
    pub files: Vec<CachedFile>,
    /// Why file systems are left out of `file_systems`; null where none is.
    #[serde(deserialize_with = "crate::format::required")]
    pub gap: Option<Reason>,
    /// What could not be looked at, by name; only a walk has such.
    pub unreadable: Vec<Unreadable>,
    /// How many there were of these.
    pub unreadable_count: u64,
    /// Files whose state nobody may tell; only a walk has such.
    pub unknown_files: u64,
    /// True where it was stopped before its end.
    pub interrupted: bool,
    /// /proc/meminfo right before.
    #[serde(rename = "meminfo_before")]
    pub before: MemInfo,
    /// /proc/meminfo right after.
    #[serde(rename = "meminfo_after")]
    pub after: MemInfo,
}
