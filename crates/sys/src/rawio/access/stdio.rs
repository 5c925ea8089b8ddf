//! The C library's streams.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;

use super::{Blocks, Calls, Engine, JobError};
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
    block: AlignedBuffer,
    /// Lives as long as the stream.
    _stream_buffer: Option<AlignedBuffer>,
}

impl Stdio {
    pub(super) fn open(blocks: Blocks<'_>, buffering: Buffering) -> Result<Self, JobError> {
        let memory = |bytes| {
            AlignedBuffer::new(bytes)
                .ok_or_else(|| JobError::Argument(format!("no memory for {bytes} bytes")))
        };
        let block = memory(blocks.bytes)?;
        let name = CString::new(blocks.path.as_os_str().as_bytes())
            .map_err(|error| JobError::call(blocks.path, "fopen", error))?;
        // SAFETY: both texts end with NUL.
        let stream = unsafe { libc::fopen(name.as_ptr(), c"re".as_ptr()) };
        if stream.is_null() {
            return Err(blocks.failed("fopen"));
        }
        let mut made = Self { stream, block, _stream_buffer: None };
        let null = std::ptr::null_mut();
        let refused = match buffering {
            Buffering::Default => 0,
            // SAFETY: the stream is open and nothing was read.
            Buffering::None => unsafe { libc::setvbuf(stream, null, libc::_IONBF, 0) },
            Buffering::Own(bytes) => {
                let mut buffer = memory(bytes)?;
                let start = buffer.start().cast();
                made._stream_buffer = Some(buffer);
                // SAFETY: the buffer holds these bytes and is freed after the stream is closed.
                unsafe { libc::setvbuf(stream, start, libc::_IOFBF, bytes) }
            }
        };
        if refused == 0 { Ok(made) } else { Err(blocks.failed("setvbuf")) }
    }
}

impl Engine for Stdio {
    fn pass(
        &mut self,
        blocks: Blocks<'_>,
        mut seen: impl FnMut(u64, &[u8]),
    ) -> Result<Calls, JobError> {
        let start = self.block.start();
        for &number in blocks.numbers {
            let offset = blocks.offset(number);
            // SAFETY: the stream is open; the block holds `blocks.bytes` bytes.
            let got = unsafe {
                libc::fseeko(self.stream, offset as libc::off_t, libc::SEEK_SET);
                libc::fread(start.cast(), 1, blocks.bytes, self.stream)
            };
            if got != blocks.bytes {
                return Err(blocks.short(offset, got as i64, "fread"));
            }
            seen(offset, self.block.bytes());
        }
        let operations = blocks.numbers.len() as u64;
        Ok(vec![("fseek", operations), ("fread", operations)])
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        // SAFETY: opened by `open` and closed once; the buffer outlives it, as fields are dropped later.
        unsafe { libc::fclose(self.stream) };
    }
}
