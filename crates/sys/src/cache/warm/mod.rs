//! Bringing what is missing of a file into the cache, at the device's speed and in large folios.
//!
//! The file is taken in windows of a few MiB. One that is cached already costs one cachestat(2); in the others, the kernel
//! reads the pages that are missing and no others. Two threads keep the device busy where each reads block by block.

use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hotset_facts::{Observed, PageRange};

use super::control::{ByteSpan, CacheChange, ControlError, Target, observed};
use super::fetch::{fetch_bytes, settle, uptodate_in};
use super::open::{name_of_fd, open_quietly};
use super::populate::{self, BLOCK_BYTES, WINDOW_BYTES, Way};
use super::ranges::{byte_range, visit_ranges};
use super::raw::mincore_pages;
use super::residency::may_trust_mincore;

/// From this size on a second thread pays.
const SHARED_BYTES: u64 = 4 * WINDOW_BYTES;

/// A file that grows faster than it can be read is left after so many rounds.
const ROUNDS: u32 = 4;

/// Who watches over warming: allows it piece by piece, and hears how far it came.
pub trait Supervisor: Sync {
    /// How many of the next `bytes` may be fetched. Fewer than asked means: those, and then stop.
    fn grant(&self, bytes: u64) -> u64 {
        bytes
    }

    /// So many bytes were fetched, or asked for from the device.
    fn done(&self, bytes: u64) {
        let _ = bytes;
    }
}

/// Nobody watches.
impl Supervisor for () {}

/// What warming a file reached.
#[derive(Debug)]
pub struct Warmed {
    /// The pages of the range, before and after; after, only what is up to date counts.
    pub change: CacheChange,
    /// The file's size in bytes when all was done.
    pub size_bytes: u64,
    /// Bytes fetched from the device, in whole pages.
    pub fetched_bytes: u64,
    /// True where the supervisor allowed less than was missing.
    pub stopped: bool,
    /// The first failure; the rest of the file was fetched all the same.
    pub error: Option<ControlError>,
}

/// Fetches what is missing of the file at `path`, and counts the pages that are there and up to date.
///
/// # Errors
/// Where it can't be opened, is nothing that is cached, or can't be read.
pub fn warm(path: &Path) -> Result<CacheChange, ControlError> {
    let (fd, _) = open_quietly(path)?;
    whole(warm_span(&fd, path, ByteSpan::WHOLE, &()))
}

/// The same for an open file, whose position stays where it is.
///
/// # Errors
/// As [`warm`].
pub fn warm_fd(fd: impl AsFd) -> Result<CacheChange, ControlError> {
    let fd = fd.as_fd();
    whole(warm_span(fd, &name_of_fd(fd), ByteSpan::WHOLE, &()))
}

fn whole(warmed: Result<Warmed, ControlError>) -> Result<CacheChange, ControlError> {
    warmed.and_then(|warmed| warmed.error.map_or(Ok(warmed.change), Err))
}

/// Fetches what is missing of a part of an open file; `path` is its name in messages. A file that grows meanwhile is followed
/// for a while; one that shrinks has fewer pages.
///
/// # Errors
/// Where it is nothing that is cached. What can't be read is [`Warmed::error`].
pub fn warm_span(
    fd: impl AsFd,
    path: &Path,
    span: ByteSpan,
    supervisor: &dyn Supervisor,
) -> Result<Warmed, ControlError> {
    let target = Target { fd: fd.as_fd(), path, span };
    let (stat, mut size) = target.stat()?;
    let cached_before = target.cached(span.pages(size));
    let job = Job {
        target,
        dev: stat.st_dev,
        trusted: may_trust_mincore(target.fd, &stat),
        supervisor,
        next: AtomicU64::new(0),
        fetched: AtomicU64::new(0),
        seen: AtomicU64::new(0),
        stopped: AtomicBool::new(false),
        error: Mutex::new(None),
    };
    let mut done_to = 0;
    let mut rounds = 0;
    while rounds < ROUNDS {
        rounds += 1;
        job.round(done_to, size);
        done_to = size;
        size = target.stat()?.1;
        if size <= done_to || span.end <= done_to || job.stopped.load(Ordering::Relaxed) {
            break;
        }
    }
    let pages = span.pages(size);
    // A page at the edge of two rounds was counted twice.
    let cached_after = if rounds == 1 && job.saw_all(pages) {
        Observed::Value(pages.count)
    } else {
        job.verify(pages)
    };
    let Job { fetched, stopped, error, .. } = job;
    Ok(Warmed {
        change: CacheChange { pages: pages.count, cached_before, cached_after },
        size_bytes: size,
        fetched_bytes: fetched.into_inner(),
        stopped: stopped.into_inner(),
        error: error.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner),
    })
}

struct Job<'a> {
    target: Target<'a>,
    dev: u64,
    supervisor: &'a dyn Supervisor,
    /// Where the next window begins, in bytes.
    next: AtomicU64,
    fetched: AtomicU64,
    /// Whether mincore(2) tells this user the truth about this file.
    trusted: bool,
    /// Pages that were seen up to date, each in its window.
    seen: AtomicU64,
    stopped: AtomicBool,
    error: Mutex<Option<ControlError>>,
}

