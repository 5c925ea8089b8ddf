//! Holding files in memory by mlock(2), for as long as a value lives.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use hotset_facts::{FileId, Followed, PageRange};
use rustix::fs::Stat;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::control::{ByteSpan, CacheChange, ControlError, Target, observed};
use super::fetch::settle;
use super::open::open_quietly;
use super::warm::{Supervisor, warm_span};
use crate::capabilities::{self, Cap};
use crate::mapping::{FileView, Mapping};
use crate::proc::status;

/// A file that shrinks again and again while it is being locked is given up after so many tries.
const TRIES: u32 = 4;

/// A file whose pages stay in memory until this value is dropped.
#[derive(Debug)]
pub struct Pin {
    path: PathBuf,
    // No descriptor: thousands of files can be held. The view keeps the inode, so that its number is nobody else's.
    id: FileId,
    size_bytes: u64,
    changed: Changed,
    view: Option<View>,
    gone: bool,
}

/// When the file was changed last: seconds and nanoseconds of st_ctime, which nobody can set back.
type Changed = (i64, i64);

fn changed(stat: &Stat) -> Changed {
    (stat.st_ctime, stat.st_ctime_nsec as i64)
}

impl Pin {
    /// Warms the file at `path` and locks it; says what was cached before and after. Of a longer file, the first `most_bytes` are
    /// held (a number of whole pages): one that is being written grows after its size was asked for.
    ///
    /// # Errors
    /// Where it can't be opened or read, or may not be locked: see [`lock_limit`].
    pub fn new(
        path: &Path,
        most_bytes: u64,
        supervisor: &dyn Supervisor,
    ) -> Result<(Self, CacheChange), ControlError> {
        let (fd, stat) = open_quietly(path)?;
        let id = crate::file_id(&stat);
        let (path, changed) = (path.to_owned(), changed(&stat));
        let mut pin = Self { path, id, size_bytes: 0, changed, view: None, gone: false };
        let change = pin.hold(fd.as_fd(), most_bytes, supervisor)?;
        Ok((pin, change))
    }

    /// The path under which it was asked for.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which file is held.
    pub fn id(&self) -> FileId {
        self.id
    }

    /// Bytes of the file that are held: its size when it was looked at, or as much of it as was allowed.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Bytes that count as locked: whole pages.
    pub fn locked_bytes(&self) -> u64 {
        self.view.as_ref().map_or(0, |view| view.0.bytes() as u64)
    }

    /// Looks where the name leads now, and follows, up to `most_bytes` as in [`Self::new`].
    ///
    /// # Errors
    /// Where what the name leads to can't be opened or locked; what was held before stays held, unless it is in the way of what replaced it.
    pub fn follow(
        &mut self,
        most_bytes: u64,
        supervisor: &dyn Supervisor,
    ) -> Result<Followed, ControlError> {
        let stat = match rustix::fs::stat(&self.path) {
            Ok(stat) => stat,
            Err(Errno::NOENT | Errno::NOTDIR) => {
                self.view = None;
                self.size_bytes = 0;
                self.gone = true;
                return Ok(Followed::Gone);
            }
            Err(errno) => return Err(ControlError::system(&self.path, "stat", errno)),
        };
        // A name that was gone can come back with the same inode number.
        if crate::file_id(&stat) != self.id || self.gone {
            return self.replace(most_bytes, supervisor);
        }
        let from = self.size_bytes;
        // One that was emptied and written anew has the same size, and pages that nobody holds.
        if u64::try_from(stat.st_size) == Ok(from) && changed(&stat) == self.changed {
            return Ok(Followed::Same);
        }
        let (fd, stat) = open_quietly(&self.path)?;
        if crate::file_id(&stat) != self.id {
            return self.replace(most_bytes, supervisor);
        }
        self.hold(fd.as_fd(), most_bytes, supervisor)?;
        self.changed = changed(&stat);
        // A block device's stat says 0.
        let to = self.size_bytes;
        Ok(if from == to { Followed::Same } else { Followed::Resized { from, to } })
    }

