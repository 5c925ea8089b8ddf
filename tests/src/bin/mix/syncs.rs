//! Everything that waits for what was written.

use std::fs::File;
use std::io::{Error, Result};
use std::os::fd::AsRawFd;

use super::maps;
use super::worker::{Need, Worker};

pub(super) fn fsync(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Any)?;
    w.ledger.sync(&w.handles[index]);
    Ok(rustix::fs::fsync(&w.handles[index].file)?)
}

pub(super) fn fdatasync(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Any)?;
    w.ledger.sync(&w.handles[index]);
    Ok(rustix::fs::fdatasync(&w.handles[index].file)?)
}

pub(super) fn sync_file_range(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Any)?;
    let (offset, len) = w.range(index);
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | if w.one_in(2) { libc::SYNC_FILE_RANGE_WAIT_AFTER } else { 0 };
    let handle = &w.handles[index];
    w.ledger.sync(handle);
    let (fd, offset) = (handle.file.as_raw_fd(), offset.cast_signed());
    // SAFETY: takes numbers only.
    let answer = unsafe { libc::sync_file_range(fd, offset, len as i64, flags) };
    if answer == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

pub(super) fn msync(w: &mut Worker) -> Result<()> {
    maps::sync(w)
}

pub(super) fn fsync_directory(w: &mut Worker) -> Result<()> {
    let directory = w.opened(File::options().read(true), ".")?;
    w.ledger.other_sync();
    Ok(rustix::fs::fsync(&directory)?)
}

pub(super) fn syncfs(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Any)?;
    w.ledger.other_sync();
    Ok(rustix::fs::syncfs(&w.handles[index].file)?)
}
