//! io_uring.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::{IoUring, opcode, types};

use super::{Blocks, Calls, Engine, JobError};
use crate::rawio::AlignedBuffer;

/// What is made known to the ring in advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Registered {
    Nothing,
    /// The file and the buffers.
    All,
}

pub(super) struct Uring {
    ring: IoUring,
    file: OwnedFd,
    /// A block for each read in flight.
    buffer: AlignedBuffer,
    depth: usize,
    registered: Registered,
    /// Reads that are handed over together, at most.
    group: usize,
}

/// Reads past the cache are handed over in groups of so many: a device waits while a larger one is put together. Of 1, 2, 4
/// and all that are free, this was the fastest and the steadiest on a virtio disk (3.3 us a read against 4.2 for all).
pub(super) const DIRECT_GROUP: usize = 2;

/// Why this process may not make a ring; nothing where it may.
pub fn uring_refused() -> Option<io::Error> {
    IoUring::new(1).err()
}

impl Uring {
    pub(super) fn new(
        blocks: Blocks<'_>,
        file: OwnedFd,
        depth: u32,
        registered: Registered,
    ) -> Result<Self, JobError> {
        let failed = |call| move |error: io::Error| JobError::call(blocks.path, call, error);
        let ring = ring(depth).map_err(failed("io_uring_setup"))?;
        let total = depth as usize * blocks.bytes;
        let mut buffer = AlignedBuffer::for_job(total)?;
        if registered == Registered::All {
            let start = buffer.start();
            let places: Vec<libc::iovec> = (0..depth as usize)
                .map(|slot| libc::iovec {
                    // SAFETY: within the buffer, which holds `depth` blocks.
                    iov_base: unsafe { start.add(slot * blocks.bytes) }.cast(),
                    iov_len: blocks.bytes,
                })
                .collect();
            let submitter = ring.submitter();
            // SAFETY: the buffer lives as long as the ring and is not moved.
            unsafe { submitter.register_buffers(&places) }.map_err(failed("io_uring_register"))?;
            submitter.register_files(&[file.as_raw_fd()]).map_err(failed("io_uring_register"))?;
        }
        Ok(Self { ring, file, buffer, depth: depth as usize, registered, group: usize::MAX })
    }

    /// Hands over so many reads at a time.
    pub(super) fn in_groups(self, group: usize) -> Self {
        Self { group, ..self }
    }
}

/// Work for this task is done when it waits, where the kernel knows that (6.1); else whenever it is interrupted.
fn ring(depth: u32) -> io::Result<IoUring> {
    let new = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(depth);
    new.or_else(|_| IoUring::new(depth))
}

impl Engine for Uring {
    fn pass(
        &mut self,
        blocks: Blocks<'_>,
        seen: impl FnMut(u64, &[u8]),
    ) -> Result<Calls, JobError> {
        let done = self.passed(blocks, seen);
        if done.is_err() {
            // Reads may be in flight still, and the kernel writes to their places whenever they end: these stay allocated.
            std::mem::forget(std::mem::replace(&mut self.buffer, AlignedBuffer::empty()));
        }
        done
    }
}

impl Uring {
    fn passed(
        &mut self,
        blocks: Blocks<'_>,
        seen: impl FnMut(u64, &[u8]),
    ) -> Result<Calls, JobError> {
        // A loop of its own for each way: nothing is decided for each read.
        match self.registered {
            Registered::Nothing => {
                let fd = types::Fd(self.file.as_raw_fd());
                self.turn(blocks, seen, |start, slot, offset| {
                    let _ = slot;
                    opcode::Read::new(fd, start, blocks.bytes as u32).offset(offset).build()
                })
            }
            Registered::All => self.turn(blocks, seen, |start, slot, offset| {
                let len = blocks.bytes as u32;
                opcode::ReadFixed::new(types::Fixed(0), start, len, slot).offset(offset).build()
            }),
        }
    }

    #[inline(always)]
    fn turn(
        &mut self,
        blocks: Blocks<'_>,
        mut seen: impl FnMut(u64, &[u8]),
        entry: impl Fn(*mut u8, u16, u64) -> io_uring::squeue::Entry,
    ) -> Result<Calls, JobError> {
        let start = self.buffer.start();
        let (submitter, mut queue, mut done) = self.ring.split();
        let mut free: Vec<u16> = (0..self.depth as u16).rev().collect();
        let mut numbers = blocks.numbers.iter();
        let (mut flying, mut enters) = (0_usize, 0_u64);
        loop {
            let mut pushed = 0;
            // Sees which places the kernel has emptied.
            queue.sync();
            while let Some(&slot) = free.last() {
                let Some(&number) = numbers.next() else { break };
                // SAFETY: within the buffer, which holds a block for each slot.
                let place = unsafe { start.add(slot as usize * blocks.bytes) };
                let entry = entry(place, slot, blocks.offset(number));
                let entry = entry.user_data(u64::from(number) << 16 | u64::from(slot));
                // SAFETY: the buffer outlives the read: all are waited for below, and where that fails, `pass` leaves the
                // buffer allocated. The kernel holds the file. The queue has as many places as there are slots.
                if unsafe { queue.push(&entry) }.is_err() {
                    return Err(JobError::wrong(blocks.path, "the submission queue is full"));
                }
                free.pop();
                pushed += 1;
                if pushed == self.group {
                    queue.sync();
                    enters += 1;
                    submitter.submit().map_err(|error| entered(blocks, error))?;
                    queue.sync();
                    flying += std::mem::take(&mut pushed);
                }
            }
            flying += pushed;
            if flying == 0 {
                break;
            }
            queue.sync();
            enters += 1;
            match submitter.submit_and_wait(1) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(entered(blocks, error)),
            }
            done.sync();
            for completion in &mut done {
                let (slot, offset) = completed(blocks, &completion)?;
                let place = start.wrapping_add(slot as usize * blocks.bytes);
                // SAFETY: the block of this slot, which the kernel has written and no read in flight uses.
                seen(offset, unsafe { std::slice::from_raw_parts(place, blocks.bytes) });
                free.push(slot);
                flying -= 1;
            }
        }
        Ok(vec![("io_uring_enter", enters), ("read", blocks.numbers.len() as u64)])
    }
}

/// The slot of a read that is done, and the offset that it read from.
#[inline(always)]
fn completed(blocks: Blocks<'_>, entry: &io_uring::cqueue::Entry) -> Result<(u16, u64), JobError> {
    let (data, got) = (entry.user_data(), entry.result());
    let offset = blocks.offset((data >> 16) as u32);
    if got as usize != blocks.bytes {
        return Err(failed(blocks, offset, got));
    }
    Ok((data as u16, offset))
}

fn entered(blocks: Blocks<'_>, error: io::Error) -> JobError {
    JobError::call(blocks.path, "io_uring_enter", error)
}

fn failed(blocks: Blocks<'_>, offset: u64, got: i32) -> JobError {
    if got < 0 {
        return JobError::call(blocks.path, "read by io_uring", io::Error::from_raw_os_error(-got));
    }
    blocks.short(offset, i64::from(got), "read by io_uring")
}
