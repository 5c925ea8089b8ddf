//! The native writer.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;

/// Collects pieces in memory and writes it when it is full. A piece that is larger than the memory, when that is empty, is
/// written directly; so do Go's bufio.Writer and others.
///
/// A file of `total` bytes takes `ceil(total / max(piece, memory))` write calls, unless the kernel takes less than it is
/// given.
pub(super) struct Buffered<'a> {
    fd: BorrowedFd<'a>,
    memory: &'a mut [u8],
    used: usize,
    calls: u64,
}

impl<'a> Buffered<'a> {
    pub(super) fn new(fd: BorrowedFd<'a>, memory: &'a mut [u8]) -> Self {
        Self { fd, memory, used: 0, calls: 0 }
    }

    /// Write calls so far.
    pub(super) fn calls(&self) -> u64 {
        self.calls
    }

    #[inline]
    pub(super) fn push(&mut self, mut piece: &[u8]) -> Result<(), Errno> {
        while piece.len() > self.memory.len() - self.used {
            if self.used == 0 {
                return write_all(self.fd, piece, &mut self.calls);
            }
            let (fits, rest) = piece.split_at(self.memory.len() - self.used);
            self.memory[self.used..].copy_from_slice(fits);
            self.used = self.memory.len();
            self.flush()?;
            piece = rest;
        }
        self.memory[self.used..self.used + piece.len()].copy_from_slice(piece);
        self.used += piece.len();
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<(), Errno> {
        let used = std::mem::take(&mut self.used);
        write_all(self.fd, &self.memory[..used], &mut self.calls)
    }
}

fn write_all(fd: BorrowedFd<'_>, mut bytes: &[u8], calls: &mut u64) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let written = rustix::io::write(fd, bytes)?;
        *calls += 1;
        if written == 0 {
            return Err(Errno::NOSPC);
        }
        bytes = &bytes[written..];
    }
    Ok(())
}
