//! What io_uring does beside plain reads and writes, one request at a time unless it says otherwise.

use std::fs::File;
use std::io::{Error, Read};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;

use io_uring::{IoUring, Probe, opcode, squeue, types};

use super::args::Args;
use super::buffer::Buffer;
use super::meter::Meter;
use super::truth::{LookupTruth, Truth};
use super::{Doing, Outcome};

const RWF_APPEND: i32 = 0x10;

/// Submits entries at once; says what became of each, in their order.
fn all(ring: &mut IoUring, entries: &[squeue::Entry]) -> Outcome<Vec<i32>> {
    for (index, entry) in entries.iter().enumerate() {
        let entry = entry.clone().user_data(index as u64);
        // SAFETY: whatever an entry points to outlives this function, which waits for its end.
        unsafe { ring.submission().push(&entry) }.doing("the submission queue")?;
    }
    let mut results = vec![0; entries.len()];
    let mut left = entries.len();
    while left > 0 {
        ring.submit_and_wait(left).doing("io_uring_enter")?;
        for done in ring.completion() {
            results[usize::try_from(done.user_data())?] = done.result();
            left -= 1;
        }
    }
    Ok(results)
}

fn one(ring: &mut IoUring, entry: squeue::Entry) -> Outcome<i32> {
    Ok(all(ring, &[entry])?[0])
}

fn moved(result: i32) -> Outcome<usize> {
    usize::try_from(result).map_err(|_| Error::from_raw_os_error(-result)).doing("a request")
}

/// `uring-append --block B --count N --depth D [--async] [--by-flag]`: appends in batches of D, linked so that they keep
/// their order, to a file that was opened with O_APPEND, or by RWF_APPEND.
pub(super) fn append(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let block = args.block(1000)?;
    let depth = args.number("--depth", 8)?.max(1);
    let by_flag = args.flag("--by-flag");
    let file = File::options()
        .read(true)
        .write(true)
        .append(!by_flag)
        .open(&path)
        .doing(path.display())?;
    let buffer = Buffer::new(block);
    let mut ring = IoUring::new(u32::try_from(depth)?).doing("io_uring_setup")?;
    let mut meter = Meter::begin(args, &path, &file)?;
    let (mut end, mut left) = (meter.size(), args.number("--count", 200)?);
    while left > 0 {
        let batch = depth.min(left);
        let entry = |index| {
            let mut flags = squeue::Flags::empty();
            flags.set(squeue::Flags::IO_LINK, index + 1 < batch);
            flags.set(squeue::Flags::ASYNC, args.flag("--async"));
            opcode::Write::new(types::Fd(file.as_raw_fd()), buffer.as_ptr(), block as u32)
                .rw_flags(if by_flag { RWF_APPEND } else { 0 })
                .build()
                .flags(flags)
        };
        if depth == 1 {
            meter.before_write(end, block)?;
        }
        for result in all(&mut ring, &(0..batch).map(entry).collect::<Vec<_>>())? {
            if depth == 1 {
                meter.done(end, moved(result)?);
            } else {
                meter.unasked(end, moved(result)?);
            }
            end += block as u64;
        }
        left -= batch;
    }
    meter.finish_write()
}

/// fsync(2) by a ring of its own: what the kernel answers.
pub(super) fn fsync(file: &File) -> Outcome<i32> {
    let mut ring = IoUring::new(1).doing("io_uring_setup")?;
    one(&mut ring, opcode::Fsync::new(types::Fd(file.as_raw_fd())).build())
}

/// `uring-splice --block B`: the file into a pipe to its end.
pub(super) fn splice(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let block = args.block(16 << 10)?;
    let file = File::open(&path).doing(path.display())?;
    let (mut reader, writer) = std::io::pipe().doing("pipe")?;
    let mut buffer = Buffer::new(block);
    let mut ring = IoUring::new(1).doing("io_uring_setup")?;
    let mut meter = Meter::begin(args, &path, &file)?;
    let mut offset = 0;
    while offset < meter.size() {
        meter.before_read(offset, block)?;
        let (from, to) = (types::Fd(file.as_raw_fd()), types::Fd(writer.as_raw_fd()));
        let entry = opcode::Splice::new(from, offset as i64, to, -1, block as u32).build();
        let bytes = moved(one(&mut ring, entry)?)?;
        meter.done(offset, bytes);
        reader.read_exact(&mut buffer[..bytes]).doing("the pipe")?;
        offset += bytes as u64;
    }
    meter.finish()
}

