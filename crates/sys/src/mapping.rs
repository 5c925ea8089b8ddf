//! Mapped memory, given back when it is dropped.

use std::os::fd::AsFd;
use std::ptr::{self, NonNull};

use rustix::io::Errno;
use rustix::mm::{MapFlags, MremapFlags, ProtFlags, mmap, mmap_anonymous, mremap, munmap};

/// A mapping of a file or of anonymous memory. Who reads or writes through its address says why that is sound: a file can shrink.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: an address that only this value knows; it belongs to no thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `len` bytes of a file from `offset` on, a multiple of the page size.
    ///
    /// # Errors
    /// As mmap(2) gives them.
    pub fn of_file(
        fd: impl AsFd,
        offset: u64,
        len: usize,
        access: ProtFlags,
        flags: MapFlags,
    ) -> Result<Self, Errno> {
        // SAFETY: a new mapping at an address of the kernel's choice.
        Self::own(unsafe { mmap(ptr::null_mut(), len, access, flags, fd, offset)? }, len)
    }

    /// Maps `len` bytes of private memory, zero where nobody wrote.
    ///
    /// # Errors
    /// As mmap(2) gives them.
    pub fn anonymous(len: usize, access: ProtFlags, flags: MapFlags) -> Result<Self, Errno> {
        let flags = MapFlags::PRIVATE | flags;
        // SAFETY: a new mapping at an address of the kernel's choice.
        Self::own(unsafe { mmap_anonymous(ptr::null_mut(), len, access, flags)? }, len)
    }

    fn own(start: *mut std::ffi::c_void, len: usize) -> Result<Self, Errno> {
        Ok(Self { start: NonNull::new(start.cast()).ok_or(Errno::NOMEM)?, len })
    }

    /// Makes it longer or shorter, at another address if need be.
    ///
    /// # Errors
    /// As mremap(2) gives them; it stays as it was then.
    pub fn resize(&mut self, len: usize) -> Result<(), Errno> {
        // SAFETY: the mapping of this value, borrowed as a whole: nobody has a reference into it.
        let start = unsafe { mremap(self.start().cast(), self.len, len, MremapFlags::MAYMOVE)? };
        (self.start, self.len) = (NonNull::new(start.cast()).ok_or(Errno::NOMEM)?, len);
        Ok(())
    }

    /// Where it begins.
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> usize {
        self.len
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: made by this value, and nothing borrows from it any more.
        let _ = unsafe { munmap(self.start().cast(), self.len) };
    }
}
