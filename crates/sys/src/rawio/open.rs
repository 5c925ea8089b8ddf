//! Opening the file of a job, and asking for its size.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::JobError;

/// Opens for reading; with [`OFlags::DIRECT`], past the cache.
pub(super) fn open(path: &Path, more: OFlags) -> Result<OwnedFd, JobError> {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC | more, Mode::empty()).map_err(
        |errno| {
            let direct = more.contains(OFlags::DIRECT);
            JobError::call(path, if direct { "open with O_DIRECT" } else { "open" }, errno)
        },
    )
}

/// The size of an open file in bytes.
pub(super) fn size(path: &Path, fd: impl AsFd) -> Result<u64, JobError> {
    let stat = rustix::fs::fstat(fd).map_err(|errno| JobError::call(path, "fstat", errno))?;
    Ok(u64::try_from(stat.st_size).unwrap_or(0))
}
