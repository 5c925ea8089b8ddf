//! What changes files without reading or writing them, and what changes their cache.

use std::fs::File;
use std::io::Result;
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::{Advice, FallocateFlags};

use super::maps::Mapping;
use super::worker::{Need, Worker};

pub(super) fn truncate(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Volatile)?;
    let size = if w.one_in(3) { 0 } else { w.below(2 << 20) };
    // Of the new end, and of the old one where it grows.
    w.ledger.edges(&w.handles[index], 2);
    rustix::fs::ftruncate(&w.handles[index].file, size)?;
    Ok(())
}

/// The name goes; the next to open it makes a new file.
pub(super) fn unlink(w: &mut Worker) -> Result<()> {
    let (name, _, _) = w.name(Need::Volatile);
    std::fs::remove_file(w.path(&name))
}

/// As programs save their files: a new one is written beside the old, and takes its name.
pub(super) fn rename_over(w: &mut Worker) -> Result<()> {
    let (name, _, _) = w.name(Need::Volatile);
    let (other, _, _) = w.name(Need::Volatile);
    std::fs::rename(w.path(&other), w.path(&name))
}

/// A file that never has a name.
pub(super) fn temporary(w: &mut Worker) -> Result<()> {
    let mut options = File::options();
    options.read(true).write(true).custom_flags(libc::O_TMPFILE);
    w.opened(&options, ".").map(drop)
}

pub(super) fn no_such_name(w: &mut Worker) -> Result<()> {
    match w.opened(File::options().read(true), "nobody") {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other.map(drop),
    }
}

/// A descriptor past the cache takes the place of another.
pub(super) fn open_direct(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Direct)?;
    if w.handles[index].direct { Ok(()) } else { Err(std::io::ErrorKind::Unsupported.into()) }
}

pub(super) fn fallocate(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Write)?;
    let (offset, len) = w.range(index);
    let flags = match w.below(3) {
        0 => FallocateFlags::empty(),
        1 => FallocateFlags::KEEP_SIZE,
        _ => FallocateFlags::ZERO_RANGE,
    };
    w.ledger.edges(&w.handles[index], 2);
    rustix::fs::fallocate(&w.handles[index].file, flags, offset, len.max(1) as u64)?;
    Ok(())
}

pub(super) fn punch_hole(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Write)?;
    let (offset, len) = w.range(index);
    let flags = FallocateFlags::KEEP_SIZE | FallocateFlags::PUNCH_HOLE;
    w.ledger.edges(&w.handles[index], 2);
    rustix::fs::fallocate(&w.handles[index].file, flags, offset, len.max(1) as u64)?;
    Ok(())
}

/// Pages of zeros, cached by nobody, which are read at once or by faults.
pub(super) fn read_zeros(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Mapped)?;
    let (offset, len) = w.range(index);
    let flags = match w.below(3) {
        0 => FallocateFlags::KEEP_SIZE | FallocateFlags::PUNCH_HOLE,
        1 => FallocateFlags::KEEP_SIZE | FallocateFlags::ZERO_RANGE,
        // Where there is data it stays.
        _ => FallocateFlags::empty(),
    };
    let by_faults = w.one_in(2);
    let handle = &w.handles[index];
    w.ledger.edges(handle, 2);
    rustix::fs::fallocate(&handle.file, flags, offset, len.max(1) as u64)?;
    rustix::fs::fadvise(&handle.file, 0, None, Advice::DontNeed)?;
    if by_faults {
        Mapping::of(w, index, false)?.load(offset, len);
        return Ok(());
    }
    let n = rustix::io::pread(&handle.file, &mut w.memory[..len], offset)?;
    w.ledger.read(handle, offset, n);
    Ok(())
}

pub(super) fn advise_random(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Any)?;
    let advice = if w.one_in(2) { Advice::Random } else { Advice::Normal };
    rustix::fs::fadvise(&w.handles[index].file, 0, None, advice)?;
    Ok(())
}

/// Reads ahead what nobody may ask for.
pub(super) fn fetch(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Any)?;
    let (offset, len) = w.range(index);
    let len = std::num::NonZeroU64::new(len as u64);
    w.ledger.small(&w.handles[index]);
    rustix::fs::fadvise(&w.handles[index].file, offset, len, Advice::WillNeed)?;
    Ok(())
}

/// The whole file, after a sync in half of the cases: dirty pages stay.
pub(super) fn evict(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Any)?;
    if w.one_in(2) {
        w.ledger.sync(&w.handles[index]);
        rustix::fs::fdatasync(&w.handles[index].file)?;
    }
    rustix::fs::fadvise(&w.handles[index].file, 0, None, Advice::DontNeed)?;
    Ok(())
}
