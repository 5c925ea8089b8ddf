//! Mappings of files that are never cut off.

use std::fs::File;
use std::io::{Error, Result};
use std::ptr;

use rustix::mm::{Advice, MapFlags, MsyncFlags, ProtFlags};

use super::worker::{Need, Worker};

const PAGE: u64 = 4096;

/// A whole file.
pub(super) struct Mapping {
    start: *mut u8,
    len: usize,
}

impl Mapping {
    /// Shared, and writable if so asked.
    pub(super) fn of(w: &mut Worker, handle: usize, writable: bool) -> Result<Self> {
        Self::with(w, handle, writable, MapFlags::SHARED)
    }

    fn with(w: &mut Worker, handle: usize, writable: bool, flags: MapFlags) -> Result<Self> {
        let handle = &w.handles[handle];
        let file = &handle.file;
        let len = usize::try_from(file.metadata_len()?).map_err(Error::other)?;
        if len as u64 <= PAGE {
            w.ledger.small(handle);
        }
        let mut access = ProtFlags::READ;
        access.set(ProtFlags::WRITE, writable);
        // SAFETY: a new mapping at an address of the kernel's choice, unmapped by Drop.
        let start = unsafe { rustix::mm::mmap(ptr::null_mut(), len, access, flags, file, 0)? };
        Ok(Self { start: start.cast(), len })
    }

    pub(super) fn start(&self) -> *mut u8 {
        self.start
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Reads a byte of each page of a range, as far as it is mapped.
    pub(super) fn load(&self, offset: u64, len: usize) {
        let end = (offset + len as u64).min(self.len as u64);
        for page in offset / PAGE..end.div_ceil(PAGE) {
            // SAFETY: within the mapping, which is readable.
            unsafe { self.place(page).read_volatile() };
        }
    }

    /// A page's first byte, by its number, round and round.
    fn place(&self, page: u64) -> *mut u8 {
        let pages = (self.len as u64).div_ceil(PAGE);
        // SAFETY: below the mapping's length, for the file has at least as many bytes as were mapped.
        unsafe { self.start.add(((page % pages) * PAGE) as usize) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `with`, and nothing refers to it any more.
        let _ = unsafe { rustix::mm::munmap(self.start.cast(), self.len) };
    }
}

/// fstat(2) by the descriptor, which is no lookup.
trait MetadataLen {
    fn metadata_len(&self) -> Result<u64>;
}

impl MetadataLen for File {
    fn metadata_len(&self) -> Result<u64> {
        Ok(rustix::fs::fstat(self)?.st_size.unsigned_abs())
    }
}

pub(super) fn load(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Mapped)?;
    let mapping = Mapping::of(w, index, false)?;
    let (first, count, step) = (w.below(512), w.below(40), 1 + w.below(9));
    for page in 0..count {
        // SAFETY: within the mapping, which is readable.
        unsafe { mapping.place(first + page * step).read_volatile() };
    }
    Ok(())
}

pub(super) fn store(w: &mut Worker) -> Result<()> {
    stores(w, MapFlags::SHARED)
}

/// Copies of pages, which the file never sees.
pub(super) fn private(w: &mut Worker) -> Result<()> {
    stores(w, MapFlags::PRIVATE)
}

fn stores(w: &mut Worker, flags: MapFlags) -> Result<()> {
    let index = w.handle(Need::Mapped)?;
    let mapping = Mapping::with(w, index, true, flags)?;
    let (first, count, step) = (w.below(512), w.below(20), 1 + w.below(9));
    for page in 0..count {
        // SAFETY: within the mapping, which is writable; nobody holds a reference to it.
        unsafe { mapping.place(first + page * step).write_volatile(page as u8) };
    }
    Ok(())
}

pub(super) fn populate(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Mapped)?;
    let mapping = Mapping::of(w, index, false)?;
    let advice = if w.one_in(2) { Advice::LinuxPopulateRead } else { Advice::WillNeed };
    // SAFETY: the range of this mapping; both only read pages in.
    unsafe { rustix::mm::madvise(mapping.start.cast(), mapping.len, advice)? };
    Ok(())
}

/// Stores, and has them written.
pub(super) fn sync(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Mapped)?;
    let mapping = Mapping::of(w, index, true)?;
    // SAFETY: as in `stores`, and then the range of this mapping.
    unsafe {
        mapping.place(w.below(512)).write_volatile(1);
        w.ledger.other_sync();
        rustix::mm::msync(mapping.start.cast(), mapping.len, MsyncFlags::SYNC)?;
    }
    Ok(())
}