impl Job<'_> {
    /// Fetches from `from` to the end of the file or of the span.
    fn round(&self, from: u64, size: u64) {
        let (first, len) = byte_range(self.target.span.pages(size));
        let (start, end) = (first.max(from - from % crate::page_size()), (first + len).min(size));
        self.next.store(start, Ordering::Relaxed);
        let work = || while self.step(end, size) {};
        // What was read so far shows how this file system is read best.
        while self.step(end, size) {
            let left = end.saturating_sub(self.next.load(Ordering::Relaxed));
            if left >= SHARED_BYTES && populate::known(self.dev) == Some(Way::Blocks) {
                return std::thread::scope(|scope| {
                    // Where there can't be another thread, one does it all.
                    let _ = std::thread::Builder::new().spawn_scoped(scope, work);
                    work();
                });
            }
        }
    }

    /// The next window; false when there is none, or no leave to fetch it.
    fn step(&self, end: u64, size: u64) -> bool {
        let take = |at: u64| (at < end).then(|| (at + 1).next_multiple_of(WINDOW_BYTES).min(end));
        let relaxed = Ordering::Relaxed;
        let Ok(start) = self.next.fetch_update(relaxed, relaxed, take) else { return false };
        if self.stopped.load(relaxed) {
            return false;
        }
        let window = (start, (start + 1).next_multiple_of(WINDOW_BYTES).min(end));
        let page = crate::page_size();
        let range = PageRange { first: start / page, count: crate::pages_of(window.1 - start) };
        // Where nobody tells, all of it may be missing.
        let cached = self.target.cached(range).value().unwrap_or(0);
        let missing = range.count.saturating_sub(cached) * page;
        if missing == 0 {
            self.look(range);
            return true;
        }
        let granted = self.supervisor.grant(missing).min(missing) / page * page;
        let fetched = if granted == missing {
            self.fetch(window, size, end == size).map(|()| missing)
        } else {
            self.stopped.store(true, relaxed);
            self.fetch_some(range, granted / page, size)
        };
        match fetched {
            Ok(bytes) => {
                self.look(range);
                self.fetched.fetch_add(bytes, relaxed);
                self.supervisor.done(bytes);
            }
            Err(error) => self.keep(error),
        }
        true
    }

    /// `to_the_end`: all that follows in the file is wanted too. Else only exact ways will do: a probe reads a whole block,
    /// and read(2) and most faults read ahead.
    fn fetch(
        &self,
        (start, end): (u64, u64),
        size: u64,
        to_the_end: bool,
    ) -> Result<(), ControlError> {
        let fd = self.target.fd;
        let path = || self.target.path.to_owned();
        if !to_the_end {
            return fetch_bytes(fd, start, end, size, self.dev, &path);
        }
        let block = start.next_multiple_of(BLOCK_BYTES);
        match populate::way_for(fd, self.dev, block, size) {
            Way::Blocks => fetch_bytes(fd, start, end, size, self.dev, &path),
            way => populate::window(fd, start, end - start, way, &path),
        }
    }

    /// The first `pages` of those that are missing in `range`.
    fn fetch_some(&self, range: PageRange, pages: u64, size: u64) -> Result<u64, ControlError> {
        if pages == 0 {
            return Ok(0);
        }
        let mut present = Vec::new();
        let told = visit_ranges(self.target.fd, range, |run| {
            present.push(run);
            std::ops::ControlFlow::Continue(())
        });
        if told.is_err() {
            // Where nobody tells, all of it may be missing.
            present.clear();
        }
        present.push(PageRange { first: range.end(), count: 0 });
        let path = || self.target.path.to_owned();
        let (mut at, mut left) = (range.first, pages);
        for run in present {
            let missing = PageRange { first: at, count: left.min(run.first - at) };
            let (start, len) = byte_range(missing);
            let end = (start + len).min(size);
            fetch_bytes(self.target.fd, start, end, size, self.dev, &path)?;
            left -= missing.count;
            at = run.end();
        }
        Ok((pages - left) * crate::page_size())
    }

    /// Counts what is up to date in a window, while the other thread waits for the device.
    fn look(&self, range: PageRange) {
        let mut answer = Vec::new();
        let (offset, _) = byte_range(range);
        if self.trusted
            && let Ok(uptodate) = mincore_pages(self.target.fd, offset, range.count, &mut answer)
        {
            self.seen.fetch_add(uptodate, Ordering::Relaxed);
        }
    }

    /// Every page was seen up to date, and all are in the cache still: then nothing has to be waited for.
    fn saw_all(&self, pages: PageRange) -> bool {
        self.seen.load(Ordering::Relaxed) == pages.count
            && self.target.cached(pages) == Observed::Value(pages.count)
    }

    /// Counts what is up to date, and reads a page that should be and is not: that says why.
    fn verify(&self, pages: PageRange) -> Observed<u64> {
        let fd = self.target.fd;
        let answer = settle(fd, pages);
        let short = answer.as_ref().is_ok_and(|uptodate| *uptodate < pages.count);
        if !short || self.stopped.load(Ordering::Relaxed) {
            return observed(answer);
        }
        let mut first_missing = pages.first;
        let _ = visit_ranges(fd, pages, |run| {
            if run.first == first_missing {
                first_missing = run.end();
            }
            std::ops::ControlFlow::Break(())
        });
        let offset = first_missing * crate::page_size();
        match rustix::io::pread(fd, &mut [0_u8; 1], offset) {
            Ok(_) => observed(uptodate_in(fd, pages)),
            Err(errno) => {
                self.keep(ControlError::Read { path: self.target.path.to_owned(), offset, errno });
                observed(answer)
            }
        }
    }

    fn keep(&self, error: ControlError) {
        let mut first = self.error.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        first.get_or_insert(error);
    }
}

#[cfg(test)]
mod tests;
