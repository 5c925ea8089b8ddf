//! The page cache of one file: the only module here that talks to `hotset_sys::cache`.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use hotset_facts::{Dev, FileId, PageRange, Percent, Unevictable};
use hotset_sys::cache::{
    ByteSpan, Dirty, cachestat, evict_span, fetch, hides_pages, open_quietly, residency, settle,
    visit_ranges, warm_fd,
};
use hotset_sys::extents::{Stored, stored};
use rustix::fs::{Advice, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// An open file. Errors of its functions are phrases for people that name the file.
pub(crate) struct OpenFile<'a> {
    pub(crate) path: &'a Path,
    fd: OwnedFd,
    pub(crate) id: FileId,
    pub(crate) size_bytes: u64,
    pub(crate) mtime_ns: i64,
}

thread_local! {
    static LAST_DEVICE: Cell<Option<(Dev, bool)>> = const { Cell::new(None) };
}

/// Which pages of a file are wanted: this many of a hundred, spread evenly over the set, so that files of one page have
/// their share too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) percent: Percent,
    /// Pages of the files before this one.
    pub(crate) pages_before: u64,
}

/// What an eviction left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) pages: u64,
    /// The kernel's first reason for it.
    pub(crate) reason: Unevictable,
}

impl Left {
    fn unexplained(pages: u64) -> Self {
        Self { pages, reason: Unevictable::Unknown }
    }
}

impl<'a> OpenFile<'a> {
    /// Opens what may be anything, and refuses what is no file.
    pub(crate) fn open(path: &'a Path) -> Result<Self, String> {
        let (fd, stat) = open_quietly(path).map_err(|error| error.to_string())?;
        Ok(Self::of(path, fd, &stat))
    }

    /// Opens what was a file before, with as few calls as can be: this is done for each file before each run.
    pub(crate) fn open_again(path: &'a Path) -> Result<Self, String> {
        Self::open_in(rustix::fs::CWD, path)
    }

