//! Opening a file or directory to look at it: without waiting, and without touching its access time where that is allowed.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::path::Arg;

/// NONBLOCK matters for a name that became a FIFO meanwhile, and for files under a lease.
const QUIETLY: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Opens, and remembers whether O_NOATIME was refused last time: only a file's owner may ask for it, and files that lie
/// together mostly have one owner.
pub(crate) struct Opener {
    euid: u32,
    refused: bool,
}

impl Opener {
    pub(crate) fn new() -> Self {
        Self { euid: rustix::process::geteuid().as_raw(), refused: false }
    }

    /// Opens `name` in `dir` for reading.
    pub(crate) fn open<P: Arg + Copy>(
        &mut self,
        dir: BorrowedFd<'_>,
        name: P,
        flags: OFlags,
    ) -> Result<OwnedFd, Errno> {
        if !self.refused {
            match open(dir, name, flags | OFlags::NOATIME) {
                Err(Errno::PERM) => self.refused = true,
                result => return result,
            }
        }
        open(dir, name, flags)
    }

    /// To be called with what fstat(2) says of what was opened: asks for O_NOATIME where it was wrongly left out.
    pub(crate) fn opened(&mut self, fd: &OwnedFd, stat: &Stat) {
        if self.refused && stat.st_uid == self.euid {
            self.refused = false;
            // The kernel decides; without the flag the file can still be looked at.
            let _ = rustix::fs::fcntl_setfl(fd, OFlags::NONBLOCK | OFlags::NOATIME);
        }
    }

    /// Opens a directory without following a symbolic link, unless `follow` says so.
    pub(super) fn directory(
        &mut self,
        dir: BorrowedFd<'_>,
        name: &CStr,
        follow: bool,
    ) -> Result<(OwnedFd, Stat), Errno> {
        let follow = if follow { OFlags::empty() } else { OFlags::NOFOLLOW };
        let fd = self.open(dir, name, OFlags::DIRECTORY | follow)?;
        let stat = rustix::fs::fstat(fd.as_fd())?;
        self.opened(&fd, &stat);
        Ok((fd, stat))
    }
}

fn open<P: Arg + Copy>(dir: BorrowedFd<'_>, name: P, flags: OFlags) -> Result<OwnedFd, Errno> {
    rustix::io::retry_on_intr(|| rustix::fs::openat(dir, name, QUIETLY | flags, Mode::empty()))
}
