//! A part of a BPF array, mapped: no call and no copy for each entry.
//!
//! The kernel counts mapped pages as this process's memory, so large tables are looked at through a window that moves.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, AtomicU64};

use hotset_sys::{FileView, Mapping};

/// Entries of any size that is a multiple of 8 bytes fill whole pages in groups of so many.
pub(crate) const GROUP: usize = 512;

/// Mapped memory that BPF programs write to at the same time.
#[derive(Debug)]
pub(crate) struct Window(Mapping);

impl Window {
    /// Maps `length` bytes of an array that was made for it, from `offset` on, which is a multiple of the page size.
    ///
    /// # Errors
    /// The kernel's answer; it refuses what goes beyond the array.
    pub(crate) fn open(map: impl AsFd, offset: u64, length: usize) -> io::Result<Self> {
        let view = FileView { writable: true, ..FileView::default() };
        Ok(Self(Mapping::of_file(map, offset, length, view)?))
    }

    /// Its 64-bit words.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping is readable, writable and aligned to pages for its whole length and lives as long as `self`;
        // whoever else writes to it is beyond this program, and atomics allow that.
        unsafe { std::slice::from_raw_parts(self.0.start().cast(), self.0.bytes() / 8) }
    }

    /// Its 32-bit words.
    pub(crate) fn halves(&self) -> &[AtomicU32] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.0.start().cast(), self.0.bytes() / 4) }
    }
}
