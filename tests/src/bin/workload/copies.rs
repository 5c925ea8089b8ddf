//! Reads that go from file to file, within a file, or to a pipe, without passing through this process.

use std::fs::File;
use std::path::Path;

use rustix::pipe::{PipeFlags, SpliceFlags};

use super::args::Args;
use super::meter::Meter;
use super::snapshot::cached_and_dirty;
use super::truth::{FileTruth, Truth};
use super::{Doing, Outcome};

/// Moves up to so many bytes from the first file to the second, from their positions on.
type Copy = fn(&File, &File, usize) -> rustix::io::Result<usize>;

/// `sendfile --file2 PATH --block B`.
pub(super) fn sendfile(args: &Args) -> Outcome<Truth> {
    copy_with(args, |from, to, len| rustix::fs::sendfile(to, from, None, len))
}

/// `copy-file-range --file2 PATH --block B`.
pub(super) fn copy_file_range(args: &Args) -> Outcome<Truth> {
    copy_with(args, |from, to, len| rustix::fs::copy_file_range(from, None, to, None, len))
}

/// The truth's top level is about the file that is read; `file2` is the one that is written.
fn copy_with(args: &Args, copy: Copy) -> Outcome<Truth> {
    let (path, path2) = (args.file()?, args.path("--file2")?);
    let block = args.block(1 << 20)?;
    let from = File::open(&path).doing(path.display())?;
    // Readable too, because mincore(2) has to map it where there is no cachestat(2).
    let mut creation = File::options();
    creation.read(true).write(true).create(true).truncate(true);
    let to = creation.open(&path2).doing(path2.display())?;
    let mut meter = Meter::begin(args, &path, &from)?;
    let mut offset = 0;
    loop {
        meter.before_read(offset, block)?;
        let moved = copy(&from, &to, block).doing(args.case())?;
        meter.done(offset, moved);
        if moved == 0 {
            break;
        }
        offset += moved as u64;
    }
    let mut truth = meter.finish()?;
    let target = written(&path2, &to)?;
    // The target was empty, so all of its pages are new, and none was dirty.
    truth.new_pages = Some(target.pages_cached_after);
    truth.dirtied_pages = target.dirty_pages_after;
    truth.file2 = Some(target);
    Ok(truth)
}

/// `copy-within --block B`: once, from the start of a file to page 10 of it, which read-ahead reaches; no more than 10 pages.
pub(super) fn copy_within(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let file = File::options().read(true).write(true).open(&path).doing(path.display())?;
    let page = hotset_sys::page_size();
    let (mut from, mut to) = (0, 10 * page);
    let block = args.block(7 * page)?.min(to as usize);
    let mut meter = Meter::begin(args, &path, &file)?;
    meter.before_read(0, block)?;
    let moved = rustix::fs::copy_file_range(&file, Some(&mut from), &file, Some(&mut to), block)
        .doing(args.case())?;
    meter.done(0, moved);
    meter.finish()
}

fn written(path: &Path, file: &File) -> Outcome<FileTruth> {
    let (cached, dirty) = cached_and_dirty(file)?;
    let identity = FileTruth::of(path, file)?;
    Ok(FileTruth { pages_cached_after: cached, dirty_pages_after: dirty, ..identity })
}

/// `splice`: file to pipe to /dev/null, a pipe's capacity at a time.
pub(super) fn splice(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let from = File::open(&path).doing(path.display())?;
    let sink = File::options().write(true).open("/dev/null").doing("/dev/null")?;
    let (pipe_out, pipe_in) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).doing("pipe")?;
    let capacity = rustix::pipe::fcntl_getpipe_size(&pipe_in).doing("F_GETPIPE_SZ")?;
    let block = args.block(capacity as u64)?.min(capacity);
    let none = SpliceFlags::empty();
    let mut meter = Meter::begin(args, &path, &from)?;
    let mut offset = 0;
    loop {
        meter.before_read(offset, block)?;
        let moved =
            rustix::pipe::splice(&from, None, &pipe_in, None, block, none).doing("splice")?;
        meter.done(offset, moved);
        if moved == 0 {
            return meter.finish();
        }
        offset += moved as u64;
        let mut left = moved;
        while left > 0 {
            left -= rustix::pipe::splice(&pipe_out, None, &sink, None, left, none)
                .doing("splice to /dev/null")?;
        }
    }
}
