//! Buffered writes by one thread: a page that is missing before a write is made by it, and read first where only a part
//! of it is written.

use std::fs::File;
use std::io::{IoSlice, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::args::Args;
use super::buffer::Buffer;
use super::meter::Meter;
use super::snapshot::cached_and_dirty;
use super::truth::Truth;
use super::{Doing, Outcome};

fn create(path: &Path) -> Outcome<File> {
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
        .doing(path.display())
}

fn open(path: &Path) -> Outcome<File> {
    File::options().read(true).write(true).open(path).doing(path.display())
}

/// `write-new --size-mib N --block B [--fsync]`: a new file, written in order; an old one is emptied first.
pub(super) fn new(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let buffer = Buffer::new(args.block(1 << 20)?);
    let size = args.number("--size-mib", 64)? << 20;
    let file = create(&path)?;
    let meter = Meter::begin(args, &path, &file)?;
    write_in_order(args, file, &buffer, size.div_ceil(buffer.len() as u64), meter)
}

/// `write-small --block B --count N [--fsync]`: N contiguous writes of B bytes (4 if not given) to a new file.
pub(super) fn small(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let buffer = Buffer::new(args.block(4)?);
    let file = create(&path)?;
    let meter = Meter::begin(args, &path, &file)?;
    write_in_order(args, file, &buffer, args.number("--count", 10_000)?, meter)
}

/// `overwrite --block B [--fsync]`: the whole blocks of an old file in order.
pub(super) fn overwrite(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let buffer = Buffer::new(args.block(1 << 20)?);
    let file = open(&path)?;
    let meter = Meter::begin(args, &path, &file)?;
    let count = meter.size() / buffer.len() as u64;
    write_in_order(args, file, &buffer, count, meter)
}

/// `overwrite-uncached --block B [--fsync]`: the same; fails where a page is cached, or a block is not whole pages.
pub(super) fn overwrite_uncached(args: &Args) -> Outcome<Truth> {
    if !(args.block(1 << 20)? as u64).is_multiple_of(hotset_sys::page_size()) {
        return Err("overwrite-uncached needs a --block of whole pages".into());
    }
    let path = args.file()?;
    match cached_and_dirty(&open(&path)?)?.0 {
        0 => overwrite(args),
        cached => {
            Err(format!("{}: {cached} pages are cached; evict it first", path.display()).into())
        }
    }
}

fn write_in_order(
    args: &Args,
    mut file: File,
    buffer: &Buffer,
    count: u64,
    mut meter: Meter,
) -> Outcome<Truth> {
    let mut offset = 0;
    for _ in 0..count {
        meter.before_write(offset, buffer.len())?;
        let written = file.write(buffer).doing("write")?;
        meter.done(offset, written);
        offset += written as u64;
    }
    if args.flag("--fsync") {
        meter.sync(|| file.sync_all().doing("fsync"))?;
    }
    meter.finish_write()
}

/// `write-partial --block B --count N`: B bytes (100 if not given) into each of the first N pages, 10 bytes from their
/// start, so that an uncached page has to be read first.
pub(super) fn partial(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let buffer = Buffer::new(args.block(100)?);
    let file = open(&path)?;
    let page = hotset_sys::page_size();
    let mut meter = Meter::begin(args, &path, &file)?;
    let all = meter.size() / page;
    for index in 0..args.number("--count", all)?.min(all) {
        let offset = index * page + 10;
        meter.before_write(offset, buffer.len())?;
        let written = file.write_at(&buffer, offset).doing("pwrite")?;
        meter.done(offset, written);
    }
    meter.finish_write()
}

/// `fsync-each --block B --count N`: N times a write at the end of a new file, and fsync.
pub(super) fn fsync_each(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let buffer = Buffer::new(args.block(100)?);
    let mut file = create(&path)?;
    let mut meter = Meter::begin(args, &path, &file)?;
    let mut offset = 0;
    for _ in 0..args.number("--count", 20)? {
        meter.before_write(offset, buffer.len())?;
        let written = file.write(&buffer).doing("write")?;
        meter.done(offset, written);
        offset += written as u64;
        meter.sync(|| file.sync_all().doing("fsync"))?;
    }
    meter.finish_write()
}

/// `append --block B --count N [--fsync] [--by-flag]`: writes to the end of an old file, or of a new one, that was opened
/// with O_APPEND, or by pwritev2 with RWF_APPEND.
pub(super) fn append(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let buffer = Buffer::new(args.block(100)?);
    let by_flag = args.flag("--by-flag");
    let mut options = File::options();
    options.read(true).create(true);
    let options = if by_flag { options.write(true) } else { options.append(true) };
    let mut file = options.open(&path).doing(path.display())?;
    let mut meter = Meter::begin(args, &path, &file)?;
    let mut end = meter.size();
    for _ in 0..args.number("--count", 1000)? {
        meter.before_write(end, buffer.len())?;
        let written = if by_flag {
            let flags = rustix::io::ReadWriteFlags::APPEND;
            rustix::io::pwritev2(&file, &[IoSlice::new(&buffer)], 0, flags).doing("pwritev2")?
        } else {
            file.write(&buffer).doing("write")?
        };
        meter.done(end, written);
        end += written as u64;
    }
    if args.flag("--fsync") {
        meter.sync(|| file.sync_all().doing("fsync"))?;
    }
    meter.finish_write()
}
