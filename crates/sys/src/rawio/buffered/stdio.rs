//! The C library's writer, with the buffer that it is told to use.

use std::ffi::c_char;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};

use super::WriterKind;

/// An open stream. Its end closes a descriptor of its own, and frees the memory after the stream.
pub(super) struct Stream {
    file: NonNull<libc::FILE>,
    _memory: Vec<u8>,
}

impl Stream {
    /// A stream on `fd` with a buffer of `buffer` bytes, none with 0. As much of the buffer as `total` bytes will fill is
    /// touched already.
    pub(super) fn new(
        fd: BorrowedFd<'_>,
        buffer: usize,
        total: usize,
        kind: WriterKind,
    ) -> io::Result<Self> {
        let own = rustix::io::fcntl_dupfd_cloexec(fd, 3)?;
        // SAFETY: the descriptor is open, and the mode is a string with its NUL.
        let file = unsafe { libc::fdopen(own.as_raw_fd(), c"w".as_ptr()) };
        let file = NonNull::new(file).ok_or_else(io::Error::last_os_error)?;
        // The stream closes it from here on.
        std::mem::forget(own);
        let mut memory: Vec<u8> = match kind {
            WriterKind::StdioNull => Vec::new(),
            WriterKind::Native | WriterKind::Stdio => vec![0; buffer],
        };
        for byte in memory.iter_mut().take(total).step_by(1024) {
            *byte = 1;
        }
        let (start, mode) = match kind {
            _ if buffer == 0 => (ptr::null_mut(), libc::_IONBF),
            WriterKind::StdioNull => (ptr::null_mut(), libc::_IOFBF),
            WriterKind::Native | WriterKind::Stdio => {
                (memory.as_mut_ptr().cast::<c_char>(), libc::_IOFBF)
            }
        };
        // SAFETY: nothing was written to the stream yet; the memory has `buffer` bytes, or none is given, and the vector is
        // not touched again before the stream is closed.
        let failed = unsafe { libc::setvbuf(file.as_ptr(), start, mode, buffer) };
        let stream = Self { file, _memory: memory };
        if failed != 0 {
            return Err(io::Error::other("setvbuf refused the buffer"));
        }
        Ok(stream)
    }

    #[inline]
    pub(super) fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        // SAFETY: an open stream, and as many readable bytes as said.
        let written =
            unsafe { libc::fwrite(piece.as_ptr().cast(), 1, piece.len(), self.file.as_ptr()) };
        if written == piece.len() { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        // SAFETY: an open stream.
        if unsafe { libc::fflush(self.file.as_ptr()) } == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the stream is open, and nobody uses it after this. The memory that it may write from lives until later.
        unsafe { libc::fclose(self.file.as_ptr()) };
    }
}
