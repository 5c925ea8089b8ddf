//! Writes through system calls.

use std::io::{IoSlice, Result};
use std::os::fd::AsRawFd;

use rustix::io::ReadWriteFlags;

use super::maps::Mapping;
use super::worker::{Need, Worker};

pub(super) fn write(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Write)?;
    let (_, len) = w.writes(index);
    let handle = &w.handles[index];
    let n = rustix::io::write(&handle.file, &w.memory[..len])?;
    w.ledger.write(handle, handle.began(n), n);
    Ok(())
}

pub(super) fn pwrite(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::WriteAt)?;
    let (offset, len) = w.writes(index);
    let handle = &w.handles[index];
    let n = rustix::io::pwrite(&handle.file, &w.memory[..len], offset)?;
    w.ledger.write(handle, offset, n);
    Ok(())
}

fn pieces(memory: &[u8], first: usize) -> [IoSlice<'_>; 2] {
    let (a, b) = memory.split_at(first.min(memory.len()));
    [a, b].map(IoSlice::new)
}

pub(super) fn writev(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Write)?;
    let ((_, len), (_, first)) = (w.writes(index), w.range(index));
    let handle = &w.handles[index];
    let n = rustix::io::writev(&handle.file, &pieces(&w.memory[..len], first))?;
    w.ledger.write(handle, handle.began(n), n);
    Ok(())
}

pub(super) fn pwritev(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::WriteAt)?;
    let ((offset, len), (_, first)) = (w.writes(index), w.range(index));
    let handle = &w.handles[index];
    let n = rustix::io::pwritev(&handle.file, &pieces(&w.memory[..len], first), offset)?;
    w.ledger.write(handle, offset, n);
    Ok(())
}

pub(super) fn pwritev2_sync(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::WriteAt)?;
    let (offset, len) = w.writes(index);
    let flags = if w.one_in(2) { ReadWriteFlags::DSYNC } else { ReadWriteFlags::SYNC };
    let handle = &w.handles[index];
    let one = [IoSlice::new(&w.memory[..len])];
    let n = rustix::io::pwritev2(&handle.file, &one, offset, flags)?;
    w.ledger.write(handle, offset, n);
    Ok(())
}

/// At the end, by a flag of the call; at the position of a descriptor that appends nothing by itself.
pub(super) fn pwritev2_append(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Write)?;
    let (_, len) = w.writes(index);
    let handle = &w.handles[index];
    let one = [IoSlice::new(&w.memory[..len])];
    let n = rustix::io::pwritev2(&handle.file, &one, u64::MAX, ReadWriteFlags::APPEND)?;
    w.ledger.write(handle, handle.began(n), n);
    Ok(())
}

/// The bytes come from a mapping of another file, whose pages may be read in while this one is written.
pub(super) fn from_a_mapping(w: &mut Worker) -> Result<()> {
    let source = w.handle(Need::Mapped)?;
    let mapping = Mapping::of(w, source, false)?;
    let index = w.handle(Need::WriteAt)?;
    let (offset, len) = w.writes(index);
    let handle = &w.handles[index];
    let len = len.min(mapping.len());
    // SAFETY: within the mapping, which is readable.
    let n = unsafe {
        libc::pwrite(handle.file.as_raw_fd(), mapping.start().cast(), len, offset.cast_signed())
    };
    let n = usize::try_from(n).map_err(|_| std::io::Error::last_os_error())?;
    w.ledger.write(handle, offset, n);
    Ok(())
}
