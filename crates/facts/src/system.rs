//! What occupies the page cache of the whole machine.

use std::path::PathBuf;

use crate::{Dev, FileId, Observed, Pid, Reason, Residency, Unreadable};

/// Who told what is cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheSource {
    /// The kernel's own lists of superblocks and inodes: everything, whether anybody has it open or not.
    InodeList,
    /// A walk over the mounted file systems: what has a name there and may be asked about.
    Walk,
}

/// What kind of thing holds pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PageHolder {
    /// A regular file, shared memory included.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A block device: its pages are `Buffers`, and no part of `Cached`.
    BlockDevice,
    /// A file system's own inode: metadata, bitmaps, a journal.
    Internal,
}

/// Pages by what holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PagesByHolder {
    /// Regular files.
    pub regular: u64,
    /// Folders among the inodes.
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

/// What a file system's pages are to the kernel's own counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileSystemKind {
    /// Its pages are copies of what stands elsewhere, part of `Cached`.
    Ordinary,
    /// Its pages are the files (tmpfs, shared memory): `Shmem`, also a part of `Cached`.
    SharedMemory,
    /// Its inodes are the block devices: `Buffers`, no part of `Cached`.
    BlockDevices,
    /// Its pages are reserved huge pages: no part of `Cached`.
    HugePages,
}

/// One file system, mounted here, elsewhere or nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedFileSystem {
    /// Its device number, as /proc/self/mountinfo has it.
    pub dev: Dev,
    /// Its type, e.g. `ext4`.
    pub fs_type: String,
    /// What the kernel calls it: a device's name, or the type again.
    pub name: String,
    /// What its pages count as.
    pub kind: FileSystemKind,
    /// Where it is mounted, seen from here; `None` where it isn't: another mount namespace, a lazy unmount, or the
    /// kernel's own.
    pub mount_point: Option<PathBuf>,
    /// Inodes in memory, or files that a walk asked about.
    pub inodes: u64,
    /// Inodes among them with pages.
    pub cached_inodes: u64,
    /// Their pages.
    pub pages: PagesByHolder,
    /// Pages of regular files without a name, which something holds open.
    pub deleted_pages: u64,
    /// Those files.
    pub deleted_files: u64,
    /// Why these numbers are less than the whole, where they are.
    pub gap: Option<Reason>,
}

/// One file of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedFile {
    /// Its identity; the device is that of its file system.
    pub id: FileId,
    /// The place of its file system in [`SystemCache::file_systems`].
    pub file_system: usize,
    /// What it is.
    pub holder: PageHolder,
    /// The device's number, where it is a block device.
    pub device: Option<Dev>,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Its pages in the cache.
    pub cached_pages: u64,
    /// True where it has no name any more.
    pub deleted: bool,
    /// Its path as seen from here, its last one where it is deleted. Where its file system is not mounted here, the path
    /// within it.
    pub path: Observed<PathBuf>,
    /// Whether `path` leads to it from here: false where it is deleted, mounted over, or on a file system that is not
    /// mounted here.
    pub reachable: bool,
    /// What cachestat(2) adds to it, for those that could be opened.
    pub state: Observed<Residency>,
    /// Processes that hold it, where it is deleted and somebody looked.
    pub holders: Vec<Holder>,
}

/// A process that has a file open or mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its id.
    pub pid: Pid,
    /// The name of its program.
    pub name: String,
}

/// /proc/meminfo, as far as it is about the cache. In bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemCache {
    /// Who told it.
    pub source: CacheSource,
    /// Why the better source was not used, where it wasn't.
    pub fallback: Option<String>,
    /// Bytes of a page.
    pub page_size: u64,
    /// All file systems with pages, or with a gap.
    pub file_systems: Vec<CachedFileSystem>,
    /// The files with most pages, in no particular order.
    pub files: Vec<CachedFile>,
    /// Whether the list of file systems is whole, and if not why.
    pub gap: Option<Reason>,
    /// What could not be looked at, by name; only a walk has such.
    pub unreadable: Vec<Unreadable>,
    /// How many there were of these.
    pub unreadable_count: u64,
    /// Files whose state nobody may tell; only a walk has such.
    pub unknown_files: u64,
    /// True where it was stopped before its end.
    pub interrupted: bool,
    /// The kernel's counts right before.
    pub before: MemInfo,
    /// And right after.
    pub after: MemInfo,
}
