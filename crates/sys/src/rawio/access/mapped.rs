//! mmap(2) and memcpy(3).

use std::fs::File;
use std::os::fd::AsRawFd;

use super::{Blocks, Calls, Engine, JobError};
use crate::rawio::AlignedBuffer;

/// What the kernel is told about a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Advice {
    /// The kernel is told nothing.
    None,
    /// `MADV_RANDOM`: no reading around a fault.
    Random,
    /// `MADV_SEQUENTIAL`.
    Sequential,
    /// `MAP_POPULATE`: all of it is read and mapped by the call.
    Populate,
    /// `MADV_HUGEPAGE`.
    HugePages,
}

impl Advice {
    fn value(self) -> Option<libc::c_int> {
        match self {
            Self::None | Self::Populate => None,
            Self::Random => Some(libc::MADV_RANDOM),
            Self::Sequential => Some(libc::MADV_SEQUENTIAL),
            Self::HugePages => Some(libc::MADV_HUGEPAGE),
        }
    }
}

pub(super) struct Mapped {
    file: File,
    len: usize,
    advice: Advice,
    block: AlignedBuffer,
}

impl Mapped {
    pub(super) fn open(blocks: Blocks<'_>, advice: Advice) -> Result<Self, JobError> {
        let file =
            File::open(blocks.path).map_err(|error| JobError::call(blocks.path, "open", error))?;
        let len =
            file.metadata().map_err(|error| JobError::call(blocks.path, "fstat", error))?.len();
        let block = AlignedBuffer::new(blocks.bytes)
            .ok_or_else(|| JobError::Argument(format!("no memory for {} bytes", blocks.bytes)))?;
        let len = usize::try_from(len)
            .map_err(|_| JobError::wrong(blocks.path, "is too large to be mapped"))?;
        let last = blocks.numbers.iter().copied().max().unwrap_or(0);
        if blocks.offset(last) + blocks.bytes as u64 > len as u64 {
            return Err(JobError::wrong(blocks.path, "has become shorter"));
        }
        Ok(Self { file, len, advice, block })
    }
}

impl Engine for Mapped {
    fn pass(
        &mut self,
        blocks: Blocks<'_>,
        mut seen: impl FnMut(u64, &[u8]),
    ) -> Result<Calls, JobError> {
        // Left mapped: taking it down is not in the time, and the process ends soon.
        let map = Map::new(&self.file, self.len, self.advice, blocks)?;
        let target = self.block.start();
        for &number in blocks.numbers {
            let offset = blocks.offset(number);
            // SAFETY: `open` saw that each block lies in the file as it was then, which this process maps; the target
            // holds `blocks.bytes` bytes. A file that shrinks meanwhile ends the process by SIGBUS, which its parent
            // sees.
            unsafe {
                std::ptr::copy_nonoverlapping(map.start.add(offset as usize), target, blocks.bytes);
            }
            seen(offset, self.block.bytes());
        }
        let mut calls = vec![("mmap", 1)];
        calls.extend(self.advice.value().map(|_| ("madvise", 1)));
        Ok(calls)
    }
}

struct Map {
    start: *const u8,
}

impl Map {
    fn new(file: &File, len: usize, advice: Advice, blocks: Blocks<'_>) -> Result<Self, JobError> {
        let populate = if advice == Advice::Populate { libc::MAP_POPULATE } else { 0 };
        let flags = libc::MAP_SHARED | populate;
        let fd = file.as_raw_fd();
        // SAFETY: a new mapping of an open file where the kernel has room for it.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, flags, fd, 0) };
        if start == libc::MAP_FAILED {
            return Err(blocks.failed("mmap"));
        }
        if let Some(advice) = advice.value() {
            // SAFETY: the mapping made above.
            if unsafe { libc::madvise(start, len, advice) } != 0 {
                return Err(blocks.failed("madvise"));
            }
        }
        Ok(Self { start: start.cast() })
    }
}
