//! mmap(2) and memcpy(3).

use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;

use rustix::fs::OFlags;

use super::{Blocks, Calls, Engine, JobError};
use crate::mapping::{FileView, Mapping};
use crate::rawio::AlignedBuffer;
use crate::rawio::open::{open, size};

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
    file: OwnedFd,
    len: usize,
    advice: Advice,
    block: AlignedBuffer,
}

impl Mapped {
    pub(super) fn open(blocks: Blocks<'_>, advice: Advice) -> Result<Self, JobError> {
        let file = open(blocks.path, OFlags::empty())?;
        let block = AlignedBuffer::for_job(blocks.bytes)?;
        let len = usize::try_from(size(blocks.path, &file)?)
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
        let map = ManuallyDrop::new(self.map(blocks)?);
        let start = map.start();
        let target = self.block.start();
        for &number in blocks.numbers {
            let offset = blocks.offset(number);
            // SAFETY: `open` saw that each block lies in the file as it was then, which this process maps; the target
            // holds `blocks.bytes` bytes. A file that shrinks meanwhile ends the process by SIGBUS, which its parent
            // sees.
            unsafe {
                std::ptr::copy_nonoverlapping(start.add(offset as usize), target, blocks.bytes);
            }
            seen(offset, self.block.bytes());
        }
        let mut calls = vec![("mmap", 1)];
        calls.extend(self.advice.value().map(|_| ("madvise", 1)));
        Ok(calls)
    }
}

impl Mapped {
    fn map(&self, blocks: Blocks<'_>) -> Result<Mapping, JobError> {
        let populated = self.advice == Advice::Populate;
        let view = FileView { populated, ..FileView::default() };
        let map = Mapping::of_file(&self.file, 0, self.len, view)
            .map_err(|errno| JobError::call(blocks.path, "mmap", errno))?;
        if let Some(advice) = self.advice.value() {
            // SAFETY: the mapping made above.
            if unsafe { libc::madvise(map.start().cast(), self.len, advice) } != 0 {
                return Err(blocks.failed("madvise"));
            }
        }
        Ok(map)
    }
}
