//! Opening a file to look at its cache state, without side effects that others could notice.

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::residency::{ResidencyCause, ResidencyError};

/// Opens `path` for reading without waiting, without touching its access time where that is allowed, and only if it is
/// a regular file or a block device: opening other devices can do things (rewind a tape, arm a watchdog).
pub fn open_quietly(path: &Path) -> Result<(OwnedFd, Stat), ResidencyError> {
    let fail = |call, errno| ResidencyError::new(path, ResidencyCause::System { call, errno });
    let named = rustix::fs::stat(path).map_err(|errno| fail("stat", errno))?;
    require_cacheable(&named).map_err(|cause| ResidencyError::new(path, cause))?;
    let fd = open(path).map_err(|errno| fail("open", errno))?;
    // The name can lead elsewhere by now; what was opened is what counts.
    let opened = rustix::fs::fstat(&fd).map_err(|errno| fail("fstat", errno))?;
    require_cacheable(&opened).map_err(|cause| ResidencyError::new(path, cause))?;
    Ok((fd, opened))
}

fn open(path: &Path) -> Result<OwnedFd, Errno> {
    // NONBLOCK matters for a name that became a FIFO meanwhile, and for files under a lease.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    match rustix::fs::open(path, flags | OFlags::NOATIME, Mode::empty()) {
        // Only the owner may ask for NOATIME.
        Err(Errno::PERM) => rustix::fs::open(path, flags, Mode::empty()),
        result => result,
    }
}

/// Only regular files and block devices have pages of their own in the cache.
///
/// # Errors
/// [`ResidencyCause::NotCacheable`] for everything else.
pub fn require_cacheable(stat: &Stat) -> Result<(), ResidencyCause> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile | FileType::BlockDevice => Ok(()),
        other => Err(ResidencyCause::NotCacheable(word_for(other))),
    }
}

fn word_for(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "directory",
        FileType::Fifo => "pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice => "character device",
        FileType::Symlink => "symbolic link",
        _ => "special file",
    }
}

/// What /proc calls an open file: its path, for messages.
pub(super) fn name_of_fd(fd: BorrowedFd<'_>) -> PathBuf {
    let link = PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()));
    std::fs::read_link(&link).unwrap_or(link)
}