    fn replace(
        &mut self,
        most_bytes: u64,
        supervisor: &dyn Supervisor,
    ) -> Result<Followed, ControlError> {
        let new = match Self::new(&self.path, most_bytes, supervisor) {
            // The limit can be too small for both, and the old one serves nobody any more.
            Err(ControlError::System { call: "mlock", .. }) => {
                self.view = None;
                self.size_bytes = 0;
                self.gone = true;
                Self::new(&self.path, most_bytes, supervisor)
            }
            answer => answer,
        };
        (*self, _) = new?;
        Ok(Followed::Replaced { size_bytes: self.size_bytes })
    }

    /// Holds all that the file has now, up to `most_bytes`.
    fn hold(
        &mut self,
        fd: BorrowedFd<'_>,
        most_bytes: u64,
        supervisor: &dyn Supervisor,
    ) -> Result<CacheChange, ControlError> {
        // mlock(2) would read it too, but as slowly as the host's read-ahead is set.
        let span = ByteSpan { start: 0, end: most_bytes };
        let warmed = warm_span(fd, &self.path, span, supervisor)?;
        if let Some(error) = warmed.error {
            return Err(error);
        }
        if warmed.stopped {
            return Err(ControlError::system(&self.path, "warming", Errno::CANCELED));
        }
        let path = self.path.clone();
        let size_now =
            || Target { fd, path: &path, span }.stat().map(|(_, size)| size.min(most_bytes));
        let mut tries = 0;
        loop {
            let size = size_now()?;
            tries += 1;
            match self.lock(fd, size) {
                Ok(()) => {
                    self.size_bytes = size;
                    break;
                }
                // What lies beyond the end can't be locked.
                Err(Errno::NOMEM) if tries < TRIES && size_now()? < size => {}
                Err(errno) => return Err(ControlError::system(&self.path, "mlock", errno)),
            }
        }
        let pages = crate::pages_of(self.size_bytes);
        let cached_after = observed(settle(fd, PageRange { first: 0, count: pages }));
        Ok(CacheChange { pages, cached_after, ..warmed.change })
    }

    fn lock(&mut self, fd: BorrowedFd<'_>, size: u64) -> Result<(), Errno> {
        let len = crate::pages_of(size).saturating_mul(crate::page_size());
        let len = usize::try_from(len).map_err(|_| Errno::OVERFLOW)?;
        if len == 0 {
            self.view = None;
            return Ok(());
        }
        match &mut self.view {
            Some(view) => view.resize(len),
            None => {
                self.view = Some(View::locked(fd, len)?);
                Ok(())
            }
        }
    }
}

/// A locked view of a file from its start. Never dereferenced, so that a file that shrinks can't hurt.
#[derive(Debug)]
struct View(Mapping);

impl View {
    fn locked(fd: BorrowedFd<'_>, len: usize) -> Result<Self, Errno> {
        let view = Self(Mapping::of_file(fd, 0, len, FileView::default())?);
        view.lock()?;
        Ok(view)
    }

    /// A locked mapping that is resized stays locked, and what is new is brought in.
    fn resize(&mut self, len: usize) -> Result<(), Errno> {
        self.0.resize(len)?;
        // mremap(2) doesn't say where bringing in failed.
        self.lock()
    }

    /// Locks what is mapped; unmapping unlocks.
    fn lock(&self) -> Result<(), Errno> {
        // SAFETY: the mapping as it is now.
        unsafe { rustix::mm::mlock(self.0.start().cast(), self.0.bytes()) }
    }
}

/// The limit on the memory that this process may lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockLimit {
    /// The limit in bytes (RLIMIT_MEMLOCK).
    pub limit_bytes: u64,
    /// Bytes that this process has locked.
    pub locked_bytes: u64,
}

/// How much this process may lock; nothing where there is no limit.
pub fn lock_limit() -> Option<LockLimit> {
    if capabilities::effective().is_some_and(|caps| caps.has(Cap::IpcLock)) {
        return None;
    }
    let limit_bytes = getrlimit(Resource::Memlock).current?;
    Some(LockLimit { limit_bytes, locked_bytes: status::own_bytes("VmLck").unwrap_or(0) })
}

#[cfg(test)]
mod tests;
