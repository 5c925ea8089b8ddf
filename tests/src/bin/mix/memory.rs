//! Page-aligned memory with a page behind it that nobody may touch.

use std::ops::{Deref, DerefMut};
use std::ptr;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};

use super::Outcome;

const PAGE: usize = 4096;

/// A buffer whose end is the end of what is mapped there.
pub(super) struct Memory {
    start: *mut u8,
    len: usize,
}

impl Memory {
    /// `len` bytes, a multiple of a page.
    pub(super) fn new(len: usize) -> Outcome<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice, unmapped by Drop.
        let start = unsafe {
            rustix::mm::mmap_anonymous(ptr::null_mut(), len + PAGE, access, MapFlags::PRIVATE)?
        };
        let memory = Self { start: start.cast(), len };
        // SAFETY: the last page of the mapping, to which nothing refers.
        unsafe {
            rustix::mm::mprotect(memory.start.add(len).cast(), PAGE, MprotectFlags::empty())?
        };
        Ok(memory)
    }
}

impl Deref for Memory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: mapped and zeroed for `len` bytes as long as `self` lives.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and nothing refers to it any more.
        let _ = unsafe { rustix::mm::munmap(self.start.cast(), self.len + PAGE) };
    }
}