    /// The same for a path below a directory.
    pub(crate) fn open_in(directory: BorrowedFd<'_>, path: &'a Path) -> Result<Self, String> {
        let failed = |errno: Errno| format!("{}: open failed: {errno}", path.display());
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let open = |flags| rustix::fs::openat(directory, path, flags, Mode::empty());
        let fd = match open(flags | OFlags::NOATIME) {
            // Only the owner may ask for NOATIME.
            Err(Errno::PERM) => open(flags),
            result => result,
        };
        let fd = fd.map_err(failed)?;
        let stat = rustix::fs::fstat(&fd).map_err(failed)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(format!("{}: is no regular file any more", path.display()));
        }
        Ok(Self::of(path, fd, &stat))
    }

    fn of(path: &'a Path, fd: OwnedFd, stat: &Stat) -> Self {
        Self {
            path,
            fd,
            id: hotset_sys::file_id(stat),
            size_bytes: u64::try_from(stat.st_size).unwrap_or(0),
            mtime_ns: mtime_ns(stat),
        }
    }

    pub(crate) fn pages(&self) -> u64 {
        hotset_sys::pages_of(self.size_bytes)
    }

    pub(crate) fn stored(&self) -> Stored {
        stored(&self.fd, self.size_bytes)
    }

    /// Pages in the cache; those that are still being read in count.
    pub(crate) fn cached(&self) -> Result<u64, String> {
        match cachestat(&self.fd, 0, self.size_bytes) {
            Ok(answer) if answer.cached > 0 || self.size_bytes == 0 => Ok(answer.cached),
            Ok(_) if !self.hides_pages() => Ok(0),
            _ => residency(&self.fd)
                .map(|state| state.cached_pages)
                .map_err(|error| error.to_string()),
        }
    }

    /// The file system behind a device number stays the same, so it is asked for once a run of files.
    fn hides_pages(&self) -> bool {
        LAST_DEVICE.with(|last| match last.get() {
            Some((dev, hides)) if dev == self.id.dev => hides,
            _ => {
                let hides = hides_pages(&self.fd);
                last.set(Some((self.id.dev, hides)));
                hides
            }
        })
    }

    /// Pages in the cache that can be read at once.
    pub(crate) fn uptodate(&self) -> Result<u64, String> {
        let mut pages = 0;
        self.each_run(|run| pages += run.count)?;
        Ok(pages)
    }

    /// The same, where they are.
    pub(crate) fn uptodate_ranges(&self) -> Result<Vec<PageRange>, String> {
        let mut ranges = Vec::new();
        self.each_run(|run| ranges.push(run))?;
        Ok(ranges)
    }

    /// Takes its pages out of the cache, dirty ones after writing them back. More patience is spent only where more
    /// stays than is known to stay anyhow.
    pub(crate) fn evict(&self, known_to_stay: u64) -> Result<Left, String> {
        let before = cachestat(&self.fd, 0, self.size_bytes).unwrap_or_default();
        let dirty = before.dirty + before.writeback > 0;
        if !dirty {
            if before.cached == 0 && self.cached().is_ok_and(|cached| cached == 0) {
                return Ok(Left::unexplained(0));
            }
            rustix::fs::fadvise(&self.fd, 0, None, Advice::DontNeed)
                .map_err(|errno| self.failed("posix_fadvise", errno))?;
            let pages = self.cached()?;
            if pages <= known_to_stay {
                return Ok(Left::unexplained(pages));
            }
        }
        let how = if dirty { Dirty::Write } else { Dirty::Leave };
        let evicted = evict_span(&self.fd, self.path, ByteSpan::WHOLE, how)
            .map_err(|error| error.to_string())?;
        let reason = evicted.stayed.first().map_or(Unevictable::Unknown, |stayed| stayed.reason);
        match evicted.change.cached_after.value() {
            Some(pages) => Ok(Left { pages, reason }),
            None => Err(format!("{}: what is cached is not told", self.path.display())),
        }
    }

    /// Brings in what is missing.
    pub(crate) fn warm(&self) -> Result<(), String> {
        if self.uptodate().is_ok_and(|pages| pages == self.pages()) {
            return Ok(());
        }
        warm_fd(&self.fd).map(|_| ()).map_err(|error| error.to_string())
    }

    /// Leaves exactly the pages in the cache of the share, as far as the others can be evicted.
    pub(crate) fn share(&self, share: Share, known_to_stay: u64) -> Result<Left, String> {
        let nothing = Left::unexplained(known_to_stay);
        if self.wrong_pages(share)? == 0 {
            return Ok(nothing);
        }
        let left = self.evict(known_to_stay)?;
        // A page alone is asked for; read-ahead around it would bring its neighbours.
        rustix::fs::fadvise(&self.fd, 0, None, Advice::Random)
            .map_err(|errno| self.failed("posix_fadvise", errno))?;
        let mut page = 0;
        while let Some(run) = share.next_run(page, self.pages()) {
            fetch(&self.fd, run).map_err(|error| error.to_string())?;
            page = run.end();
        }
        let whole = PageRange { first: 0, count: self.pages() };
        settle(&self.fd, whole).map_err(|error| error.to_string())?;
        Ok(left)
    }

    /// Pages that are cached and not wanted, or wanted and not cached.
    pub(crate) fn wrong_pages(&self, share: Share) -> Result<u64, String> {
        let (mut at, mut wrong) = (0, 0);
        self.each_run(|run| {
            wrong += share.wanted_in(at, run.first);
            wrong += run.count - share.wanted_in(run.first, run.end());
            at = run.end();
        })?;
        Ok(wrong + share.wanted_in(at, self.pages()))
    }

    /// Asks for the pages of these ranges, and waits until they are there.
    pub(crate) fn fetch(&self, ranges: &[PageRange]) -> Result<(), String> {
        let Some((first, last)) = ranges.first().zip(ranges.last()) else { return Ok(()) };
        for range in ranges {
            fetch(&self.fd, *range).map_err(|error| error.to_string())?;
        }
        let span = PageRange { first: first.first, count: last.end() - first.first };
        settle(&self.fd, span).map(drop).map_err(|error| error.to_string())
    }

    /// Pages of these ranges that are not cached, and pages beside them that are. The ranges are in order.
    pub(crate) fn compared(&self, ranges: &[PageRange]) -> Result<(u64, u64), String> {
        let mut missing: u64 = ranges.iter().map(|range| range.count).sum();
        let (mut beside, mut from) = (0, 0);
        self.each_run(|run| {
            while ranges.get(from).is_some_and(|range: &PageRange| range.end() <= run.first) {
                from += 1;
            }
            let both = ranges.iter().skip(from).take_while(|range| range.first < run.end());
            let shared = |range: &PageRange| {
                range.end().min(run.end()).saturating_sub(range.first.max(run.first))
            };
            let shared: u64 = both.map(shared).sum();
            missing -= shared;
            beside += run.count - shared;
        })?;
        Ok((missing, beside))
    }

    fn each_run(&self, mut visit: impl FnMut(PageRange)) -> Result<(), String> {
        let whole = PageRange { first: 0, count: self.pages() };
        visit_ranges(&self.fd, whole, |run| {
            visit(run);
            ControlFlow::Continue(())
        })
        .map_err(|error| error.to_string())
    }

    fn failed(&self, call: &str, errno: Errno) -> String {
        format!("{}: {call} failed: {errno}", self.path.display())
    }
}

