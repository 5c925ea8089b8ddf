//! Requests of one thread that are in flight together: a ring of io_uring, as a program makes it that asks for nothing special.
//!
//! A request is queued, and handed to the kernel with those right behind it. Each has its own part of a buffer until it is done, and
//! only then is its result compared with the recording.

use std::io;
use std::os::fd::RawFd;

use hotset_facts::replay::{PlanThread, Step, StepKind};
use io_uring::{IoUring, opcode, types};

use super::ReplayError;
use super::thread::ThreadRun;
use crate::rawio::AlignedBuffer;

/// Parts of the buffer begin where O_DIRECT can read to.
const ALIGNMENT: usize = 4096;
/// A buffer for all requests that may be in flight is no larger.
const MOST_BYTES: usize = 1 << 30;

/// A ring, and what it reads into and writes from.
pub(super) struct Ring {
    ring: IoUring,
    buffer: AlignedBuffer,
    /// Bytes of the buffer for each request.
    part_bytes: usize,
    /// The step that each part is used for, or was.
    steps: Vec<Step>,
    /// Parts that no request uses.
    free: Vec<u32>,
}

impl Ring {
    /// What a thread needs: as many requests in flight as its plan says, each as large as its largest. Nothing where it makes none.
    pub(super) fn of(thread: &PlanThread) -> Result<Option<Self>, ReplayError> {
        let requests = || thread.steps.iter().filter(|step| step.kind.is_in_flight());
        let Some(largest) = requests().map(|step| step.bytes).max() else { return Ok(None) };
        if thread.ring_depth == 0 {
            return Ok(None);
        }
        let count = u32::try_from(requests().count()).unwrap_or(u32::MAX);
        let depth = thread.ring_depth.min(count);
        let refused = |what, error| ReplayError::System { what, error };
        let ring = IoUring::new(depth).map_err(|error| {
            refused("io_uring (is it allowed? see /proc/sys/kernel/io_uring_disabled)", error)
        })?;
        let part_bytes = usize::try_from(largest).unwrap_or(usize::MAX).clamp(1, MOST_BYTES);
        let part_bytes = part_bytes.next_multiple_of(ALIGNMENT);
        let all_bytes = part_bytes.checked_mul(depth as usize).filter(|all| *all <= MOST_BYTES);
        let buffer = all_bytes.and_then(AlignedBuffer::new).ok_or_else(|| {
            let what = "memory for all requests in flight, of which 1 GiB is given at most";
            refused(what, io::ErrorKind::OutOfMemory.into())
        })?;
        // What is written is bytes that no file system compresses.
        let mut buffer = buffer;
        if requests().any(|step| step.kind == StepKind::WriteRing) {
            let mut random = hotset_facts::random::Random::new(u64::from(depth));
            for word in buffer.bytes_mut().as_chunks_mut::<8>().0 {
                *word = random.number().to_ne_bytes();
            }
        }
        let steps = vec![Step::new(StepKind::ReadRing, 0, 0); depth as usize];
        Ok(Some(Self { ring, buffer, part_bytes, steps, free: (0..depth).rev().collect() }))
    }

    fn flying(&self) -> usize {
        self.steps.len() - self.free.len()
    }

    /// Queues a request on a descriptor, with flags for a write; where all parts are in use, waits for one that is done before. It is
    /// handed over at once unless `more` follow.
    ///
    /// Returns what was recorded, as its own result is not there yet; or the number of an error of io_uring_enter(2) below zero.
    pub(super) fn begin(
        &mut self,
        (fd, flags): (RawFd, i32),
        step: &Step,
        more: bool,
        run: &mut ThreadRun,
    ) -> i64 {
        if self.free.is_empty() {
            let waited = self.wait(self.steps.len().saturating_sub(1), run);
            if waited < 0 {
                return waited;
            }
        }
        let Some(part) = self.free.pop() else { return -i64::from(libc::EBUSY) };
        let start = self.buffer.start().wrapping_add(part as usize * self.part_bytes);
        let bytes = step.bytes.min(self.part_bytes as u64) as u32;
        let (fd, offset) = (types::Fd(fd), step.offset);
        let request = match step.kind {
            StepKind::SyncRing => opcode::Fsync::new(fd).build(),
            StepKind::WriteRing => {
                opcode::Write::new(fd, start, bytes).offset(offset).rw_flags(flags).build()
            }
            _ => opcode::Read::new(fd, start, bytes).offset(offset).build(),
        };
        if let Some(known) = self.steps.get_mut(part as usize) {
            *known = *step;
        }
        // SAFETY: the part is in the buffer, no other request uses it until this one is done, and the buffer outlives it: `drop` waits
        // for all, and where that fails, leaves the buffer allocated. The kernel holds the file once it has the request.
        if unsafe { self.ring.submission().push(&request.user_data(part.into())) }.is_err() {
            self.free.push(part);
            return -i64::from(libc::EBUSY);
        }
        let handed = if more { 0 } else { self.hand_over() };
        if handed < 0 { handed } else { step.result }
    }

    /// Hands all that is queued to the kernel, and waits until no more than `left` are in flight.
    pub(super) fn drain(&mut self, left: u64, run: &mut ThreadRun) -> i64 {
        let waited = self.wait(usize::try_from(left).unwrap_or(usize::MAX), run);
        if waited < 0 { waited } else { self.hand_over() }
    }

    fn hand_over(&mut self) -> i64 {
        if self.ring.submission().is_empty() {
            return 0;
        }
        self.ring.submit().map_or_else(|error| number(&error), |_| 0)
    }

    /// Waits until no more than `left` are in flight: 0, or the number of an error below zero.
    fn wait(&mut self, left: usize, run: &mut ThreadRun) -> i64 {
        loop {
            self.take_done(run);
            let too_many = self.flying().saturating_sub(left);
            if too_many == 0 {
                return 0;
            }
            match self.ring.submit_and_wait(too_many) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return number(&error),
            }
        }
    }

    /// Compares what is done with the recording.
    fn take_done(&mut self, run: &mut ThreadRun) {
        for done in self.ring.completion() {
            let part = done.user_data() as u32;
            if let Some(step) = self.steps.get(part as usize) {
                run.compare(step, done.result().into());
                self.free.push(part);
            }
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.wait(0, &mut ThreadRun::default()) < 0 {
            // Requests may be in flight still, and the kernel uses their parts whenever they end.
            std::mem::forget(std::mem::replace(&mut self.buffer, AlignedBuffer::empty()));
        }
    }
}

/// The number of an error below zero.
fn number(error: &io::Error) -> i64 {
    -i64::from(error.raw_os_error().unwrap_or(libc::EIO))
}
