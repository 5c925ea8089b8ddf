//! Memory in mappings of their own, so that it is known what is paid for it and when.

use std::io;
use std::os::fd::BorrowedFd;
use std::ptr;

use rustix::mm::Advice;

use crate::mapping::{FileView, Mapping};

/// What a transparent huge page spans where base pages have 4 KiB; a mapping is aligned to it.
const HUGE_BYTES: usize = 2 << 20;

/// What one load of a processor brings.
const LINE_BYTES: usize = 64;

/// Anonymous memory, zero where nobody wrote, given back when it is dropped.
pub(super) struct Area {
    mapping: Mapping,
    /// Bytes before the aligned beginning.
    skipped: usize,
    len: usize,
}

impl Area {
    /// At least `bytes`, in whole base pages, and one page at least. With `huge`, aligned to huge pages and with the
    /// advice to use them.
    pub(super) fn new(bytes: u64, huge: bool) -> io::Result<Self> {
        let len = usize::try_from(bytes.max(1)).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let len = round_up(len, crate::page_size() as usize)?;
        if !huge {
            return Ok(Self { mapping: Mapping::anonymous(len)?, skipped: 0, len });
        }
        // Newer kernels align large mappings by themselves, older ones don't.
        let mapping = Mapping::anonymous(round_up(len, HUGE_BYTES)? + HUGE_BYTES)?;
        let skipped = mapping.start().align_offset(HUGE_BYTES);
        // SAFETY: the range lies in the mapping, which has room for the alignment; advice changes no contents.
        unsafe {
            let start = mapping.start().add(skipped);
            rustix::mm::madvise(start.cast(), round_up(len, HUGE_BYTES)?, Advice::LinuxHugepage)?;
        }
        Ok(Self { mapping, skipped, len })
    }

    /// Its size in bytes.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping holds `skipped + len` bytes, private, readable and writable, for as long as it lives,
        // and is borrowed as long as the slice.
        unsafe { std::slice::from_raw_parts_mut(self.mapping.start().add(self.skipped), self.len) }
    }

    /// Writes one byte to each base page.
    pub(super) fn touch(&mut self) {
        for page in self.bytes().chunks_mut(crate::page_size() as usize) {
            // SAFETY: a valid place; volatile, so that the write happens although nobody reads it.
            unsafe { ptr::from_mut(&mut page[0]).write_volatile(1) };
        }
    }

    /// Writes zeros to all of it.
    pub(super) fn zero(&mut self) {
        let bytes = self.bytes();
        bytes.fill(0);
        std::hint::black_box(bytes);
    }
}

/// A file, mapped for reading and given back when it is dropped.
pub(super) struct FileMap(Mapping);

impl FileMap {
    /// `bytes` from the start of the file, which must not be empty.
    pub(super) fn new(fd: BorrowedFd<'_>, bytes: u64, populated: bool) -> io::Result<Self> {
        let len = usize::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let view = FileView { private: true, populated, ..FileView::default() };
        Ok(Self(Mapping::of_file(fd, 0, len, view)?))
    }

    /// Looks at one word of each cache line, and adds them up.
    pub(super) fn look(&self) -> u64 {
        let start = self.0.start();
        let mut sum = 0_u64;
        for at in (0..self.0.bytes()).step_by(LINE_BYTES) {
            // SAFETY: inside of the mapping. Volatile, so that each is loaded, and that another process may write to
            // the file meanwhile.
            sum = sum.wrapping_add(u64::from(unsafe { start.add(at).read_volatile() }));
        }
        sum
    }
}

fn round_up(bytes: usize, unit: usize) -> io::Result<usize> {
    bytes.checked_next_multiple_of(unit).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rawio::timed;

    #[test]
    fn memory_is_zero_aligned_and_whole_pages() {
        for (huge, align) in [(false, crate::page_size() as usize), (true, HUGE_BYTES)] {
            let mut area = Area::new(5000, huge).expect("memory");
            assert_eq!(area.len() as u64, 2 * crate::page_size());
            assert_eq!(area.bytes().as_ptr().align_offset(align), 0);
            assert!(area.bytes().iter().all(|&byte| byte == 0));
            area.touch();
            let page = crate::page_size() as usize;
            assert_eq!((area.bytes()[0], area.bytes()[1], area.bytes()[page]), (1, 0, 1));
            area.zero();
            assert!(area.bytes().iter().all(|&byte| byte == 0));
        }
        assert!(Area::new(u64::MAX, false).is_err());
    }

    #[test]
    fn touching_takes_a_fault_a_page() {
        let pages = 2000;
        let mut area = Area::new(pages * crate::page_size(), false).expect("memory");
        // Where the system gives huge pages unasked, there are fewer; here faults are counted.
        // SAFETY: advice on memory of our own.
        unsafe {
            let start = area.bytes().as_mut_ptr();
            rustix::mm::madvise(start.cast(), area.len(), Advice::LinuxNoHugepage).expect("advice");
        }
        let (_, touched) = timed(|| {
            area.touch();
            Ok::<_, io::Error>(())
        })
        .expect("touch");
        // Other tests fault too, in other threads.
        assert!(touched.minor_faults >= Some(pages), "{touched:?}");
    }
}
