//! File systems whose files keep their pages elsewhere.
//!
//! A file of overlayfs is a handle on a file of one of its layers, which holds the pages. cachestat(2) asks the handle,
//! and answers 0 (seen on Linux 6.18); mincore(2) asks the mapping, which belongs to the layer's file, and is right. FUSE
//! has handles of that kind too, where it passes I/O through (Linux 6.9).

use std::os::fd::AsFd;

use hotset_facts::PageRange;
use rustix::io::Errno;

use super::ranges::byte_range;
use super::raw::{CacheStat, cachestat};

/// `OVERLAYFS_SUPER_MAGIC` of <linux/magic.h>.
const OVERLAYFS: u64 = 0x794c_7630;
/// `FUSE_SUPER_MAGIC`.
const FUSE: u64 = 0x6573_5546;

/// `TMPFS_MAGIC`, `RAMFS_MAGIC` and `HUGETLBFS_MAGIC`.
const IN_MEMORY: [u64; 3] = [0x0102_1994, 0x8584_58f6, 0x9584_58f6];

/// True where the cache is all that holds a file's bytes, so that nothing of it can be evicted.
pub fn is_in_memory(fd: impl AsFd) -> bool {
    #[allow(clippy::unnecessary_cast, reason = "the type depends on the architecture")]
    rustix::fs::fstatfs(fd).is_ok_and(|fs| IN_MEMORY.contains(&(fs.f_type as u64 & 0xffff_ffff)))
}

/// True where an answer of 0 by cachestat(2) says nothing about this file.
pub fn hides_pages(fd: impl AsFd) -> bool {
    #[allow(clippy::unnecessary_cast, reason = "the type depends on the architecture")]
    rustix::fs::fstatfs(fd).is_ok_and(|fs| matches!(fs.f_type as u64, OVERLAYFS | FUSE))
}

/// [`cachestat`], failing with `NOSYS`, as a kernel without the call does, where its answer says nothing about this file.
pub(super) fn cachestat_if_seen(fd: impl AsFd, offset: u64, len: u64) -> Result<CacheStat, Errno> {
    let answer = cachestat(&fd, offset, len)?;
    if answer.cached == 0 && len > 0 && hides_pages(&fd) { Err(Errno::NOSYS) } else { Ok(answer) }
}

/// Pages of `range` that are in the cache or being read into it, by cachestat(2) alone.
///
/// # Errors
/// Where that doesn't tell: before Linux 6.5, to another than the file's owner, and where another inode has the pages.
pub fn seen_pages(fd: impl AsFd, range: PageRange) -> Result<u64, Errno> {
    let (offset, len) = byte_range(range);
    cachestat_if_seen(fd, offset, len).map(|answer| answer.cached)
}