/// The time of last change in nanoseconds since 1970.
pub(crate) fn mtime_ns(stat: &Stat) -> i64 {
    #[allow(clippy::unnecessary_cast, reason = "the type depends on the architecture")]
    (stat.st_mtime as i64).saturating_mul(1_000_000_000).saturating_add(stat.st_mtime_nsec as i64)
}

impl Share {
    fn is_wanted(self, page: u64) -> bool {
        self.wanted_before(page + 1) > self.wanted_before(page)
    }

    /// Wanted pages of the set before this page of the file.
    fn wanted_before(self, page: u64) -> u64 {
        let page = self.pages_before + page;
        let percent = u64::from(self.percent.get());
        // Split, so that no size overflows.
        page / 100 * percent + page % 100 * percent / 100
    }

    /// Wanted pages from `first` to before `end`.
    pub(crate) fn wanted_in(self, first: u64, end: u64) -> u64 {
        self.wanted_before(end).saturating_sub(self.wanted_before(first))
    }

    /// The first run of wanted pages at or after `from`.
    fn next_run(self, from: u64, pages: u64) -> Option<PageRange> {
        let first = (from..pages).find(|&page| self.is_wanted(page))?;
        let end = (first..pages).find(|&page| !self.is_wanted(page)).unwrap_or(pages);
        Some(PageRange { first, count: end - first })
    }
}

#[cfg(test)]
mod tests {
    use hotset_tests::undisturbed;

    use super::*;
    use crate::test_support::{Scratch, quiet, resident_pages};

    fn share(percent: u8, pages_before: u64) -> Share {
        Share { percent: Percent::new(percent).expect("1 to 99"), pages_before }
    }

    #[test]
    fn a_share_is_spread_evenly_and_its_runs_cover_it() {
        for percent in [1, 7, 33, 50, 66, 99] {
            let share = share(percent, u64::from(percent));
            let wanted: Vec<u64> = (0..1000).filter(|&page| share.is_wanted(page)).collect();
            assert_eq!(wanted.len() as u64, 10 * u64::from(percent));
            let mut by_runs = Vec::new();
            let mut from = 0;
            while let Some(run) = share.next_run(from, 1000) {
                by_runs.extend(run.first..run.end());
                from = run.end();
            }
            assert_eq!(by_runs, wanted);
        }
        assert!((0..10).all(|page| share(50, 0).is_wanted(page) == (page % 2 == 1)));
        let files_of_one_page = (0..100).filter(|&before| share(30, before).is_wanted(0));
        assert_eq!(files_of_one_page.count(), 30);
    }

    #[test]
    fn each_state_is_what_mincore_says_to_another_program() {
        let _quiet = quiet();
        let scratch = Scratch::new();
        let path = scratch.pages("file", 777);
        let file = OpenFile::open(&path).expect("open");
        assert_eq!(file.evict(0).expect("evict"), Left::unexplained(0));
        assert_eq!(resident_pages(&path), vec![false; 777]);
        undisturbed(&[&path], || {
            file.warm().expect("warm");
            assert_eq!(resident_pages(&path), vec![true; 777]);
        });
        for share in [share(50, 0), share(10, 33), share(90, 5)] {
            let wanted: Vec<bool> = (0..777).map(|page| share.is_wanted(page)).collect();
            undisturbed(&[&path], || {
                file.share(share, 0).expect("share");
                assert_eq!(resident_pages(&path), wanted, "{share:?}");
                assert_eq!(file.wrong_pages(share), Ok(0), "{share:?}");
            });
        }
        assert!(file.wrong_pages(share(50, 0)).is_ok_and(|wrong| wrong > 300));
    }

    #[test]
    fn dirty_pages_are_written_back_first() {
        let scratch = Scratch::new();
        let path = scratch.file("dirty", &vec![1; 40_000]);
        let file = OpenFile::open(&path).expect("open");
        assert_eq!(file.evict(0).expect("evict").pages, 0);
        assert_eq!(std::fs::read(&path).expect("read"), vec![1; 40_000]);
    }
}
