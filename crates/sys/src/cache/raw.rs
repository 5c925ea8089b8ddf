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

/// The largest folio of a file on x86-64, and what folios are aligned to: 2 MiB (`MAX_PAGECACHE_ORDER` of linux/pagemap.h).
const LARGEST_FOLIO_BYTES: u64 = 2 << 20;

/// Asks cachestat(2) about the pages of `len` bytes at `offset`; a length of 0 asks for nothing and answers zeros.
///
/// The kernel leaves pages out where a range begins in the middle of a large folio and another task is to have the CPU: it
/// pauses after that folio, and goes on as many pages too late as the range begins within it (`filemap_cachestat()` and
/// `xas_pause()`; up to one call in a thousand on a busy host). So such a range is the difference of two that begin where no folio
/// reaches across. Where pages come or go between both, each count still is at most the pages of the range.
///
/// Fails with `NOSYS` before Linux 6.5, and with `PERM` where the caller neither owns the file nor may write to it.
pub fn cachestat(fd: impl AsFd, offset: u64, len: u64) -> Result<CacheStat, Errno> {
    // The kernel takes 0 for "up to the end of the file".
    if len == 0 {
        return Ok(CacheStat::default());
    }
    let fd = fd.as_fd();
    let lead = offset % LARGEST_FOLIO_BYTES;
    let all = ask(fd, offset - lead, len.saturating_add(lead))?;
    let pages_before = lead / crate::page_size();
    if pages_before == 0 || all == CacheStat::default() {
        return Ok(all);
    }
    let before = ask(fd, offset - lead, pages_before * crate::page_size())?;
    Ok(all.without(before, crate::pages_of(len.saturating_add(lead)) - pages_before))
}

impl CacheStat {
    /// What is left of it, of so many pages.
    fn without(self, part: Self, pages: u64) -> Self {
        let rest = |all: u64, part: u64| all.saturating_sub(part).min(pages);
        Self {
            cached: rest(self.cached, part.cached),
            dirty: rest(self.dirty, part.dirty),
            writeback: rest(self.writeback, part.writeback),
            evicted: rest(self.evicted, part.evicted),
            recently_evicted: rest(self.recently_evicted, part.recently_evicted),
        }
    }
}

/// The system call. Short counts are to be expected of a range that begins in the middle of a folio.
fn ask(fd: BorrowedFd<'_>, offset: u64, len: u64) -> Result<CacheStat, Errno> {
    let mut answer = CacheStat::default();
    let range = Range { offset, len };
    // SAFETY: both structs have the kernel's layout and outlive the call, which writes to `answer` only.
    let result = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            fd.as_raw_fd(),
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::scope;

    use super::*;
    use crate::cache::Pin;
    use crate::test_support::ScratchFile;

    /// Enough for some to be interrupted beside threads that want the CPU.
    const QUESTIONS: u64 = 500_000;

    #[test]
    fn a_range_that_begins_within_a_folio_is_counted_whole_on_a_busy_host() {
        let page = crate::page_size();
        let file = ScratchFile::on_disk(&vec![7; 4 << 20]);
        crate::cache::evict(&file.path).expect("evict");
        // Nobody evicts what is locked, so each answer has to be the same.
        let (_pin, _) = Pin::new(&file.path, u64::MAX, &()).expect("pin");
        let ended = AtomicBool::new(false);
        let short = scope(|scope| {
            for _ in 0..2 * std::thread::available_parallelism().expect("CPUs").get() {
                scope.spawn(|| {
                    while !ended.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let asked = |index| {
                // From within the first folio of 512 pages into the second.
                let first = 501 + index % 11;
                cachestat(&file.file, first * page, 12 * page).expect("cachestat").cached
            };
            let short = (0..QUESTIONS).filter(|index| asked(*index) != 12).count();
            ended.store(true, Ordering::Relaxed);
            short
        });
        assert_eq!(short, 0, "of {QUESTIONS} answers");
    }

    #[test]
    fn a_range_is_counted_from_its_own_pages_on() {
        let page = crate::page_size();
        let file = ScratchFile::on_disk(&vec![7; 4 << 20]);
        crate::cache::evict(&file.path).expect("evict");
        let (_pin, _) = Pin::new(&file.path, u64::MAX, &()).expect("pin");
        let cached = |offset, len| cachestat(&file.file, offset, len).expect("cachestat").cached;
        assert_eq!(cached(0, 4 << 20), 1024);
        assert_eq!(cached(5 * page + 1, 1), 1);
        assert_eq!(cached(5 * page + 1, page), 2);
        assert_eq!(cached(1, page), 2);
        assert_eq!(cached(1023 * page, 1 << 20), 1);
        assert_eq!(cached(513 * page, u64::MAX >> 1), 511);
        assert_eq!(cached(700 * page, 0), 0);
    }
}
