//! What changing a file's cache state reached, and why it failed.

use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

use hotset_facts::{Observed, PageRange};
use rustix::fs::Stat;
use rustix::io::Errno;

use super::open::require_cacheable;
use super::ranges::byte_range;
use super::raw::cachestat;
use super::residency::{ResidencyCause, ResidencyError, size_of};
use super::stacked::hides_pages;

/// Why the cache state of a file could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// It can't be opened or asked about.
    #[error(transparent)]
    File(#[from] ResidencyError),
    /// A system call failed.
    #[error("{}: {call} failed: {errno}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// The call's name.
        call: &'static str,
        /// The kernel's answer.
        errno: Errno,
    },
    /// It would be done to all of the host, from a container.
    #[error(
        "from a user namespace (container), this would drop the page cache of the whole host; {}",
        crate::userns::as_root()
    )]
    OfHost,
    /// Its cache is the host's, and this user is not root.
    #[error("cannot write to {} ({}); {}", .0.display(), .1, crate::userns::as_root())]
    NotRoot(&'static Path, Errno),
    /// A part of it can't be read.
    #[error("{}: reading at byte {offset} failed: {errno}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Where, in bytes from its start.
        offset: u64,
        /// The kernel's answer.
        errno: Errno,
    },
}

impl ControlError {
    pub(super) fn system(path: &Path, call: &'static str, errno: Errno) -> Self {
        Self::System { path: path.to_owned(), call, errno }
    }
}

/// What an attempt to warm or evict a file reached, in base pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheChange {
    /// Pages that the file spans, or the range of it that was asked for.
    pub pages: u64,
    /// Pages of these cached before; missing where the kernel doesn't tell this user.
    pub cached_before: Observed<u64>,
    /// Pages of these cached right after. For an eviction: those that stayed (mapped, locked, or held by someone).
    pub cached_after: Observed<u64>,
}

/// A part of a file in bytes. Whole pages are meant: those that it touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteSpan {
    /// The first byte.
    pub start: u64,
    /// The byte after the last one; what lies beyond the end of the file is left out.
    pub end: u64,
}

impl ByteSpan {
    /// The whole file, however large it gets.
    pub const WHOLE: Self = Self { start: 0, end: u64::MAX };

    /// The pages that it touches in a file of `size` bytes.
    pub fn pages(self, size: u64) -> PageRange {
        let first = self.start.min(size) / crate::page_size();
        let end = crate::pages_of(self.end.min(size));
        let count = if self.start < self.end.min(size) { end - first } else { 0 };
        PageRange { first, count }
    }
}

/// A file that is being changed.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) fd: BorrowedFd<'a>,
    pub(super) path: &'a Path,
    pub(super) span: ByteSpan,
}

impl Target<'_> {
    /// Fails for what has no page cache of its own.
    pub(super) fn stat(&self) -> Result<(Stat, u64), ResidencyError> {
        rustix::fs::fstat(self.fd)
            .map_err(|errno| ResidencyCause::System { call: "fstat", errno })
            .and_then(|stat| {
                require_cacheable(&stat)?;
                Ok((stat, size_of(self.fd, &stat)?))
            })
            .map_err(|cause| ResidencyError::new(self.path, cause))
    }

    /// Pages of `range` in the cache, those being read in included; by mincore(2) where cachestat(2) doesn't tell.
    pub(super) fn cached(&self, range: PageRange) -> Observed<u64> {
        let (offset, len) = byte_range(range);
        match cachestat(self.fd, offset, len) {
            Ok(answer) if answer.cached > 0 || range.count == 0 || !hides_pages(self.fd) => {
                Observed::Value(answer.cached)
            }
            _ => observed(super::fetch::uptodate_in(self.fd, range)),
        }
    }
}

pub(super) fn observed(answer: Result<u64, ResidencyError>) -> Observed<u64> {
    match answer {
        Ok(pages) => Observed::Value(pages),
        Err(error) => Observed::Missing(error.reason()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_covers_the_pages_that_it_touches() {
        let page = crate::page_size();
        let span = |start, end| ByteSpan { start, end }.pages(10 * page + 1);
        assert_eq!(span(0, 1), PageRange { first: 0, count: 1 });
        assert_eq!(span(page - 1, page + 1), PageRange { first: 0, count: 2 });
        assert_eq!(span(page, page).count, 0);
        assert_eq!(ByteSpan::WHOLE.pages(10 * page + 1), PageRange { first: 0, count: 11 });
        assert_eq!(span(20 * page, 30 * page).count, 0);
    }
}
