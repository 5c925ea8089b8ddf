//! One block after the other: read(2) and the like.

use std::os::fd::{AsRawFd, OwnedFd};

use super::{Answer, Blocks, Calls, Engine, JobError, measure};
use crate::rawio::AlignedBuffer;

/// A call, or a pair of them, that reads one block.
pub(super) trait ReadCall {
    /// What an error names.
    const NAME: &'static str;

    /// Fills `room` from `offset` on. How many bytes came, or a negative number.
    ///
    /// # Safety
    /// `room` is memory that nobody else uses.
    unsafe fn read(&mut self, room: &libc::iovec, offset: libc::off_t) -> i64;

    /// What so many reads called.
    fn calls(&self, reads: u64) -> Calls;
}

struct Serial<C> {
    call: C,
    block: AlignedBuffer,
}

/// Measures a call.
pub(super) fn serial(
    call: impl ReadCall,
    blocks: Blocks<'_>,
    checked: bool,
) -> Result<Answer, JobError> {
    measure(Serial { call, block: AlignedBuffer::for_job(blocks.bytes)? }, blocks, checked)
}

impl<C: ReadCall> Engine for Serial<C> {
    fn pass(
        &mut self,
        blocks: Blocks<'_>,
        mut seen: impl FnMut(u64, &[u8]),
    ) -> Result<Calls, JobError> {
        let room = libc::iovec { iov_base: self.block.start().cast(), iov_len: blocks.bytes };
        for &number in blocks.numbers {
            let offset = blocks.offset(number);
            // SAFETY: the buffer of this value, which holds `blocks.bytes` bytes.
            let got = unsafe { self.call.read(&room, offset as libc::off_t) };
            if got as usize != blocks.bytes {
                return Err(blocks.short(offset, got, C::NAME));
            }
            seen(offset, self.block.bytes());
        }
        Ok(self.call.calls(blocks.numbers.len() as u64))
    }
}

/// pread(2).
pub(super) struct Pread(pub(super) OwnedFd);

impl ReadCall for Pread {
    const NAME: &'static str = "pread";

    #[inline(always)]
    unsafe fn read(&mut self, room: &libc::iovec, offset: libc::off_t) -> i64 {
        // SAFETY: as the caller says.
        unsafe { libc::pread(self.0.as_raw_fd(), room.iov_base, room.iov_len, offset) as i64 }
    }

    fn calls(&self, reads: u64) -> Calls {
        vec![("pread", reads)]
    }
}

/// lseek(2) and read(2).
pub(super) struct SeekRead(pub(super) OwnedFd);

impl ReadCall for SeekRead {
    const NAME: &'static str = "read";

    #[inline(always)]
    unsafe fn read(&mut self, room: &libc::iovec, offset: libc::off_t) -> i64 {
        let fd = self.0.as_raw_fd();
        // SAFETY: lseek touches no memory; the rest is as the caller says.
        unsafe {
            libc::lseek(fd, offset, libc::SEEK_SET);
            libc::read(fd, room.iov_base, room.iov_len) as i64
        }
    }

    fn calls(&self, reads: u64) -> Calls {
        vec![("lseek", reads), ("read", reads)]
    }
}

/// preadv2(2) with `RWF_NOWAIT`, and pread(2) where that would wait.
pub(super) struct NoWait {
    pub(super) pread: Pread,
    /// Reads that would have waited.
    pub(super) waited: u64,
}

impl ReadCall for NoWait {
    const NAME: &'static str = "pread";

    #[inline(always)]
    unsafe fn read(&mut self, room: &libc::iovec, offset: libc::off_t) -> i64 {
        let fd = self.pread.0.as_raw_fd();
        // SAFETY: as the caller says.
        let got = unsafe { libc::preadv2(fd, room, 1, offset, libc::RWF_NOWAIT) };
        if got as usize == room.iov_len {
            return got as i64;
        }
        self.waited += 1;
        // SAFETY: as the caller says.
        unsafe { self.pread.read(room, offset) }
    }

    fn calls(&self, reads: u64) -> Calls {
        vec![("preadv2", reads), ("pread", self.waited)]
    }
}
