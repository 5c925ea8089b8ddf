//! A file's bytes without copying them, where the file can be mapped.
//!
//! The kernel hands out its type information a page a read, 1,400 reads; since 6.16 it can be mapped.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use hotset_sys::{FileView, Mapping};

/// The bytes of a file.
#[derive(Debug)]
pub(crate) enum FileBytes {
    Mapped(Mapping),
    Read(Vec<u8>),
}

impl FileBytes {
    /// Maps the file, or reads it. It must be one that does not change, as the kernel's type information.
    pub(crate) fn open(path: &str) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = usize::try_from(file.metadata()?.len()).unwrap_or(0);
        let view = FileView { private: true, ..FileView::default() };
        match Mapping::of_file(&file, 0, length, view) {
            Ok(mapping) => Ok(Self::Mapped(mapping)),
            Err(_) => Ok(Self::Read(std::fs::read(path)?)),
        }
    }

    /// Maps the values of a BPF array that was made for it. No program may write to them while they are looked at.
    pub(crate) fn of_array(map: impl AsFd, length: usize) -> io::Result<Self> {
        Ok(Self::Mapped(Mapping::of_file(map, 0, length, FileView::default())?))
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            // SAFETY: the mapping is readable for its whole length and lives as long as `self`, and nobody writes to it; the
            // kernel refuses one beyond an array.
            Self::Mapped(mapping) => unsafe {
                std::slice::from_raw_parts(mapping.start(), mapping.bytes())
            },
            Self::Read(bytes) => bytes,
        }
    }
}
