//! Buffered reads by one thread: what was missing before each request is well defined, and so are the misses.

use std::fs::File;
use std::io::{IoSliceMut, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::Advice;
use rustix::io::ReadWriteFlags;

use super::args::Args;
use super::buffer::Buffer;
use super::meter::Meter;
use super::pattern::distinct;
use super::truth::Truth;
use super::{Doing, Outcome};

fn open(path: &Path) -> Outcome<File> {
    File::open(path).doing(path.display())
}

/// `seq --block B`: read(2) to the end.
pub(super) fn seq(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let mut buffer = Buffer::new(args.block(1 << 20)?);
    let mut file = open(&path)?;
    if args.flag("--advise-random") {
        rustix::fs::fadvise(&file, 0, None, Advice::Random).doing("posix_fadvise")?;
    }
    let mut meter = Meter::begin(args, &path, &file)?;
    read_to_end(&mut file, &mut buffer, &mut meter)?;
    meter.finish()
}

fn read_to_end(file: &mut File, buffer: &mut Buffer, meter: &mut Meter) -> Outcome<()> {
    let mut offset = 0;
    loop {
        meter.before_read(offset, buffer.len())?;
        let read = file.read(buffer).doing("read")?;
        meter.done(offset, read);
        if read == 0 {
            return Ok(());
        }
        offset += read as u64;
    }
}

/// `random --block B --count N [--advise-random] [--seed S]`: distinct blocks in random order.
pub(super) fn random(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let mut buffer = Buffer::new(args.block(4096)?);
    let file = open(&path)?;
    if args.flag("--advise-random") {
        rustix::fs::fadvise(&file, 0, None, Advice::Random).doing("posix_fadvise")?;
    }
    let slots = file.metadata().doing(path.display())?.len() / buffer.len() as u64;
    let blocks = distinct(slots, args.number("--count", slots)?, args.number("--seed", 1)?);
    let mut meter = Meter::begin(args, &path, &file)?;
    for block in blocks {
        let offset = block * buffer.len() as u64;
        pread(&file, &mut buffer, offset, &mut meter)?;
    }
    meter.finish()
}

/// `odd --block B --count N`: pread of B bytes at B*i, so that most requests straddle or share pages.
pub(super) fn odd(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let block = args.block(1000)?;
    let mut buffer = Buffer::new(block);
    let file = open(&path)?;
    let mut meter = Meter::begin(args, &path, &file)?;
    let count = args.number("--count", meter.size() / block as u64)?;
    for index in 0..count {
        pread(&file, &mut buffer, index * block as u64, &mut meter)?;
    }
    meter.finish()
}

fn pread(file: &File, buffer: &mut [u8], offset: u64, meter: &mut Meter) -> Outcome<usize> {
    meter.before_read(offset, buffer.len())?;
    let read = file.read_at(buffer, offset).doing("pread")?;
    meter.done(offset, read);
    Ok(read)
}

/// `vectored --iovecs K --block B`: preadv of K buffers of B bytes each, to the end.
pub(super) fn vectored(args: &Args) -> Outcome<Truth> {
    vectored_with(args, |file, slices, offset| {
        rustix::io::preadv(file, slices, offset).doing("preadv")
    })
}

/// `preadv2 --iovecs K --block B [--at-position]`: the same by preadv2; with the flag, from the file's position.
pub(super) fn preadv2(args: &Args) -> Outcome<Truth> {
    let at_position = args.flag("--at-position");
    vectored_with(args, |file, slices, offset| {
        let offset = if at_position { u64::MAX } else { offset };
        rustix::io::preadv2(file, slices, offset, ReadWriteFlags::empty()).doing("preadv2")
    })
}

fn vectored_with(
    args: &Args,
    call: impl Fn(&File, &mut [IoSliceMut<'_>], u64) -> Outcome<usize>,
) -> Outcome<Truth> {
    let path = args.file()?;
    let block = args.block(4096)?;
    // More than the eight that a sensor might look at.
    let iovecs = usize::try_from(args.number("--iovecs", 12)?.max(1))?;
    let mut buffer = Buffer::new(block * iovecs);
    let mut slices: Vec<IoSliceMut<'_>> = buffer.chunks_mut(block).map(IoSliceMut::new).collect();
    let file = open(&path)?;
    let mut meter = Meter::begin(args, &path, &file)?;
    let mut offset = 0;
    loop {
        meter.before_read(offset, block * iovecs)?;
        let read = call(&file, &mut slices, offset)?;
        meter.done(offset, read);
        if read == 0 {
            return meter.finish();
        }
        offset += read as u64;
    }
}

/// `reread --passes K --block B`: opens and reads the whole file K times.
pub(super) fn reread(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let mut buffer = Buffer::new(args.block(64 << 10)?);
    let passes = args.number("--passes", 3)?;
    let mut file = open(&path)?;
    let mut meter = Meter::begin(args, &path, &file)?;
    for pass in 0..passes {
        if pass > 0 {
            file = open(&path)?;
            meter.opened();
        }
        read_to_end(&mut file, &mut buffer, &mut meter)?;
    }
    meter.finish()
}

/// `deleted --block B`: opens the file, removes its name, and reads it. The file is gone afterwards.
pub(super) fn deleted(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let mut buffer = Buffer::new(args.block(64 << 10)?);
    let mut file = open(&path)?;
    std::fs::remove_file(&path).doing(path.display())?;
    let mut meter = Meter::begin(args, &path, &file)?;
    read_to_end(&mut file, &mut buffer, &mut meter)?;
    meter.finish()
}
