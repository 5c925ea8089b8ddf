//! The files that processes have open or mapped, opened through /proc: so other mount namespaces, deleted files and files
//! whose name leads elsewhere by now are the process's own.

use std::collections::HashSet;
use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use hotset_facts::{FileId, Pid, Skipped};
use rustix::fs::{CWD, FileType, OFlags, Stat};
use rustix::io::Errno;

use super::fds::without_suffix;
use super::maps::{self, Region};
use super::{ProcError, numbers_in};
use crate::tree::{Found, Opener, Places, Visitor};

/// <linux/magic.h>: btrfs, overlayfs, bcachefs. /proc/PID/maps and stat(2) name their devices differently.
const TWO_DEVICES: [u64; 3] = [0x9123_683e, 0x794c_7630, 0xca45_1a4e];

/// Shows the files of processes to a visitor, each file once whatever the number of processes and descriptors.
pub struct ProcessFiles {
    seen: HashSet<FileId>,
    opener: Opener,
    places: Places,
    skipped: Skipped,
}

impl Default for ProcessFiles {
    fn default() -> Self {
        Self::new()
    }
}

/// Why a mapped file can't be opened.
enum Unopened {
    System(Errno),
    Deleted,
    Replaced,
}

impl fmt::Display for Unopened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(errno) => errno.fmt(f),
            Self::Deleted => {
                f.write_str("it has no name any more, and only root may open what a process has mapped")
            }
            Self::Replaced => f.write_str(
                "the name leads to another file by now, and only root may open what a process has mapped",
            ),
        }
    }
}

impl ProcessFiles {
    /// Nothing shown yet.
    pub fn new() -> Self {
        Self {
            seen: HashSet::new(),
            opener: Opener::new(),
            places: Places::default(),
            skipped: Skipped::default(),
        }
    }

    /// Shows the regular files and block devices that `pid` has open or mapped and that were not shown before; `root` is what
    /// [`Found::root`] will be. Paths are as the process sees them, or its last ones where a name is gone. False where there
    /// is no such process.
    ///
    /// # Errors
    /// Where this user may not look at the process. A file that can't be opened is the visitor's `unreadable`.
    pub fn visit<V: Visitor>(
        &mut self,
        pid: Pid,
        root: usize,
        visitor: &mut V,
    ) -> Result<bool, ProcError> {
        let dir = PathBuf::from(format!("/proc/{pid}/fd"));
        let Some(fds) = numbers_in(&dir)? else { return Ok(false) };
        for fd in fds {
            let link = dir.join(fd.to_string());
            // Follows the link inside the kernel.
            let Ok(stat) = rustix::fs::stat(&link) else { continue };
            if !self.is_wanted(&link, &stat) {
                continue;
            }
            let Ok(name) = std::fs::read_link(&link) else { continue };
            let name = without_suffix(name, stat.st_nlink == 0);
            match self.opener.open(CWD, link.as_path(), OFlags::empty()) {
                Ok(fd) => self.show(&name, &fd, root, visitor),
                // Closed meanwhile.
                Err(Errno::NOENT | Errno::SRCH) => {}
                Err(errno) => visitor.unreadable(&name, &errno),
            }
        }
        let Some(regions) = maps::regions_of(pid)? else { return Ok(true) };
        for region in regions {
            match self.mapped(pid, &region) {
                Ok(Some(fd)) => self.show(&region.file.path, &fd, root, visitor),
                Ok(None) => {}
                Err(why) => visitor.unreadable(&region.file.path, &why),
            }
        }
        Ok(true)
    }

