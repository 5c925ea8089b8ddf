//! Reads through system calls.

use std::io::{IoSliceMut, Result};
use std::os::fd::AsRawFd;

use rustix::io::ReadWriteFlags;

use super::maps::Mapping;
use super::worker::{LONGEST, Need, Worker};

/// Somewhere, and not always within the file.
pub(super) fn seek(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Any)?;
    let (offset, _) = w.range(index);
    rustix::fs::seek(&w.handles[index].file, rustix::fs::SeekFrom::Start(offset))?;
    Ok(())
}

pub(super) fn read(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Read)?;
    let (_, len) = w.asks(index);
    let handle = &w.handles[index];
    let n = rustix::io::read(&handle.file, &mut w.memory[..len])?;
    w.ledger.read(handle, handle.began(n), n);
    Ok(())
}

pub(super) fn pread(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Read)?;
    let (offset, len) = w.asks(index);
    let handle = &w.handles[index];
    let n = rustix::io::pread(&handle.file, &mut w.memory[..len], offset)?;
    w.ledger.read(handle, offset, n);
    Ok(())
}

/// Up to three pieces, which need not be equal.
fn pieces(memory: &mut [u8], first: usize) -> [IoSliceMut<'_>; 3] {
    let len = memory.len();
    let cut = first.min(len);
    let (a, rest) = memory.split_at_mut(cut);
    let (b, c) = rest.split_at_mut(((len - cut) / 2) & !4095);
    [a, b, c].map(IoSliceMut::new)
}

pub(super) fn readv(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Read)?;
    let ((_, len), (_, first)) = (w.asks(index), w.range(index));
    let handle = &w.handles[index];
    let n = rustix::io::readv(&handle.file, &mut pieces(&mut w.memory[..len], first))?;
    w.ledger.read(handle, handle.began(n), n);
    Ok(())
}

pub(super) fn preadv(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Read)?;
    let ((offset, len), (_, first)) = (w.asks(index), w.range(index));
    let handle = &w.handles[index];
    let n = rustix::io::preadv(&handle.file, &mut pieces(&mut w.memory[..len], first), offset)?;
    w.ledger.read(handle, offset, n);
    Ok(())
}

/// Half of them at the file's own position.
pub(super) fn preadv2(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Read)?;
    let ((offset, len), (_, first)) = (w.asks(index), w.range(index));
    let asked = if w.one_in(2) { u64::MAX } else { offset };
    let handle = &w.handles[index];
    let mut pieces = pieces(&mut w.memory[..len], first);
    let n = rustix::io::preadv2(&handle.file, &mut pieces, asked, ReadWriteFlags::empty())?;
    let began = if asked == u64::MAX { handle.began(n) } else { offset };
    w.ledger.read(handle, began, n);
    Ok(())
}

/// What is cached, and an error or less where not all is.
pub(super) fn preadv2_nowait(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Read)?;
    let (offset, len) = w.asks(index);
    let handle = &w.handles[index];
    let mut one = [IoSliceMut::new(&mut w.memory[..len])];
    let n = rustix::io::preadv2(&handle.file, &mut one, offset, ReadWriteFlags::NOWAIT);
    w.ledger.cut(handle, len, &n);
    w.ledger.read(handle, offset, n?);
    Ok(())
}

/// The memory ends before the request does: what was copied until then counts.
pub(super) fn cut_by_a_fault(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Cached)?;
    let (offset, len) = w.asks(index);
    let handle = &w.handles[index];
    let start = w.memory[LONGEST - len / 2..].as_mut_ptr();
    // SAFETY: the kernel writes to what is mapped, and stops at the page that is not.
    let n = unsafe {
        libc::pread(handle.file.as_raw_fd(), start.cast(), len.max(2), offset.cast_signed())
    };
    let n = usize::try_from(n).map_err(|_| std::io::Error::last_os_error());
    w.ledger.cut(handle, len, &n);
    w.ledger.read(handle, offset, n?);
    Ok(())
}

/// No request: a bad address, a bad offset or a bad descriptor. What the kernel takes all the same counts.
pub(super) fn refused(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Any)?;
    let (offset, len) = w.asks(index);
    let how = w.below(3);
    let handle = &w.handles[index];
    let fd = if how == 2 { -1 } else { handle.file.as_raw_fd() };
    let offset = if how == 1 { -1 } else { offset.cast_signed() };
    // SAFETY: nothing is mapped at the address, which the kernel finds out.
    let n = unsafe { libc::pread(fd, std::ptr::dangling_mut::<u8>().cast(), len.max(1), offset) };
    w.ledger.cut(handle, len.max(1), &usize::try_from(n));
    if n >= 0 {
        w.ledger.read(handle, offset.unsigned_abs(), n.unsigned_abs());
    }
    Ok(())
}

/// The buffer is a mapping of another file, whose pages may be read in while this one is.
pub(super) fn into_a_mapping(w: &mut Worker) -> Result<()> {
    let target = w.handle(Need::Mapped)?;
    let mapping = Mapping::of(w, target, true)?;
    let index = w.handle(Need::Read)?;
    let (offset, len) = w.asks(index);
    let handle = &w.handles[index];
    let len = len.min(mapping.len());
    // SAFETY: within the mapping, which is writable; other processes may write there too, and nobody reads it as Rust memory.
    let n = unsafe {
        libc::pread(handle.file.as_raw_fd(), mapping.start().cast(), len, offset.cast_signed())
    };
    let n = usize::try_from(n).map_err(|_| std::io::Error::last_os_error())?;
    w.ledger.read(handle, offset, n);
    Ok(())
}
