//! How much of a file is cached, and who said so.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::{Path, PathBuf};

use hotset_facts::{Observed, Reason, Residency, ResidencySource};
use rustix::fs::{Access, AtFlags, CWD, FileType, Stat};
use rustix::io::Errno;

use super::open::{name_of_fd, open_quietly, require_cacheable};
use super::raw::{CacheStat, cachestat, mincore_resident_pages};
use super::stacked::hides_pages;
use crate::capabilities::{self, Cap};
use crate::userns;

/// Why the cache state of a file could not be told.
#[derive(Debug, thiserror::Error)]
#[error("{}: {cause}", subject.display())]
pub struct ResidencyError {
    /// The file: its path as given, or what /proc calls the descriptor.
    pub subject: PathBuf,
    /// What went wrong with it.
    pub cause: ResidencyCause,
}

/// The classes of [`ResidencyError`].
#[derive(Debug, thiserror::Error)]
pub enum ResidencyCause {
    /// It is not a thing that has pages of its own in the cache.
    #[error("a {0} has no page cache of its own; name a regular file or a block device")]
    NotCacheable(&'static str),
    /// The kernel would refuse, or lie.
    #[error(
        "the kernel tells what is cached only to a file's owner, to those who may write to it, and to root"
    )]
    Denied,
    /// A system call failed.
    #[error("{call} failed: {errno}")]
    System {
        /// Its name.
        call: &'static str,
        /// The kernel's answer.
        errno: Errno,
    },
}

impl ResidencyError {
    pub(super) fn new(subject: &Path, cause: ResidencyCause) -> Self {
        Self { subject: subject.to_owned(), cause }
    }

    /// The same as a reason for a missing value.
    pub fn reason(&self) -> Reason {
        self.cause.reason()
    }
}

impl ResidencyCause {
    /// The same as a reason for a missing value.
    pub fn reason(&self) -> Reason {
        match self {
            Self::NotCacheable(_) => Reason::unsupported("has no page cache of its own"),
            Self::Denied => Reason::denied("no write permission"),
            Self::System { errno: Errno::ACCESS | Errno::PERM, .. } => {
                Reason::denied("the file may not be opened")
            }
            Self::System { errno: Errno::NOENT, .. } => {
                Reason::not_measured("the file has no such name any more")
            }
            Self::System { .. } => Reason::unsupported("the file can't be asked about"),
        }
    }
}

/// The cache state of the file at `path`, which is opened for reading and without touching its access time.
pub fn residency_at(path: &Path) -> Result<Residency, ResidencyError> {
    let (fd, stat) = open_quietly(path)?;
    residency_of(fd.as_fd(), &stat).map_err(|cause| ResidencyError::new(path, cause))
}

/// The cache state of an open regular file or block device, by cachestat(2), or by mincore(2) where only that exists
/// (or only that sees the pages: overlayfs) and where it can be trusted.
pub fn residency(fd: impl AsFd) -> Result<Residency, ResidencyError> {
    let fd = fd.as_fd();
    rustix::fs::fstat(fd)
        .map_err(|errno| ResidencyCause::System { call: "fstat", errno })
        .and_then(|stat| residency_of(fd, &stat))
        .map_err(|cause| ResidencyError::new(&name_of_fd(fd), cause))
}

/// Pages of exactly `len` bytes at `offset` that are in the cache or being read into it, by cachestat(2) alone.
///
/// Worthless where [`hides_pages`] is true.
pub fn cached_pages_in(fd: impl AsFd, offset: u64, len: u64) -> Result<u64, Errno> {
    cachestat(fd, offset, len).map(|answer| answer.cached)
}

fn residency_of(fd: BorrowedFd<'_>, stat: &Stat) -> Result<Residency, ResidencyCause> {
    require_cacheable(stat)?;
    let size_bytes = size_of(fd, stat)?;
    decide(fd, stat, size_bytes, false, || hides_pages(fd))
}

/// Whom to ask: cachestat(2), or mincore(2) where only that exists or only that sees the pages (`hidden`). `answered` says
/// that cachestat(2) has told this process something before, so that a refusal is about the file.
pub(super) fn decide(
    fd: BorrowedFd<'_>,
    stat: &Stat,
    size_bytes: u64,
    answered: bool,
    hidden: impl FnOnce() -> bool,
) -> Result<Residency, ResidencyCause> {
    // The exact range matters: some file systems keep their own pages beyond the end (fs-verity).
    match cachestat(fd, 0, size_bytes) {
        Ok(answer) if answer.cached == 0 && size_bytes > 0 && hidden() => {
            by_mincore(fd, stat, size_bytes)
        }
        Ok(answer) => Ok(from_cachestat(size_bytes, &answer)),
        // The same rule as mincore(2)'s: where one refuses, the other lies.
        Err(Errno::PERM) if answered => Err(ResidencyCause::Denied),
        // PERM is also what an old container's seccomp filter says to calls that it doesn't know.
        Err(Errno::NOSYS | Errno::PERM) => by_mincore(fd, stat, size_bytes),
        Err(errno) => Err(ResidencyCause::System { call: "cachestat", errno }),
    }
}

fn from_cachestat(size_bytes: u64, answer: &CacheStat) -> Residency {
    Residency {
        size_bytes,
        pages: crate::pages_of(size_bytes),
        cached_pages: answer.cached,
        dirty_pages: Observed::Value(answer.dirty),
        writeback_pages: Observed::Value(answer.writeback),
        evicted_pages: Observed::Value(answer.evicted),
        recently_evicted_pages: Observed::Value(answer.recently_evicted),
        source: ResidencySource::Cachestat,
    }
}

