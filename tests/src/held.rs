//! Files whose pages this process keeps in the cache.

use std::fs::File;
use std::path::Path;
use std::ptr::{self, NonNull};

use rustix::mm::{MapFlags, ProtFlags};

/// A file that is mapped whole, with every page in the page table, until this value ends.
pub struct Mapped {
    start: NonNull<u8>,
    len: usize,
}

impl Mapped {
    /// Maps it, for reading.
    pub fn whole(path: &Path) -> Self {
        let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let len = file.metadata().expect("its size").len() as usize;
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a new mapping at an address of the kernel's choice, unmapped by Drop; tests never touch it.
        let start =
            unsafe { rustix::mm::mmap(ptr::null_mut(), len, ProtFlags::READ, flags, &file, 0) };
        let start = NonNull::new(start.expect("mmap").cast()).expect("a mapping is never at 0");
        Self { start, len }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping that `whole` made, whose address nobody else has.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// A file that is mapped whole and locked in memory, until this value ends.
pub struct Mlock {
    _mapped: Mapped,
}

impl Mlock {
    /// Maps and locks it.
    pub fn whole(path: &Path) -> Self {
        let mapped = Mapped::whole(path);
        // SAFETY: the range of the mapping, which lives as long as this value; unmapping unlocks.
        unsafe { rustix::mm::mlock(mapped.start.as_ptr().cast(), mapped.len) }.expect("mlock");
        Self { _mapped: mapped }
    }
}
