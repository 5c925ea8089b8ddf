//! Reading a part of a file into the cache by faults in a mapping that nobody looks at.

use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Mutex;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

use super::control::ControlError;
use super::raw::cachestat;
use crate::mapping::Mapping;

/// What one fault reads with [`Way::Blocks`]: the huge page of architectures with 4 KiB pages. On others the probe finds
/// that it doesn't work.
pub(super) const BLOCK_BYTES: u64 = 2 << 20;

/// What is mapped at a time: this much counts as resident, a thread.
pub(super) const WINDOW_BYTES: u64 = 8 << 20;

/// What is read at a time where nothing can be mapped: large enough that calls cost nothing, small enough for a CPU's cache.
const READ_BYTES: usize = 1 << 20;

/// How to read pages into the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// A fault reads one aligned block and nothing else.
    Blocks,
    /// Faults read ahead as they like.
    Sequential,
    /// Before Linux 5.14, and for what can't be mapped.
    Read,
}

/// What works on which file system (by its device number): a probe costs two more calls than the reading itself.
static KNOWN: Mutex<Vec<(u64, Way)>> = Mutex::new(Vec::new());

/// The way for a file of `size` bytes on the file system `dev`, with a block at `offset` that is wanted anyway.
pub(super) fn way_for(fd: BorrowedFd<'_>, dev: u64, offset: u64, size: u64) -> Way {
    // A poisoned lock guards numbers that are as good as before.
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, way)) = known.iter().find(|(of, _)| *of == dev) {
        return *way;
    }
    match probe(fd, offset, BLOCK_BYTES.min(size.saturating_sub(offset))) {
        Some(way) => {
            known.push((dev, way));
            way
        }
        None => Way::Sequential,
    }
}

/// What was found to work on the file system `dev`, if it was tried.
pub(super) fn known(dev: u64) -> Option<Way> {
    let known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    known.iter().find(|(of, _)| *of == dev).map(|(_, way)| *way)
}

/// Touches one page that is not cached and looks whether its whole block came. Nothing where there is none to touch.
fn probe(fd: BorrowedFd<'_>, offset: u64, len: u64) -> Option<Way> {
    let page = crate::page_size();
    if cachestat(fd, offset, len).is_ok_and(|answer| answer.cached > 0) || len < 2 * page {
        return None;
    }
    let map = match View::new(fd, offset, page) {
        Ok(map) => map,
        Err(_) => return Some(Way::Read),
    };
    let huge = map.advise(libc::MADV_HUGEPAGE).and_then(|()| map.advise(libc::MADV_RANDOM));
    match map.advise(libc::MADV_POPULATE_READ) {
        Ok(()) => {}
        Err(Errno::INVAL) => return Some(Way::Read),
        // A bad sector says nothing about the file system.
        Err(_) => return None,
    }
    let whole =
        cachestat(fd, offset, len).is_ok_and(|answer| answer.cached >= crate::pages_of(len));
    Some(if huge.is_ok() && whole { Way::Blocks } else { Way::Sequential })
}

/// Reads the window of `len` bytes at `offset`, which waits for the device.
pub(super) fn window(
    fd: BorrowedFd<'_>,
    offset: u64,
    len: u64,
    way: Way,
    path: &dyn Fn() -> PathBuf,
) -> Result<(), ControlError> {
    if way == Way::Read {
        return read(fd, offset, len, path);
    }
    let populated = View::new(fd, offset, len).and_then(|map| {
        match way {
            Way::Blocks => {
                map.advise(libc::MADV_HUGEPAGE)?;
                map.advise(libc::MADV_RANDOM)?;
            }
            _ => map.advise(libc::MADV_SEQUENTIAL)?,
        }
        map.advise(libc::MADV_POPULATE_READ)
    });
    match populated {
        Ok(()) => Ok(()),
        // A fault doesn't tell a file that has shrunk from a device that can't read: read(2) does, and where.
        Err(_) => read(fd, offset, len, path),
    }
}

/// pread(2), whose buffer is thrown away. Ends at the end of the file.
fn read(
    fd: BorrowedFd<'_>,
    offset: u64,
    len: u64,
    path: &dyn Fn() -> PathBuf,
) -> Result<(), ControlError> {
    let mut buffer = vec![0_u8; READ_BYTES.min(usize::try_from(len).unwrap_or(READ_BYTES))];
    let end = offset.saturating_add(len);
    let mut at = offset;
    while at < end {
        let wanted = buffer.len().min(usize::try_from(end - at).unwrap_or(usize::MAX));
        match rustix::io::pread(fd, &mut buffer[..wanted], at) {
            Ok(0) => break,
            Ok(read) => at += read as u64,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(ControlError::Read { path: path(), offset: at, errno }),
        }
    }
    Ok(())
}

/// A view of a part of a file at an address that a huge page can have. Never dereferenced, so that a file that shrinks
/// can't hurt.
struct View {
    /// The address space that the view lies in.
    _reserved: Mapping,
    start: *mut std::ffi::c_void,
    len: usize,
}

impl View {
    fn new(fd: BorrowedFd<'_>, offset: u64, len: u64) -> Result<Self, Errno> {
        let block = BLOCK_BYTES as usize;
        let len = usize::try_from(len).map_err(|_| Errno::OVERFLOW)?;
        let room = len.checked_add(block).ok_or(Errno::OVERFLOW)?;
        let reserved = Mapping::reserved(room)?;
        // Address and offset have to agree modulo the block.
        let shift = offset as usize % block;
        let lead = (block + shift - reserved.start() as usize % block) % block;
        let place = reserved.start().wrapping_add(lead).cast();
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        // SAFETY: replaces a part of the space reserved above, which ends at least `len` bytes after the view's start.
        let start = unsafe { rustix::mm::mmap(place, len, ProtFlags::READ, flags, fd, offset)? };
        Ok(Self { _reserved: reserved, start, len })
    }

    fn advise(&self, advice: libc::c_int) -> Result<(), Errno> {
        loop {
            // SAFETY: the view made above. None of the advice used changes what is mapped or what it holds.
            if unsafe { libc::madvise(self.start, self.len, advice) } == 0 {
                return Ok(());
            }
            match super::raw::last_errno() {
                Errno::INTR => {}
                errno => return Err(errno),
            }
        }
    }
}