/// Takes about 10 ms a GiB of the file's size, holes included: a page of a hole can be cached too.
fn by_mincore(
    fd: BorrowedFd<'_>,
    stat: &Stat,
    size_bytes: u64,
) -> Result<Residency, ResidencyCause> {
    let resident = uptodate_pages(fd, stat, size_bytes)?;
    Ok(Residency::from_mincore(size_bytes, crate::pages_of(size_bytes), resident))
}

/// Pages that are cached and up to date: unlike cachestat(2), without those that are still being read in.
pub(super) fn uptodate_pages(
    fd: BorrowedFd<'_>,
    stat: &Stat,
    size_bytes: u64,
) -> Result<u64, ResidencyCause> {
    if !may_trust_mincore(fd, stat) {
        return Err(ResidencyCause::Denied);
    }
    mincore_resident_pages(fd, size_bytes)
        .map_err(|errno| ResidencyCause::System { call: "mincore", errno })
}

/// The kernel's `can_do_mincore`: to anyone else, mincore(2) says that every page is resident.
pub(super) fn may_trust_mincore(fd: BorrowedFd<'_>, stat: &Stat) -> bool {
    let link = format!("/proc/self/fd/{}", fd.as_raw_fd());
    let owns = || {
        rustix::process::geteuid().as_raw() == stat.st_uid
            || capabilities::effective().is_some_and(|caps| caps.has(Cap::Fowner))
    };
    (userns::knows_uid(stat.st_uid) && owns())
        || rustix::fs::accessat(CWD, link, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

/// The size in bytes; a block device's stat says 0.
pub(crate) fn size_of(fd: BorrowedFd<'_>, stat: &Stat) -> Result<u64, ResidencyCause> {
    if FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice {
        return block_device_bytes(fd)
            .map_err(|errno| ResidencyCause::System { call: "ioctl(BLKGETSIZE64)", errno });
    }
    Ok(u64::try_from(stat.st_size).unwrap_or(0))
}

fn block_device_bytes(fd: BorrowedFd<'_>) -> Result<u64, Errno> {
    // <linux/fs.h>: _IOR(0x12, 114, size_t), although it writes a u64.
    const BLKGETSIZE64: rustix::ioctl::Opcode = rustix::ioctl::opcode::read::<usize>(0x12, 114);
    // SAFETY: BLKGETSIZE64 writes one u64 to its argument and does nothing else.
    unsafe { rustix::ioctl::ioctl(fd, rustix::ioctl::Getter::<BLKGETSIZE64, u64>::new()) }
}

#[cfg(test)]
mod tests {
    use hotset_tests::undisturbed;

    use super::*;
    use crate::test_support::{ScratchFile, as_another_user};

    #[test]
    fn an_empty_file_has_no_pages() {
        let file = ScratchFile::with(b"");
        let state = residency_at(&file.path).expect("residency");
        assert_eq!((state.pages, state.cached_pages), (0, 0));
    }

    #[test]
    fn holes_count_as_pages_and_the_last_page_counts_whole() {
        let file = ScratchFile::with(b"");
        file.file.set_len(10 * crate::page_size() + 1).expect("set_len");
        let state = residency_at(&file.path).expect("residency");
        assert_eq!((state.pages, state.cached_pages), (11, 0));
    }

    #[test]
    fn mincore_and_cachestat_agree_on_what_was_just_written() {
        let page = crate::page_size();
        let file = ScratchFile::with(&vec![1; 5 * page as usize]);
        undisturbed(&[&file.path], || {
            rustix::io::pwrite(&file.file, &vec![2; 5 * page as usize], 0).expect("write");
            let state = residency(&file.file).expect("residency");
            assert_eq!(state.cached_pages, 5);
            assert_eq!(mincore_resident_pages(file.file.as_fd(), 5 * page), Ok(5));
            assert_eq!(cached_pages_in(&file.file, page, 2 * page), Ok(2));
            assert_eq!(cached_pages_in(&file.file, page - 1, 2), Ok(2));
            assert_eq!(cached_pages_in(&file.file, 0, 0), Ok(0));
        });
    }

    #[test]
    fn what_has_no_pages_is_refused_by_name() {
        let error = residency_at(Path::new("/dev/null")).expect_err("a device");
        assert!(matches!(error.cause, ResidencyCause::NotCacheable("character device")));
        let error = residency_at(&std::env::temp_dir()).expect_err("a directory");
        assert!(error.to_string().contains("directory"), "{error}");
    }

    #[test]
    fn another_users_file_is_denied_and_never_wholly_cached() {
        // Someone else's file that anyone may read. Without root, this user's own thread is "another user" already.
        let path = Path::new("/etc/passwd");
        let (answer, by_mincore) = as_another_user(|| {
            let (fd, stat) = open_quietly(path).expect("open");
            (residency(&fd), by_mincore(fd.as_fd(), &stat, 1))
        });
        let denied = answer.expect_err("denied");
        assert!(matches!(denied.cause, ResidencyCause::Denied), "{denied}");
        assert!(denied.to_string().starts_with("/etc/passwd: "), "{denied}");
        assert!(matches!(by_mincore, Err(ResidencyCause::Denied)));
        assert_eq!(denied.reason().kind, hotset_facts::ReasonKind::Denied);
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = residency_at(Path::new("/nonexistent/x")).expect_err("missing");
        assert!(error.to_string().starts_with("/nonexistent/x: stat failed"), "{error}");
    }
}
