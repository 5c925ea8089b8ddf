//! Reading a scattered set by several threads, and looking what came of it.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use hotset_facts::PageRange;

use super::{File, Piece, Reached, Scattered, cached_of};
use crate::cache::{Supervisor, cached_pages_in, fetch, hides_pages, open_quietly};

/// Files that a thread keeps open: in the order of a device, neighbours take turns.
const OPEN_FILES: usize = 16;

/// How long pages that were asked for are waited for while none of them arrives.
const STALLED: Duration = Duration::from_secs(2);
const SHORTEST_PAUSE: Duration = Duration::from_micros(500);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// A file of which not everything could be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its path.
    pub path: PathBuf,
    /// What happened first, for people.
    pub reason: String,
}

/// What reading came to.
#[derive(Debug, Default)]
pub struct Read {
    /// Pages that were asked for.
    pub fetched_pages: u64,
    /// Files that failed, each once.
    pub failures: Vec<Failure>,
    /// True where the supervisor allowed less than there was.
    pub stopped: bool,
}

impl Scattered {
    /// Asks for all that is missing, in order, by so many threads at a time. The supervisor is asked before each piece: less
    /// than all of it ends the reading.
    pub fn read(&self, threads: usize, supervisor: &impl Supervisor) -> Read {
        let job = Job {
            set: self,
            next: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            fetched: AtomicU64::new(0),
            failures: Mutex::new(Vec::new()),
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.clamp(1, self.pieces.len().max(1)) {
                scope.spawn(|| job.work(supervisor));
            }
            job.work(supervisor);
        });
        let mut failures =
            job.failures.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        failures.sort_by_key(|(file, _)| *file);
        failures.dedup_by_key(|(file, _)| *file);
        let named = |(file, reason): (u32, String)| Failure {
            path: self.files[file as usize].path.clone(),
            reason,
        };
        Read {
            fetched_pages: job.fetched.into_inner(),
            failures: failures.into_iter().map(named).collect(),
            stopped: job.stopped.into_inner(),
        }
    }

    /// Waits for what is being read in, and counts what is cached and up to date of each file's ranges, by so many threads.
    pub fn verify(&self, threads: usize) -> Reached {
        let (next, cached, unknown) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let work = || {
            while let Some(file) = self.files.get(next.fetch_add(1, Ordering::Relaxed)) {
                let ranges = &self.ranges[file.ranges.clone()];
                match reached_in(file, ranges) {
                    Some(pages) => cached.fetch_add(pages, Ordering::Relaxed),
                    None => unknown.fetch_add(pages(ranges), Ordering::Relaxed),
                };
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.clamp(1, self.files.len().max(1)) {
                scope.spawn(work);
            }
            work();
        });
        Reached { cached: cached.into_inner(), unknown: unknown.into_inner() }
    }
}

/// Nothing where nobody tells.
fn reached_in(file: &File, ranges: &[PageRange]) -> Option<u64> {
    let Some((fd, size_bytes)) = reopen(file).ok() else {
        // Gone or replaced: whatever is cached, it is not this file's.
        return Some(0);
    };
    let (mut rest, mut done) = (ranges, 0);
    let mut counted = cached_of(fd.as_fd(), size_bytes, rest).ok()?;
    let (mut moved, mut pause) = (Instant::now(), SHORTEST_PAUSE);
    loop {
        let is_short = |(range, cached): (&PageRange, &u64)| *cached < range.count;
        let Some(first) = rest.iter().zip(&counted.each).position(is_short) else {
            return Some(done + pages(rest));
        };
        let last = rest.iter().zip(&counted.each).rposition(is_short).unwrap_or(first);
        let have: u64 = counted.each[first..=last].iter().sum();
        done += counted.each.iter().sum::<u64>() - have;
        rest = &rest[first..=last];
        let page = crate::page_size();
        let span = rest[rest.len() - 1].end() - rest[0].first;
        // Where nobody tells what was asked for, it can only be waited for.
        let asked = if hides_pages(&fd) {
            u64::MAX
        } else {
            cached_pages_in(&fd, rest[0].first * page, span * page).unwrap_or(0)
        };
        counted = cached_of(fd.as_fd(), size_bytes, rest).ok()?;
        // What is in the cache and not up to date is still being read, or failed to be.
        let now: u64 = counted.each.iter().sum();
        if asked <= counted.all || moved.elapsed() > STALLED {
            return Some(done + now);
        }
        if now > have {
            (moved, pause) = (Instant::now(), SHORTEST_PAUSE);
        }
        sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn pages(ranges: &[PageRange]) -> u64 {
    ranges.iter().map(|range| range.count).sum()
}

struct Job<'a> {
    set: &'a Scattered,
    next: AtomicUsize,
    stopped: AtomicBool,
    fetched: AtomicU64,
    failures: Mutex<Vec<(u32, String)>>,
}

impl Job<'_> {
    fn work(&self, supervisor: &impl Supervisor) {
        let mut open: Vec<(u32, OwnedFd)> = Vec::with_capacity(OPEN_FILES);
        while !self.stopped.load(Ordering::Relaxed) {
            let Some(piece) = self.set.pieces.get(self.next.fetch_add(1, Ordering::Relaxed)) else {
                return;
            };
            let bytes = piece.range.count.saturating_mul(crate::page_size());
            if supervisor.grant(bytes) < bytes {
                self.stopped.store(true, Ordering::Relaxed);
                return;
            }
            match self.piece(piece, &mut open) {
                Ok(()) => {
                    self.fetched.fetch_add(piece.range.count, Ordering::Relaxed);
                    supervisor.done(bytes);
                }
                Err(reason) => self.fail(piece.file, reason),
            }
        }
    }

    fn piece(&self, piece: &Piece, open: &mut Vec<(u32, OwnedFd)>) -> Result<(), String> {
        if let Some(at) = open.iter().position(|(file, _)| *file == piece.file) {
            // The one that was used last is the last to be closed.
            let used = open.remove(at);
            open.push(used);
        } else {
            let (fd, _) = reopen(&self.set.files[piece.file as usize])?;
            if open.len() == OPEN_FILES {
                open.remove(0);
            }
            open.push((piece.file, fd));
        }
        let Some((_, fd)) = open.last() else { return Ok(()) };
        fetch(fd, piece.range).map_err(|error| error.to_string())
    }

    fn fail(&self, file: u32, reason: String) {
        let mut failures = self.failures.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        // The same file fails in row after row.
        if failures.last().is_none_or(|(last, _)| *last != file) {
            failures.push((file, reason));
        }
    }
}

/// The file that was added, and its size; not another that has its name by now.
fn reopen(file: &File) -> Result<(OwnedFd, u64), String> {
    let path: &Path = &file.path;
    let (fd, stat) = open_quietly(path).map_err(|error| error.to_string())?;
    if crate::file_id(&stat) != file.id {
        return Err(format!("{}: replaced by another file meanwhile", path.display()));
    }
    // Of a block device it is only asked whether anything at all is cached.
    let size = u64::try_from(stat.st_size).ok().filter(|&size| size > 0).unwrap_or(i64::MAX as u64);
    Ok((fd, size))
}
