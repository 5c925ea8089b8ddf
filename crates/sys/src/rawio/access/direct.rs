//! What reads past the cache ask for.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

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
