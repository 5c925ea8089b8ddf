//! A file's bytes without copying them, where the file can be mapped.
//!
//! The kernel hands out its type information a page a read, 1,400 reads; since 6.16 it can be mapped.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// The bytes of a file.
#[derive(Debug)]
pub(crate) enum FileBytes {
    Mapped { start: NonNull<u8>, length: usize },
    Read(Vec<u8>),
}

impl FileBytes {
    /// Maps the file, or reads it.
    pub(crate) fn open(path: &str) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = usize::try_from(file.metadata()?.len()).unwrap_or(0);
        if length > 0 {
            // SAFETY: a new private read-only mapping of this file, unmapped by drop and never written to; the kernel's
            // type information does not change while it runs.
            let mapped = unsafe {
                mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::PRIVATE, &file, 0)
            };
            if let Some(start) = mapped.ok().and_then(|start| NonNull::new(start.cast())) {
                return Ok(Self::Mapped { start, length });
            }
        }
        Ok(Self::Read(std::fs::read(path)?))
    }

    /// Maps the values of a BPF array that was made for it. No program may write to them while they are looked at.
    pub(crate) fn of_array(map: impl AsFd, length: usize) -> io::Result<Self> {
        // SAFETY: a new read-only mapping of a map's memory, unmapped by drop; the kernel refuses a length beyond it.
        let start = unsafe {
            mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, map, 0)?
        };
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self::Mapped { start, length })
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            // SAFETY: the mapping is readable for its whole length and lives as long as `self`.
            Self::Mapped { start, length } => unsafe {
                std::slice::from_raw_parts(start.as_ptr(), *length)
            },
            Self::Read(bytes) => bytes,
        }
    }
}

impl Drop for FileBytes {
    fn drop(&mut self) {
        if let Self::Mapped { start, length } = self {
            // SAFETY: mapped by `open` with this length, and no slice of it outlives `self`.
            let _ = unsafe { munmap(start.as_ptr().cast(), *length) };
        }
    }
}
