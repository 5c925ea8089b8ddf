//! Bringing a file into the cache or out of it, and saying what was reached.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hotset_facts::Observed;
use rustix::fs::{Advice, Stat};
use rustix::io::Errno;

use super::open::{name_of_fd, open_quietly, require_cacheable};
use super::residency::{ResidencyCause, ResidencyError, residency, size_of, uptodate_pages};

/// What is read at a time to warm a file: large enough that calls cost nothing, small enough to stay in a CPU's cache.
const READ_BYTES: usize = 1 << 20;

/// Pages that are locked for I/O survive FADV_DONTNEED, so eviction is tried again after these pauses.
const EVICT_PAUSES: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(1), Duration::from_millis(5), Duration::from_millis(20)];

/// Why the cache state of a file could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// It can't be opened or asked about.
    #[error(transparent)]
    File(#[from] ResidencyError),
    /// A system call failed.
    #[error("{}: {call} failed: {errno}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// The call's name.
        call: &'static str,
        /// The kernel's answer.
        errno: Errno,
    },
}

/// What an attempt to warm or evict a file reached, in base pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheChange {
    /// Pages that the file spans.
    pub pages: u64,
    /// Pages cached before; missing where the kernel doesn't tell this user.
    pub cached_before: Observed<u64>,
    /// Pages cached right after. For an eviction: those that stayed (mapped, locked, or held by someone).
    pub cached_after: Observed<u64>,
}

/// Writes out what is dirty in the file at `path` and asks the kernel to forget its pages.
pub fn evict(path: &Path) -> Result<CacheChange, ControlError> {
    let (fd, _) = open_quietly(path)?;
    evict_named(fd.as_fd(), path)
}

/// The same for an open file.
pub fn evict_fd(fd: impl AsFd) -> Result<CacheChange, ControlError> {
    let fd = fd.as_fd();
    evict_named(fd, &name_of_fd(fd))
}

fn evict_named(fd: BorrowedFd<'_>, path: &Path) -> Result<CacheChange, ControlError> {
    let fail = |call, errno| ControlError::System { path: path.to_owned(), call, errno };
    let (_, size) = stat_and_size(fd, path)?;
    let cached_before = observed(residency(fd).map(|state| state.cached_pages));
    // Dirty pages are never dropped.
    rustix::fs::fdatasync(fd).map_err(|errno| fail("fdatasync", errno))?;
    let mut after = Observed::Missing(hotset_facts::Reason::not_measured("not asked yet"));
    for pause in EVICT_PAUSES {
        std::thread::sleep(pause);
        rustix::fs::fadvise(fd, 0, None, Advice::DontNeed)
            .map_err(|errno| fail("posix_fadvise", errno))?;
        after = observed(residency(fd).map(|state| state.cached_pages));
        if after.value().is_none_or(|pages| pages == 0) {
            break;
        }
    }
    Ok(CacheChange { pages: crate::pages_of(size), cached_before, cached_after: after })
}

/// Reads the whole file at `path`, so that the cache holds it, and counts the pages that are there and up to date.
pub fn warm(path: &Path) -> Result<CacheChange, ControlError> {
    let (fd, _) = open_quietly(path)?;
    warm_named(fd.as_fd(), path)
}

/// The same for an open file, whose position stays where it is.
pub fn warm_fd(fd: impl AsFd) -> Result<CacheChange, ControlError> {
    let fd = fd.as_fd();
    warm_named(fd, &name_of_fd(fd))
}

fn warm_named(fd: BorrowedFd<'_>, path: &Path) -> Result<CacheChange, ControlError> {
    stat_and_size(fd, path)?;
    let cached_before = observed(residency(fd).map(|state| state.cached_pages));
    read_through(fd).map_err(|errno| ControlError::System {
        path: path.to_owned(),
        call: "read",
        errno,
    })?;
    // Again, because the file can have grown.
    let (stat, size) = stat_and_size(fd, path)?;
    // cachestat(2) would count pages that another reader only just asked for.
    let cached_after =
        observed(uptodate_pages(fd, &stat, size).map_err(|cause| ResidencyError::new(path, cause)));
    Ok(CacheChange { pages: crate::pages_of(size), cached_before, cached_after })
}

fn read_through(fd: BorrowedFd<'_>) -> Result<(), Errno> {
    let mut buffer = vec![0_u8; READ_BYTES];
    let mut offset = 0;
    loop {
        match rustix::io::pread(fd, &mut buffer[..], offset) {
            Ok(0) => return Ok(()),
            Ok(read) => offset += read as u64,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}

fn observed(answer: Result<u64, ResidencyError>) -> Observed<u64> {
    match answer {
        Ok(pages) => Observed::Value(pages),
        Err(error) => Observed::Missing(error.reason()),
    }
}

/// Fails for what has no page cache of its own.
fn stat_and_size(fd: BorrowedFd<'_>, path: &Path) -> Result<(Stat, u64), ResidencyError> {
    rustix::fs::fstat(fd)
        .map_err(|errno| ResidencyCause::System { call: "fstat", errno })
        .and_then(|stat| {
            require_cacheable(&stat)?;
            Ok((stat, size_of(fd, &stat)?))
        })
        .map_err(|cause| ResidencyError::new(path, cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::ScratchFile;

    #[test]
    fn a_warmed_file_is_resident_and_keeps_its_position() {
        use std::io::Seek;
        let mut file = ScratchFile::with(&vec![7; 300_000]);
        file.file.seek(std::io::SeekFrom::Start(5)).expect("seek");
        let reached = warm_fd(&file.file).expect("warm");
        assert_eq!(reached.cached_after, Observed::Value(reached.pages));
        assert_eq!(reached.pages, 300_000_u64.div_ceil(crate::page_size()));
        assert_eq!(file.file.stream_position().expect("position"), 5);
    }

    #[test]
    fn a_directory_is_refused() {
        let dir = std::fs::File::open("/").expect("open");
        assert!(matches!(evict_fd(&dir), Err(ControlError::File(_))));
        assert!(matches!(warm_fd(&dir), Err(ControlError::File(_))));
    }

    #[test]
    fn a_mapped_page_stays_and_is_reported() {
        let page = crate::page_size() as usize;
        let file = ScratchFile::on_disk(&vec![7; 16 * page]);
        // SAFETY: a private view of a file that nobody truncates, unmapped below.
        let map = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                page,
                rustix::mm::ProtFlags::READ,
                rustix::mm::MapFlags::SHARED | rustix::mm::MapFlags::POPULATE,
                &file.file,
                0,
            )
        }
        .expect("mmap");
        let held = evict(&file.path).expect("evict");
        // SAFETY: the mapping made above.
        unsafe { rustix::mm::munmap(map, page) }.expect("munmap");
        let free = evict(&file.path).expect("evict");
        assert_eq!(held.pages, 16);
        // The whole folio behind the mapped page stays, so more than that page can.
        assert!(held.cached_after.value().is_some_and(|pages| pages >= 1), "{held:?}");
        assert_eq!(free.cached_after, Observed::Value(0));
    }
}
