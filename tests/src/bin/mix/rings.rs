//! io_uring: a few requests at once, each with memory of its own.

use std::io::{Error, Result};
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, squeue, types};

use super::worker::{LONGEST, Need, Worker};

/// Requests in flight at once, at most.
const DEPTH: usize = 4;
const SHARE: usize = LONGEST / DEPTH;

/// A ring that knows the worker's memory as its buffer 0.
pub(super) struct Ring(IoUring);

/// A request on its way.
struct Request {
    handle: usize,
    offset: u64,
    entry: squeue::Entry,
}

/// The worker's ring, made when it is first used.
fn ring(w: &mut Worker) -> Result<&mut Ring> {
    if w.ring.is_none() {
        let ring = IoUring::new(DEPTH as u32)?;
        let memory = libc::iovec { iov_base: w.memory.as_mut_ptr().cast(), iov_len: LONGEST };
        // SAFETY: the memory lives as long as the worker, and so as long as its ring.
        unsafe { ring.submitter().register_buffers(&[memory])? };
        w.ring = Some(Ring(ring));
    }
    w.ring.as_mut().ok_or_else(|| Error::other("no ring"))
}

/// Submits all, waits for all, and hands each result on, in the order of the requests.
fn complete(w: &mut Worker, entries: Vec<squeue::Entry>) -> Result<Vec<i32>> {
    let ring = ring(w)?;
    let mut results = vec![0; entries.len()];
    for (index, entry) in entries.iter().enumerate() {
        let entry = entry.clone().user_data(index as u64);
        // SAFETY: the memory and the descriptor of each entry stay until all have completed, below.
        unsafe { ring.0.submission().push(&entry) }.map_err(Error::other)?;
    }
    ring.0.submit_and_wait(entries.len())?;
    for done in ring.0.completion() {
        results[done.user_data() as usize] = done.result();
    }
    Ok(results)
}

pub(super) fn read(w: &mut Worker) -> Result<()> {
    some(w, false)
}

pub(super) fn write(w: &mut Worker) -> Result<()> {
    some(w, true)
}

fn some(w: &mut Worker, writes: bool) -> Result<()> {
    let need = if writes { Need::WriteAt } else { Need::Read };
    let mut handles = Vec::new();
    for _ in 0..=w.below(DEPTH as u64) {
        handles.push(w.handle(need)?);
    }
    // Only now all descriptors are what they stay: opening a file may have closed one that was chosen before.
    handles.sort_unstable();
    handles.dedup();
    let requests: Vec<Request> = handles
        .into_iter()
        .enumerate()
        .map(|(slot, handle)| request(w, writes, slot, handle))
        .collect();
    let entries = requests.iter().map(|request| request.entry.clone()).collect();
    let results = complete(w, entries)?;
    for (request, result) in requests.iter().zip(results) {
        let Ok(n) = usize::try_from(result) else { continue };
        let handle = &w.handles[request.handle];
        if writes {
            w.ledger.write(handle, request.offset, n);
        } else {
            w.ledger.read_by_ring(handle, request.offset, n);
        }
    }
    Ok(())
}

fn request(w: &mut Worker, writes: bool, slot: usize, handle: usize) -> Request {
    let (offset, len) = if writes { w.writes(handle) } else { w.range(handle) };
    let (fixed, run_async) = (w.one_in(3), w.one_in(3));
    let len = len.min(SHARE) as u32;
    // On Linux 6.18, a read of no bytes into a registered buffer, with O_DIRECT on Btrfs, ended in an oops: a NULL dereference in
    // iov_iter_alignment(), called by btrfs_direct_read().
    let fixed = fixed && len > 0;
    if !writes {
        w.ledger.ask_ring(&w.handles[handle], offset, len as usize);
    } else {
        w.ledger.fill_up(&w.handles[handle], offset);
    }
    let start = w.memory[slot * SHARE..].as_mut_ptr();
    let fd = types::Fd(w.handles[handle].file.as_raw_fd());
    let entry = match (writes, fixed) {
        (false, false) => opcode::Read::new(fd, start, len).offset(offset).build(),
        (false, true) => opcode::ReadFixed::new(fd, start, len, 0).offset(offset).build(),
        (true, false) => opcode::Write::new(fd, start, len).offset(offset).build(),
        (true, true) => opcode::WriteFixed::new(fd, start, len, 0).offset(offset).build(),
    };
    let flags = if run_async { squeue::Flags::ASYNC } else { squeue::Flags::empty() };
    Request { handle, offset, entry: entry.flags(flags) }
}

/// By a descriptor with O_APPEND, at its own position.
pub(super) fn append(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Append)?;
    let (_, len) = w.writes(index);
    let fd = types::Fd(w.handles[index].file.as_raw_fd());
    let entry = opcode::Write::new(fd, w.memory.as_ptr(), len.min(SHARE) as u32);
    let results = complete(w, vec![entry.offset(u64::MAX).build()])?;
    let n = usize::try_from(results[0]).map_err(|_| Error::from_raw_os_error(-results[0]))?;
    let handle = &w.handles[index];
    w.ledger.write(handle, handle.began(n), n);
    Ok(())
}

pub(super) fn fsync(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Any)?;
    let fd = types::Fd(w.handles[index].file.as_raw_fd());
    complete(w, vec![opcode::Fsync::new(fd).build()])?;
    w.ledger.sync(&w.handles[index]);
    Ok(())
}
