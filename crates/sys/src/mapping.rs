//! Mapped memory, given back when it is dropped.

use std::os::fd::AsFd;
use std::ptr::{self, NonNull};

use rustix::io::Errno;
use rustix::mm::{MapFlags, MremapFlags, ProtFlags, mmap, mmap_anonymous, mremap, munmap};

/// How a file is mapped: readable, and as these say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileView {
    /// What is written to it is nobody else's (MAP_PRIVATE); else it is written to the file.
    pub private: bool,
    /// It can be written to.
    pub writable: bool,
    /// All of it is brought in and mapped by the call (MAP_POPULATE).
    pub populated: bool,
}

/// A mapping of a file or of anonymous memory. Who reads or writes through its address says why that is sound: a file can shrink.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a mapping belongs to the process and not to a thread, and this value alone moves and unmaps it.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `len` bytes of a file from `offset` on, a multiple of the page size.
    ///
    /// # Errors
    /// As mmap(2) gives them.
    pub fn of_file(fd: impl AsFd, offset: u64, len: usize, view: FileView) -> Result<Self, Errno> {
        let mut access = ProtFlags::READ;
        access.set(ProtFlags::WRITE, view.writable);
        let mut flags = if view.private { MapFlags::PRIVATE } else { MapFlags::SHARED };
        flags.set(MapFlags::POPULATE, view.populated);
        // SAFETY: a new mapping at an address of the kernel's choice, which replaces none.
        Self::own(unsafe { mmap(ptr::null_mut(), len, access, flags, fd, offset)? }, len)
    }

    /// Maps `len` bytes of private memory, which is backed as it is touched; zero where nobody wrote.
    ///
    /// # Errors
    /// As mmap(2) gives them.
    pub fn anonymous(len: usize) -> Result<Self, Errno> {
        Self::memory(len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::empty())
    }

    /// The same, backed by the call, with no swap reserved for it (MAP_NORESERVE).
    ///
    /// # Errors
    /// As mmap(2) gives them.
    pub fn populated(len: usize) -> Result<Self, Errno> {
        let flags = MapFlags::POPULATE | MapFlags::NORESERVE;
        Self::memory(len, ProtFlags::READ | ProtFlags::WRITE, flags)
    }

    /// Takes `len` bytes of the address space: no memory, and nobody may touch it.
    ///
    /// # Errors
    /// As mmap(2) gives them.
    pub fn reserved(len: usize) -> Result<Self, Errno> {
        Self::memory(len, ProtFlags::empty(), MapFlags::NORESERVE)
    }

    fn memory(len: usize, access: ProtFlags, more: MapFlags) -> Result<Self, Errno> {
        let flags = MapFlags::PRIVATE | more;
        // SAFETY: a new mapping at an address of the kernel's choice: no caller here asks for a fixed one.
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
        // SAFETY: made by this value, and who uses its address keeps the value.
        let _ = unsafe { munmap(self.start().cast(), self.len) };
    }
}
