//! The files of a repetition.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};

use super::{FileKind, SyncKind, Write};
use crate::rawio::JobError;
use crate::rawio::open::size;

/// Files that are deleted with this value.
pub(super) struct Targets {
    paths: Vec<PathBuf>,
    fds: Vec<OwnedFd>,
}

impl Targets {
    /// Their names; with [`FileKind::Existing`], the files too, written and cached.
    pub(super) fn new(job: &Write) -> Result<Self, JobError> {
        let name = |at| format!("written-{}-{at}", std::process::id());
        let paths = (0..job.files).map(|at| job.directory.join(name(at))).collect();
        let targets = Self { paths, fds: Vec::with_capacity(job.files as usize) };
        if job.file == FileKind::Existing {
            for path in &targets.paths {
                let before = std::fs::write(path, vec![0_u8; job.total]);
                before.map_err(|error| JobError::call(path, "write", error))?;
                // Blocks are found now and not in the timed part.
                let synced = std::fs::File::open(path).and_then(|file| file.sync_all());
                synced.map_err(|error| JobError::call(path, "fsync", error))?;
            }
        }
        Ok(targets)
    }

    /// Opens them all, and makes those that are new.
    pub(super) fn open(&mut self, job: &Write) -> Result<(), JobError> {
        let mut flags = OFlags::WRONLY | OFlags::CLOEXEC;
        if job.file == FileKind::New {
            flags |= OFlags::CREATE | OFlags::EXCL;
        }
        if job.sync == SyncKind::Dsync {
            flags |= OFlags::DSYNC;
        }
        for path in &self.paths {
            let fd = rustix::fs::openat(CWD, path, flags, Mode::RUSR | Mode::WUSR)
                .map_err(|errno| JobError::call(path, "open", errno))?;
            self.fds.push(fd);
        }
        Ok(())
    }

    /// Closes them.
    pub(super) fn close(&mut self) {
        self.fds.clear();
    }

    pub(super) fn opened(&self) -> impl ExactSizeIterator<Item = (&Path, &OwnedFd)> {
        self.paths.iter().map(PathBuf::as_path).zip(&self.fds)
    }

    /// Each has this size.
    pub(super) fn check(&self, total: u64) -> Result<(), JobError> {
        for (path, fd) in self.opened() {
            let size = size(path, fd)?;
            if size != total {
                let what = format!("has {size} bytes after writing, expected {total}");
                return Err(JobError::wrong(path, what));
            }
        }
        Ok(())
    }
}

impl Drop for Targets {
    fn drop(&mut self) {
        for path in &self.paths {
            // One may never have been made, and the scratch directory goes as a whole in the end.
            let _ = rustix::fs::unlink(path);
        }
    }
}
