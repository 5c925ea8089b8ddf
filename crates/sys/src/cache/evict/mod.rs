//! Taking a file out of the cache, and counting what stayed.

mod stayed;

use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use hotset_facts::{Observed, PageRange, Stayed};
use rustix::fs::Advice;
use rustix::io::Errno;

use super::control::{ByteSpan, CacheChange, ControlError, Target};
use super::open::{name_of_fd, open_quietly};
use super::ranges::byte_range;
use super::raw::CacheStat;
use super::stacked::{cachestat_if_seen, is_in_memory};
use crate::userns;

/// Pages that are locked for I/O survive FADV_DONTNEED, so eviction is tried again after these pauses.
const PAUSES: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(1), Duration::from_millis(5), Duration::from_millis(20)];

/// Where the kernel lets root drop all clean pages.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// What to do with dirty pages, which are never dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dirty {
    /// Leave them, and don't start to write them: FADV_DONTNEED would.
    Leave,
    /// Write them out first, by fdatasync(2).
    Write,
}

/// What evicting a file reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evicted {
    /// The pages of the range, before and after.
    pub change: CacheChange,
    /// The file's size in bytes.
    pub size_bytes: u64,
    /// The pages that stayed, by reason; those for which the kernel gives no reason come last.
    pub stayed: Vec<Stayed>,
}

/// Writes out what is dirty in the file at `path` and asks the kernel to forget its pages.
///
/// # Errors
/// Where it can't be opened, is nothing that is cached, or can't be written out.
pub fn evict(path: &Path) -> Result<CacheChange, ControlError> {
    let (fd, _) = open_quietly(path)?;
    evict_span(&fd, path, ByteSpan::WHOLE, Dirty::Write).map(|evicted| evicted.change)
}

/// The same for an open file.
///
/// # Errors
/// As [`evict`].
pub fn evict_fd(fd: impl AsFd) -> Result<CacheChange, ControlError> {
    let fd = fd.as_fd();
    evict_span(fd, &name_of_fd(fd), ByteSpan::WHOLE, Dirty::Write).map(|evicted| evicted.change)
}

/// Asks the kernel to forget the pages of a part of an open file; `path` is its name in messages. A large folio that reaches
/// over an edge of the part stays whole.
///
/// # Errors
/// Where it is nothing that is cached, or can't be written out.
pub fn evict_span(
    fd: impl AsFd,
    path: &Path,
    span: ByteSpan,
    dirty: Dirty,
) -> Result<Evicted, ControlError> {
    let target = Target { fd: fd.as_fd(), path, span };
    let (_, size) = target.stat()?;
    let pages = span.pages(size);
    let cached_before = target.cached(pages);
    if dirty == Dirty::Write {
        match rustix::fs::fdatasync(target.fd) {
            // Some file systems that are never written, as Squashfs, have nothing to write out, and say so.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(errno) => return Err(ControlError::system(path, "fdatasync", errno)),
        }
    }
    let mut left = CacheStat::default();
    let mut cached_after = cached_before;
    for pause in PAUSES {
        if cached_after == Observed::Value(0) || pages.count == 0 {
            break;
        }
        std::thread::sleep(pause);
        match dirty {
            Dirty::Write => target.forget(pages)?,
            Dirty::Leave => target.forget_clean(pages)?,
        }
        cached_after = target.cached(pages);
        // Where the kernel doesn't tell which pages are dirty, none is said to be.
        left = target.state(pages).unwrap_or_default();
        // What is dirty and left doesn't change by waiting.
        if dirty == Dirty::Leave && cached_after == Observed::Value(left.dirty) {
            break;
        }
    }
    Ok(Evicted {
        change: CacheChange { pages: pages.count, cached_before, cached_after },
        size_bytes: size,
        stayed: stayed::by_reason(left, cached_after, || is_in_memory(target.fd)),
    })
}

impl Target<'_> {
    fn state(&self, range: PageRange) -> Result<CacheStat, Errno> {
        let (offset, len) = byte_range(range);
        cachestat_if_seen(self.fd, offset, len)
    }

    fn forget(&self, range: PageRange) -> Result<(), ControlError> {
        let (offset, len) = byte_range(range);
        // A page that the range covers in part would stay: the length is in whole pages.
        rustix::fs::fadvise(self.fd, offset, std::num::NonZeroU64::new(len), Advice::DontNeed)
            .map_err(|errno| ControlError::system(self.path, "posix_fadvise", errno))
    }

    /// Everything but dirty pages, around which the range is halved: the advice starts to write what is dirty in its range.
    fn forget_clean(&self, range: PageRange) -> Result<(), ControlError> {
        match self.state(range) {
            Ok(state) if state.cached == 0 || state.dirty >= state.cached => Ok(()),
            Ok(state) if state.dirty > 0 && range.count > 1 => {
                let half = range.count.div_ceil(2);
                self.forget_clean(PageRange { first: range.first, count: half })?;
                let (first, count) = (range.first + half, range.count - half);
                self.forget_clean(PageRange { first, count })
            }
            // Where the kernel doesn't tell which are dirty, nobody can spare them.
            Ok(_) | Err(Errno::NOSYS | Errno::PERM) => self.forget(range),
            Err(errno) => Err(ControlError::system(self.path, "cachestat", errno)),
        }
    }
}

/// Drops all clean pages, directory entries and inodes of the whole host, after writing out what is dirty if asked.
///
/// # Errors
/// Root only; and not in a user namespace other than the host's, whose root may not mean the host, and may all the same.
pub fn drop_everything(write_dirty: bool) -> Result<(), ControlError> {
    may_drop_everything()?;
    if write_dirty {
        rustix::fs::sync();
    }
    std::fs::write(DROP_CACHES, "3\n").map_err(|error| {
        let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
        ControlError::system(Path::new(DROP_CACHES), "write", errno)
    })
}

/// Whether [`drop_everything`] would, without doing it.
///
/// # Errors
/// As there.
pub fn may_drop_everything() -> Result<(), ControlError> {
    if !userns::is_of_host() {
        return Err(ControlError::OfHost);
    }
    rustix::fs::access(DROP_CACHES, rustix::fs::Access::WRITE_OK)
        .map_err(|errno| ControlError::NotRoot(Path::new(DROP_CACHES), errno))
}

#[cfg(test)]
mod tests;