    /// What was passed over so far.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// True for what has pages of its own and was not shown yet.
    fn is_wanted(&mut self, link: &Path, stat: &Stat) -> bool {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile | FileType::BlockDevice => {}
            FileType::Directory => return false,
            _ => {
                self.skipped.not_cacheable += 1;
                return false;
            }
        }
        if self.seen.contains(&crate::file_id(stat)) {
            return false;
        }
        let made_up = self.places.named_has_no_pages(link, stat.st_dev);
        self.skipped.not_cacheable += u64::from(made_up);
        !made_up
    }

    /// Opens what is mapped at a place; nothing where it needs no showing or is not mapped any more.
    fn mapped(&mut self, pid: Pid, region: &Region) -> Result<Option<OwnedFd>, Unopened> {
        let (start, end) = region.addresses;
        let link = PathBuf::from(format!("/proc/{pid}/map_files/{start:x}-{end:x}"));
        match rustix::fs::stat(&link) {
            Ok(stat) if !self.is_wanted(&link, &stat) => Ok(None),
            Ok(_) => match self.opener.open(CWD, link.as_path(), OFlags::empty()) {
                Ok(fd) => Ok(Some(fd)),
                // Unmapped meanwhile.
                Err(Errno::NOENT | Errno::SRCH) => Ok(None),
                Err(errno) => Err(Unopened::System(errno)),
            },
            // Only with CAP_CHECKPOINT_RESTORE; older kernels want CAP_SYS_ADMIN.
            Err(Errno::PERM | Errno::ACCESS) => self.mapped_by_name(pid, region),
            Err(_) => Ok(None),
        }
    }

    fn mapped_by_name(&mut self, pid: Pid, region: &Region) -> Result<Option<OwnedFd>, Unopened> {
        let name = region.file.path.strip_prefix("/").unwrap_or(&region.file.path);
        let path = PathBuf::from(format!("/proc/{pid}/root")).join(name);
        let gone = if region.file.deleted { Unopened::Deleted } else { Unopened::Replaced };
        let stat = match rustix::fs::stat(&path) {
            Ok(stat) => stat,
            Err(Errno::NOENT | Errno::NOTDIR) => {
                // A file that was open and shown under its last name needs no second complaint.
                return if self.seen.contains(&region.file.id) { Ok(None) } else { Err(gone) };
            }
            Err(errno) => return Err(Unopened::System(errno)),
        };
        if !is_same(region.file.id, &stat, &path) {
            return if self.seen.contains(&region.file.id) { Ok(None) } else { Err(gone) };
        }
        if !self.is_wanted(&path, &stat) {
            return Ok(None);
        }
        let fd =
            self.opener.open(CWD, path.as_path(), OFlags::empty()).map_err(Unopened::System)?;
        match rustix::fs::fstat(&fd) {
            Ok(opened) if crate::file_id(&opened) == crate::file_id(&stat) => Ok(Some(fd)),
            _ => Err(gone),
        }
    }

    fn show<V: Visitor>(&mut self, path: &Path, fd: &OwnedFd, root: usize, visitor: &mut V) {
        let stat = match rustix::fs::fstat(fd) {
            Ok(stat) => stat,
            Err(errno) => return visitor.unreadable(path, &errno),
        };
        self.opener.opened(fd, &stat);
        let size_bytes = match crate::cache::size_of(fd.as_fd(), &stat) {
            Ok(size_bytes) => size_bytes,
            Err(cause) => return visitor.unreadable(path, &cause),
        };
        let id = crate::file_id(&stat);
        // The descriptor can have become another file between the looks at it.
        let kind = FileType::from_raw_mode(stat.st_mode);
        if matches!(kind, FileType::RegularFile | FileType::BlockDevice) && self.seen.insert(id) {
            let (fd, place_dev) = (fd.as_fd(), stat.st_dev);
            visitor.file(&Found { path, fd, id, size_bytes, stat: &stat, root, place_dev });
        }
    }
}

/// Whether a name leads to the file that is mapped.
fn is_same(mapped: FileId, stat: &Stat, path: &Path) -> bool {
    #[allow(clippy::unnecessary_cast, reason = "the type depends on the architecture")]
    let two_devices =
        || rustix::fs::statfs(path).is_ok_and(|fs| TWO_DEVICES.contains(&(fs.f_type as u64)));
    let named = crate::file_id(stat);
    named == mapped || (named.ino == mapped.ino && two_devices())
}

#[cfg(test)]
mod tests;
