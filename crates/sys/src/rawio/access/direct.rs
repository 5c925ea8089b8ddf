//! Past the cache.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

use super::plain::{Plain, Pread};
use super::{Blocks, Calls, Engine, JobError};
use crate::rawio::AlignedBuffer;

/// How reads past the cache have to be aligned, in bytes: their offsets and their lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectAlignment(pub u32);

/// Asks by reading: the smallest of 512 and 4096 bytes that is accepted at its own offset. The file must hold 8 KiB and be
/// open with `O_DIRECT`.
///
/// # Errors
/// As pread(2) gives them.
pub fn direct_alignment(file: &File) -> io::Result<DirectAlignment> {
    let mut buffer = AlignedBuffer::new(4096).ok_or(io::ErrorKind::OutOfMemory)?;
    let mut last = io::Error::from(io::ErrorKind::Unsupported);
    for alignment in [512_u32, 4096] {
        let (len, offset) = (alignment as usize, libc::off_t::from(alignment));
        // SAFETY: the buffer holds 4096 bytes.
        let got = unsafe { libc::pread(file.as_raw_fd(), buffer.start().cast(), len, offset) };
        match usize::try_from(got) {
            Ok(got) if got == len => return Ok(DirectAlignment(alignment)),
            Ok(_) => last = io::ErrorKind::UnexpectedEof.into(),
            Err(_) => last = io::Error::last_os_error(),
        }
    }
    Err(last)
}

/// Opens with `O_DIRECT`.
pub(super) fn open(blocks: Blocks<'_>) -> Result<File, JobError> {
    File::options()
        .read(true)
        .custom_flags(libc::O_DIRECT)
        .open(blocks.path)
        .map_err(|error| JobError::call(blocks.path, "open with O_DIRECT", error))
}

pub(super) struct Direct(Pread);

impl Direct {
    pub(super) fn open(blocks: Blocks<'_>) -> Result<Self, JobError> {
        Plain::of(blocks, open(blocks)?).map(Pread::of).map(Self)
    }
}

impl Engine for Direct {
    fn pass(
        &mut self,
        blocks: Blocks<'_>,
        seen: impl FnMut(u64, &[u8]),
    ) -> Result<Calls, JobError> {
        self.0.pass(blocks, seen)
    }
}
