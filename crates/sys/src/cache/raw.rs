//! cachestat(2) and mincore(2) as the kernel offers them.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr;

use rustix::io::Errno;

use crate::mapping::{FileView, Mapping};

/// The same number on every architecture that Linux gave it to since 6.5, except alpha; libc lacks it on some of them.
const SYS_CACHESTAT: libc::c_long = 451;

/// mincore(2) answers a byte a page; a mapping of this size needs a vector of 256 KiB with 4 KiB pages.
const MINCORE_WINDOW_BYTES: u64 = 1 << 30;

/// `struct cachestat_range` of <linux/mman.h>.
#[repr(C)]
struct Range {
    offset: u64,
    len: u64,
}

/// `struct cachestat` of <linux/mman.h>: counts of base pages in the range that was asked for.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheStat {
    /// Pages in the cache, those still being read in included.
    pub cached: u64,
    /// Dirty pages.
    pub dirty: u64,
    /// Pages being written back.
    pub writeback: u64,
    /// Pages that were cached once and evicted.
    pub evicted: u64,
    /// Evicted pages whose return would count as a refault of the working set.
    pub recently_evicted: u64,
}

/// Asks cachestat(2) about `len` bytes at `offset`; a length of 0 asks for nothing and answers zeros.
///
/// Fails with `NOSYS` before Linux 6.5, and with `PERM` where the caller neither owns the file nor may write to it.
pub fn cachestat(fd: impl AsFd, offset: u64, len: u64) -> Result<CacheStat, Errno> {
    let mut answer = CacheStat::default();
    // The kernel takes 0 for "up to the end of the file".
    if len == 0 {
        return Ok(answer);
    }
    let range = Range { offset, len };
    // SAFETY: both structs have the kernel's layout and outlive the call, which writes to `answer` only.
    let result = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            fd.as_fd().as_raw_fd(),
            ptr::from_ref(&range),
            ptr::from_mut(&mut answer),
            0,
        )
    };
    if result == 0 { Ok(answer) } else { Err(last_errno()) }
}

/// Pages of the first `size` bytes that mincore(2) says are resident and up to date.
///
/// Only where the kernel tells the truth: see `residency::may_trust_mincore`.
pub(crate) fn mincore_resident_pages(fd: BorrowedFd<'_>, size: u64) -> Result<u64, Errno> {
    let mut answer = Vec::new();
    let mut resident = 0;
    for offset in (0..size).step_by(MINCORE_WINDOW_BYTES as usize) {
        let pages = crate::pages_of((size - offset).min(MINCORE_WINDOW_BYTES));
        resident += mincore_pages(fd, offset, pages, &mut answer)?;
    }
    Ok(resident)
}

/// A byte a page for `pages` pages from `offset` on, whose lowest bit says resident and up to date (the others are not
/// defined), and how many pages are.
pub(super) fn mincore_pages(
    fd: BorrowedFd<'_>,
    offset: u64,
    pages: u64,
    answer: &mut Vec<u8>,
) -> Result<u64, Errno> {
    answer.clear();
    answer.resize(usize::try_from(pages).map_err(|_| Errno::OVERFLOW)?, 0);
    if !answer.is_empty() {
        mincore_into(fd, offset, answer)?;
    }
    Ok(answer.iter().map(|byte| u64::from(byte & 1)).sum())
}

fn mincore_into(fd: BorrowedFd<'_>, offset: u64, answer: &mut [u8]) -> Result<(), Errno> {
    let len = (answer.len() as u64).saturating_mul(crate::page_size());
    let len = usize::try_from(len).map_err(|_| Errno::OVERFLOW)?;
    // Never dereferenced, so that a file that shrinks meanwhile can't hurt.
    let map = Mapping::of_file(fd, offset, len, FileView::default())?;
    // SAFETY: `map` spans `len` bytes and `answer` has a byte for each of its pages.
    let result = unsafe { libc::mincore(map.start().cast(), len, answer.as_mut_ptr()) };
    if result == 0 { Ok(()) } else { Err(last_errno()) }
}

pub(crate) fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}
