//! Reading a file again and again: the cache, the buffer and the parsing that a read can come with.
//!
//! Between repetitions, outside of the timer, the state is set and looked at. A timed read opens the file, asks for its
//! size, gets the memory, reads, closes and gives the memory back, as a program does that reads a whole file.

mod memory;
mod once;
#[cfg(test)]
mod tests;
mod words;

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::OFlags;

use self::memory::Area;
use self::once::Calls;
pub use self::words::{BufferKind, CacheUse, What};
use super::open::{open, size};
use super::{Answer, Arguments, JobError, timed};
use crate::cache;

/// Turns the bytes of a document into something, and says how much that is: nothing may be optimised away. It may
/// change the bytes.
pub type Parse<'a> = &'a mut dyn FnMut(&mut [u8]) -> Result<u64, String>;

/// What is done, again and again.
struct Reread<'a> {
    path: &'a Path,
    what: What,
    cache: CacheUse,
    buffer: BufferKind,
    /// The file's size.
    bytes: u64,
}

/// Words: `file`, `count`, `what`, `cache`, `buffer`, and `sleep_ms` (0 where it isn't given) before each repetition but
/// the first. One repetition in the answer for each.
///
/// # Errors
/// Where a word is wrong, the file can't be read, is shorter than it says, or can't be parsed.
pub fn reread(arguments: &Arguments, parse: Parse<'_>) -> Result<Answer, JobError> {
    let path = arguments.path("file")?;
    let repetitions = arguments.repetitions()?;
    let held = open(&path, OFlags::empty())?;
    let job = Reread {
        path: &path,
        what: arguments.text("what")?.parse()?,
        cache: arguments.text("cache")?.parse()?,
        buffer: arguments.text("buffer")?.parse()?,
        bytes: size(&path, &held)?,
    };
    job.refuse()?;
    job.back_memory()?;
    let mut kept = job.kept(&held)?;
    let mut answer = Answer::default();
    let mut calls = Calls::default();
    let mut parsed = 0;
    for at in repetitions {
        let before = job.set_state(&held, at)?;
        let (did, mut repetition) = kept.repeat(&job, parse)?;
        repetition.cached_before_pages = before;
        repetition.pages = before.map(|_| crate::pages_of(job.bytes));
        answer.bytes += did.bytes;
        calls = calls.plus(did.calls);
        parsed = did.parsed;
        answer.push(repetition);
    }
    if job.what.parses() {
        answer.notes.insert("parsed".to_owned(), parsed);
    }
    Ok(answer.with_calls(calls.named()))
}

/// What repetitions take over from each other: memory, and the document.
struct Kept {
    area: Option<Area>,
    document: Vec<u8>,
}

impl Reread<'_> {
    /// What can't be meant together.
    fn refuse(&self) -> Result<(), JobError> {
        let mapped = matches!(self.buffer, BufferKind::Mmap | BufferKind::MmapPopulate);
        let refused = |why: &str| Err(JobError::Argument(why.to_owned()));
        match self.what {
            What::Read if mapped && self.cache == CacheUse::Direct => refused(
                "cache=direct: a mapping is of cached pages; expected buffer=fresh, reused or huge",
            ),
            What::Read => Ok(()),
            What::ReadParse | What::Touch | What::Release if mapped => {
                refused("buffer=: a mapping is for what=read only")
            }
            _ => Ok(()),
        }
    }

    /// Takes as much memory as a repetition will, touches it and gives it back. A virtual machine's host may back memory
    /// only when it is touched for the first time, at several times the cost of later. What the host takes back between
    /// this and the repetition is paid again.
    fn back_memory(&self) -> Result<(), JobError> {
        let cached = if self.cache == CacheUse::Warm { 0 } else { self.bytes };
        let mut area = self.area(self.bytes.saturating_add(cached))?;
        area.touch();
        Ok(())
    }

    fn area(&self, bytes: u64) -> Result<Area, JobError> {
        Area::new(bytes, self.buffer == BufferKind::Huge)
            .map_err(|error| JobError::call(self.path, "mmap of memory", error))
    }

    fn kept(&self, held: &OwnedFd) -> Result<Kept, JobError> {
        let mut area = None;
        if self.buffer == BufferKind::Reused {
            let mut made = self.area(self.bytes)?;
            made.touch();
            area = Some(made);
        }
        let mut document = Vec::new();
        if self.what == What::Parse {
            document.resize(usize::try_from(self.bytes).unwrap_or(usize::MAX), 0);
            once::fill(held.as_fd(), self.path, &mut document, self.bytes)?;
        }
        Ok(Kept { area, document })
    }

    /// Sets the state and says how many pages are cached now; nothing where no file is read.
    fn set_state(&self, held: &OwnedFd, at: u32) -> Result<Option<u64>, JobError> {
        if !self.what.reads() {
            return Ok(None);
        }
        let cached =
            |fd: &OwnedFd| cache::residency(fd).ok().map(|residency| residency.cached_pages);
        let failed = |error: cache::ControlError| JobError::wrong(self.path, error.to_string());
        let change = match self.cache {
            CacheUse::Warm => {
                let before = cached(held);
                if before == Some(crate::pages_of(self.bytes)) {
                    return Ok(before);
                }
                cache::warm_fd(held).map_err(failed)?
            }
            CacheUse::Kept if at > 0 => return Ok(cached(held)),
            CacheUse::Evicted | CacheUse::Direct | CacheUse::Kept => {
                cache::evict_fd(held).map_err(failed)?
            }
        };
        Ok(change.cached_after.value())
    }
}

impl Kept {
    fn repeat(
        &mut self,
        job: &Reread<'_>,
        parse: Parse<'_>,
    ) -> Result<(once::Did, super::Repetition), JobError> {
        match job.what {
            What::Read => timed(|| once::read(job, self.area.as_mut(), None)),
            What::ReadParse => timed(|| once::read(job, self.area.as_mut(), Some(parse))),
            What::Parse => {
                // A parser may change what it reads.
                let mut copy = self.document.clone();
                timed(|| once::parse_only(job, &mut copy, parse))
            }
            What::Touch => {
                let (area, repetition) = timed(|| {
                    let mut area = job.area(job.bytes)?;
                    area.touch();
                    Ok::<_, JobError>(area)
                })?;
                Ok((once::Did::memory(area.len()), repetition))
            }
            What::Release => {
                let mut area = job.area(job.bytes)?;
                area.touch();
                let len = area.len();
                timed(|| {
                    drop(area);
                    Ok(once::Did::memory(len))
                })
            }
            What::Zero => {
                let area = match self.area.as_mut() {
                    Some(area) => area,
                    None => self.area.insert(job.area(job.bytes)?),
                };
                area.touch();
                timed(|| {
                    area.zero();
                    Ok(once::Did::memory(area.len()))
                })
            }
        }
    }
}
