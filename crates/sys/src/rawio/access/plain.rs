//! read(2) and the like.

use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};

use super::{Blocks, Calls, Engine, JobError};
use crate::rawio::AlignedBuffer;

/// An open file and a buffer for a block.
pub(super) struct Plain {
    file: File,
    pub(super) buffer: AlignedBuffer,
}

impl Plain {
    pub(super) fn open(blocks: Blocks<'_>) -> Result<Self, JobError> {
        let file =
            File::open(blocks.path).map_err(|error| JobError::call(blocks.path, "open", error))?;
        Self::of(blocks, file)
    }

    pub(super) fn of(blocks: Blocks<'_>, file: File) -> Result<Self, JobError> {
        let buffer = AlignedBuffer::new(blocks.bytes)
            .ok_or_else(|| JobError::Argument(format!("no memory for {} bytes", blocks.bytes)))?;
        Ok(Self { file, buffer })
    }

    fn fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

pub(super) struct Pread(Plain);

impl Pread {
    pub(super) fn open(blocks: Blocks<'_>) -> Result<Self, JobError> {
        Plain::open(blocks).map(Self)
    }

    pub(super) fn of(plain: Plain) -> Self {
        Self(plain)
    }
}

impl Engine for Pread {
    fn pass(
        &mut self,
        blocks: Blocks<'_>,
        mut seen: impl FnMut(u64, &[u8]),
    ) -> Result<Calls, JobError> {
        let (fd, start) = (self.0.fd(), self.0.buffer.start());
        for &number in blocks.numbers {
            let offset = blocks.offset(number);
            // SAFETY: the buffer holds `blocks.bytes` bytes.
            let got = unsafe { libc::pread(fd, start.cast(), blocks.bytes, offset as libc::off_t) };
            if got as usize != blocks.bytes {
                return Err(blocks.short(offset, got as i64, "pread"));
            }
            seen(offset, self.0.buffer.bytes());
        }
        Ok(vec![("pread", blocks.numbers.len() as u64)])
    }
}

pub(super) struct SeekRead(Plain);

impl SeekRead {
    pub(super) fn open(blocks: Blocks<'_>) -> Result<Self, JobError> {
        Plain::open(blocks).map(Self)
    }
}

impl Engine for SeekRead {
    fn pass(
        &mut self,
        blocks: Blocks<'_>,
        mut seen: impl FnMut(u64, &[u8]),
    ) -> Result<Calls, JobError> {
        let (fd, start) = (self.0.fd(), self.0.buffer.start());
        for &number in blocks.numbers {
            let offset = blocks.offset(number);
            // SAFETY: lseek touches no memory; the buffer holds `blocks.bytes` bytes.
            let got = unsafe {
                libc::lseek(fd, offset as libc::off_t, libc::SEEK_SET);
                libc::read(fd, start.cast(), blocks.bytes)
            };
            if got as usize != blocks.bytes {
                return Err(blocks.short(offset, got as i64, "read"));
            }
            seen(offset, self.0.buffer.bytes());
        }
        let operations = blocks.numbers.len() as u64;
        Ok(vec![("lseek", operations), ("read", operations)])
    }
}

pub(super) struct NoWait(Plain);

impl NoWait {
    pub(super) fn open(blocks: Blocks<'_>) -> Result<Self, JobError> {
        Plain::open(blocks).map(Self)
    }
}

impl Engine for NoWait {
    fn pass(
        &mut self,
        blocks: Blocks<'_>,
        mut seen: impl FnMut(u64, &[u8]),
    ) -> Result<Calls, JobError> {
        let (fd, start) = (self.0.fd(), self.0.buffer.start());
        let place = libc::iovec { iov_base: start.cast(), iov_len: blocks.bytes };
        let mut waited = 0;
        for &number in blocks.numbers {
            let offset = blocks.offset(number) as libc::off_t;
            // SAFETY: one place of `blocks.bytes` bytes.
            let mut got =
                unsafe { libc::preadv2(fd, &raw const place, 1, offset, libc::RWF_NOWAIT) };
            if got as usize != blocks.bytes {
                waited += 1;
                // SAFETY: the buffer holds `blocks.bytes` bytes.
                got = unsafe { libc::pread(fd, start.cast(), blocks.bytes, offset) };
                if got as usize != blocks.bytes {
                    return Err(blocks.short(offset as u64, got as i64, "pread"));
                }
            }
            seen(offset as u64, self.0.buffer.bytes());
        }
        Ok(vec![("preadv2", blocks.numbers.len() as u64), ("pread", waited)])
    }
}