/// `uring-mixed --block B`: vectors in a registered buffer where the kernel knows that, chains, also broken ones, syncs, and
/// a multishot read, which files refuse.
pub(super) fn mixed(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let block = args.block(8192)?;
    let file = File::open(&path).doing(path.display())?;
    let fd = types::Fd(file.as_raw_fd());
    let mut buffer = Buffer::new(block);
    let mut ring = IoUring::new(8).doing("io_uring_setup")?;
    let whole = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: block };
    // SAFETY: the buffer outlives the ring's requests.
    unsafe { ring.submitter().register_buffers(&[whole]) }.doing("registering the buffer")?;
    let halves = buffer
        .chunks_mut(block.div_ceil(2))
        .map(|half| libc::iovec { iov_base: half.as_mut_ptr().cast(), iov_len: half.len() });
    let halves: Vec<libc::iovec> = halves.collect();
    let mut probe = Probe::new();
    ring.submitter().register_probe(&mut probe).doing("asking what io_uring can do")?;
    let registered = probe.is_supported(opcode::ReadvFixed::CODE);
    let read = |at: u64| opcode::Read::new(fd, whole.iov_base.cast(), block as u32).offset(at);
    let linked = |entry: squeue::Entry| entry.flags(squeue::Flags::IO_LINK);

    let mut meter = Meter::begin(args, &path, &file)?;
    let mut offset = 0;
    while offset + 3 * block as u64 <= meter.size() {
        let (vector, count) = (halves.as_ptr(), halves.len() as u32);
        let entry = if registered {
            opcode::ReadvFixed::new(fd, vector, count, 0).offset(offset).build()
        } else {
            opcode::Readv::new(fd, vector, count).offset(offset).build()
        };
        meter.unasked(offset, moved(one(&mut ring, entry)?)?);
        let (second, third) = (offset + block as u64, offset + 2 * block as u64);
        let chain = [
            linked(read(second).build()),
            linked(read(third).build()),
            opcode::Fsync::new(fd).build(),
        ];
        let results = all(&mut ring, &chain)?;
        meter.unasked(second, moved(results[0])?);
        meter.unasked(third, moved(results[1])?);
        moved(results[2])?;
        meter.sync(|| Ok(()))?;
        let nowhere = opcode::Read::new(types::Fd(RawFd::MAX), whole.iov_base.cast(), 1).build();
        let broken = all(&mut ring, &[linked(nowhere), read(0).build()])?;
        let refused = one(&mut ring, opcode::ReadMulti::new(fd, block as u32, 0).build())?;
        if broken.iter().any(|result| *result >= 0) || refused >= 0 {
            return Err(format!("not refused: {broken:?} {refused}").into());
        }
        offset = third + block as u64;
    }
    meter.finish()
}

/// `uring-lookups --count N`: N times, opens the file and a name that does not exist, and asks statx for both.
pub(super) fn lookups(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let file = File::open(&path).doing(path.display())?;
    let name = std::ffi::CString::new(path.as_os_str().as_bytes())?;
    let missing = std::ffi::CString::new([path.as_os_str().as_bytes(), b".missing"].concat())?;
    let mut ring = IoUring::new(4).doing("io_uring_setup")?;
    let mut meter = Meter::begin(args, &path, &file)?;
    let mut truth = LookupTruth::default();
    // SAFETY: plain memory, which the kernel fills.
    let mut found: libc::statx = unsafe { std::mem::zeroed() };
    for _ in 0..args.number("--count", 10)? {
        for (name, exists) in [(&name, true), (&missing, false)] {
            let cwd = types::Fd(libc::AT_FDCWD);
            let opened = one(&mut ring, opcode::OpenAt::new(cwd, name.as_ptr()).build())?;
            let place = std::ptr::from_mut(&mut found).cast();
            let stat = opcode::Statx::new(cwd, name.as_ptr(), place).mask(libc::STATX_SIZE);
            let asked = one(&mut ring, stat.build())?;
            if (opened >= 0) != exists || (asked >= 0) != exists {
                return Err(format!("{name:?}: {opened} {asked}").into());
            }
            if exists {
                one(&mut ring, opcode::Close::new(types::Fd(opened)).build())?;
                meter.opened();
            }
            truth.calls += 2;
            truth.failed += if exists { 0 } else { 2 };
        }
    }
    let lookups = Some(truth);
    Ok(Truth { lookups, ..meter.finish()? })
}

/// `uring-silent --count N`: reads that leave no completion.
pub(super) fn silent(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let file = File::open(&path).doing(path.display())?;
    let mut buffer = Buffer::new(4096);
    let mut ring = IoUring::new(4).doing("io_uring_setup")?;
    let meter = Meter::begin(args, &path, &file)?;
    for _ in 0..args.number("--count", 10)? {
        let read = opcode::Read::new(types::Fd(file.as_raw_fd()), buffer.as_mut_ptr(), 4096);
        let read = read.build().flags(squeue::Flags::SKIP_SUCCESS | squeue::Flags::IO_LINK);
        // SAFETY: the next request is linked to this one, and its end is waited for.
        unsafe { ring.submission().push(&read) }.doing("the submission queue")?;
        moved(one(&mut ring, opcode::Nop::new().build())?)?;
    }
    meter.finish()
}
