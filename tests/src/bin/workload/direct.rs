//! I/O past the cache. Nothing is requested of the cache, so nothing is missing from it.

use std::fs::File;
use std::ops::DerefMut;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::Instant;

use super::args::Args;
use super::buffer::Buffer;
use super::mapped::Mapping;
use super::meter::Meter;
use super::truth::{DirectTruth, Truth};
use super::{Doing, Outcome};

pub(super) fn open(path: &Path, write: bool) -> Outcome<File> {
    File::options()
        .read(true)
        .write(write)
        .custom_flags(libc::O_DIRECT)
        .open(path)
        .doing(format_args!("{} with O_DIRECT", path.display()))
}

/// What is read into and written from: memory of its own, or with `--file2 PATH` that file, mapped and shared, as a whole.
fn memory(args: &Args) -> Outcome<Box<dyn DerefMut<Target = [u8]>>> {
    let Ok(path) = args.path("--file2") else {
        return Ok(Box::new(Buffer::new(args.block(1 << 20)?)));
    };
    let file = File::options().read(true).write(true).open(&path).doing(path.display())?;
    let mapping = Mapping::new(&path, &file, true)?;
    (0..mapping.len()).step_by(4096).for_each(|at| mapping.touch(at));
    Ok(Box::new(mapping))
}

/// `direct-read --block B`: pread to the end; B a multiple of the device's block.
pub(super) fn read(args: &Args) -> Outcome<Truth> {
    read_passes(args, 1)
}

/// `direct-reread --block B --passes K`: the same bytes K times.
pub(super) fn reread(args: &Args) -> Outcome<Truth> {
    read_passes(args, args.number("--passes", 3)?)
}

fn read_passes(args: &Args, passes: u64) -> Outcome<Truth> {
    let path = args.file()?;
    let mut buffer = memory(args)?;
    let file = open(&path, false)?;
    let mut meter = Meter::begin(args, &path, &file)?;
    let mut direct = DirectTruth::default();
    for pass in 0..passes {
        let mut offset = 0;
        while offset < meter.size() {
            if passes == 1 {
                meter.before_read(offset, buffer.len())?;
            }
            let read = file.read_at(&mut buffer, offset).doing("direct pread")?;
            if read == 0 {
                return Err(format!("{}: shorter than its size", path.display()).into());
            }
            if passes == 1 {
                meter.done(offset, read);
            } else {
                meter.unasked(offset, read);
            }
            direct.read_calls += 1;
            direct.read_bytes += read as u64;
            direct.reread_bytes += if pass > 0 { read as u64 } else { 0 };
            offset += read as u64;
        }
    }
    let mut truth = meter.finish()?;
    truth.direct = Some(direct);
    Ok(truth)
}

/// `direct-mixed --block B --passes K`: reads the first half once by 4 KiB, then K + 1 times the B bytes behind it, and at last
/// B bytes of which the first half is among those.
pub(super) fn mixed(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let block = args.block(1 << 20)? as u64;
    let mut buffer = Buffer::new(block as usize);
    let file = open(&path, false)?;
    let mut meter = Meter::begin(args, &path, &file)?;
    let half = meter.size() / 2;
    let small = (0..half / 4096).map(|page| (page * 4096, 4096, 0));
    let large = (0..=args.number("--passes", 8)?).map(|pass| (half, block, block * pass.min(1)));
    let mut direct = DirectTruth::default();
    for (offset, bytes, again) in small.chain(large).chain([(half + block / 2, block, block / 2)]) {
        let begin = Instant::now();
        let read = file.read_at(&mut buffer[..bytes as usize], offset).doing("direct pread")?;
        let ns = u64::try_from(begin.elapsed().as_nanos())?;
        if read as u64 != bytes {
            return Err(format!("{}: too small", path.display()).into());
        }
        meter.unasked(offset, read);
        direct.read_calls += 1;
        direct.read_bytes += bytes;
        direct.reread_bytes += again;
        direct.reread_time_ns += (ns * again).div_ceil(bytes);
        direct.first_time_ns += (ns * (bytes - again)).div_ceil(bytes) + 1;
    }
    let mut truth = meter.finish()?;
    truth.direct = Some(direct);
    Ok(truth)
}

/// `direct-write --block B`: overwrites the whole blocks of the file.
pub(super) fn write(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let buffer = memory(args)?;
    let file = open(&path, true)?;
    let mut meter = Meter::begin(args, &path, &file)?;
    let mut direct = DirectTruth::default();
    let mut offset = 0;
    while offset + buffer.len() as u64 <= meter.size() {
        let written = file.write_at(&buffer, offset).doing("direct pwrite")?;
        meter.unasked(offset, written);
        direct.write_calls += 1;
        direct.write_bytes += written as u64;
        offset += written as u64;
    }
    let mut truth = meter.finish()?;
    truth.direct = Some(direct);
    Ok(truth)
}
