//! The C library's streams.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;

use super::serial::ReadCall;
use super::{Blocks, Calls, JobError};
use crate::rawio::AlignedBuffer;

/// Whose buffer a stream has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Buffering {
    /// The one that the library makes: `st_blksize` bytes in glibc.
    Default,
    /// No buffer: each call reads.
    None,
    /// One of this size, given to setvbuf(3). glibc ignores a size that comes without a buffer.
    Own(usize),
}

pub(super) struct Stdio {
    stream: *mut libc::FILE,
    /// Lives as long as the stream.
    _buffer: Option<AlignedBuffer>,
}

impl Stdio {
    pub(super) fn open(blocks: Blocks<'_>, buffering: Buffering) -> Result<Self, JobError> {
        let name = CString::new(blocks.path.as_os_str().as_bytes())
            .map_err(|error| JobError::call(blocks.path, "fopen", error))?;
        // SAFETY: both texts end with NUL.
        let stream = unsafe { libc::fopen(name.as_ptr(), c"re".as_ptr()) };
        if stream.is_null() {
            return Err(blocks.failed("fopen"));
        }
        let mut made = Self { stream, _buffer: None };
        let null = std::ptr::null_mut();
        let refused = match buffering {
            Buffering::Default => 0,
            // SAFETY: the stream is open and nothing was read.
            Buffering::None => unsafe { libc::setvbuf(stream, null, libc::_IONBF, 0) },
            Buffering::Own(bytes) => {
                let mut buffer = AlignedBuffer::for_job(bytes)?;
                let start = buffer.start().cast();
                made._buffer = Some(buffer);
                // SAFETY: the buffer holds these bytes and is freed after the stream is closed.
                unsafe { libc::setvbuf(stream, start, libc::_IOFBF, bytes) }
            }
        };
        if refused == 0 { Ok(made) } else { Err(blocks.failed("setvbuf")) }
    }
}

impl ReadCall for Stdio {
    const NAME: &'static str = "fread";

    #[inline(always)]
    unsafe fn read(&mut self, room: &libc::iovec, offset: libc::off_t) -> i64 {
        // SAFETY: the stream is open; the rest is as the caller says.
        unsafe {
            libc::fseeko(self.stream, offset, libc::SEEK_SET);
            libc::fread(room.iov_base, 1, room.iov_len, self.stream) as i64
        }
    }

    fn calls(&self, reads: u64) -> Calls {
        vec![("fseek", reads), ("fread", reads)]
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        // SAFETY: opened by `open` and closed once; the buffer outlives it, as fields are dropped later.
        unsafe { libc::fclose(self.stream) };
    }
}
