//! What the kernel itself keeps of each page of a file: an outside truth that is neither cachestat(2) nor hotset.
//!
//! The file is mapped, the pages that mincore(2) calls resident are touched, /proc/self/pagemap says which frames they
//! are, and /proc/kpageflags and /proc/kpagecount say what those frames are in. Root only.
//!
//! Limits, to be kept in mind by who asks:
//! - mincore(2) speaks of up-to-date pages only, so a page that is still being read in has no frame here and looks absent.
//!   The device gate, not this, is the truth about those.
//! - Touching counts as use: it sets `referenced`, and maps the page for the time of the look. Ask last.
//! - A folio has one set of flags. Of a large folio with one dirty page every page is dirty here, as it is to the kernel.
//! - `mappings` counts this look's own mapping too; kernels since 6.15 may answer an average over a large folio.
//! - Between mincore(2) and the touch a page can be evicted, and the touch would read it back: hosts that evict idle
//!   pages take seconds for that, but an answer is only as fresh as the moment.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::ptr::{self, NonNull};

use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::scratch::is_in_memory;

/// Bits of <linux/kernel-page-flags.h>, and the one of them that only `tools/mm/page-types` knows.
mod bit {
    pub(super) const LOCKED: u64 = 1 << 0;
    pub(super) const REFERENCED: u64 = 1 << 2;
    pub(super) const UPTODATE: u64 = 1 << 3;
    pub(super) const DIRTY: u64 = 1 << 4;
    pub(super) const WRITEBACK: u64 = 1 << 8;
    pub(super) const COMPOUND_HEAD: u64 = 1 << 15;
    pub(super) const COMPOUND_TAIL: u64 = 1 << 16;
    pub(super) const UNEVICTABLE: u64 = 1 << 18;
    pub(super) const MLOCKED: u64 = 1 << 33;
}

/// /proc/self/pagemap: the page is present, and the frame's number.
const PRESENT: u64 = 1 << 63;
const FRAME: u64 = (1 << 55) - 1;
/// More base pages than a folio has on any architecture.
const LARGEST_FOLIO: u64 = 1 << 13;

/// One page of a file that is in the cache and up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageFlags {
    flags: u64,
    /// Page tables that map it, this look's own among them.
    pub mappings: u64,
}

impl PageFlags {
    fn has(self, bit: u64) -> bool {
        self.flags & bit != 0
    }

    /// Its contents are what the file has.
    pub fn uptodate(self) -> bool {
        self.has(bit::UPTODATE)
    }

    /// Modified and not yet sent to the device.
    pub fn dirty(self) -> bool {
        self.has(bit::DIRTY)
    }

    /// On its way to the device.
    pub fn writeback(self) -> bool {
        self.has(bit::WRITEBACK)
    }

    /// Locked for I/O or for a change of its state.
    pub fn locked(self) -> bool {
        self.has(bit::LOCKED)
    }

    /// Held in memory by mlock(2).
    pub fn mlocked(self) -> bool {
        self.has(bit::MLOCKED)
    }

    /// On no list that reclaim looks at.
    pub fn unevictable(self) -> bool {
        self.has(bit::UNEVICTABLE)
    }

    /// Used lately; this look is a use.
    pub fn referenced(self) -> bool {
        self.has(bit::REFERENCED)
    }

    /// Part of a folio of several pages.
    pub fn large(self) -> bool {
        self.has(bit::COMPOUND_HEAD | bit::COMPOUND_TAIL)
    }
}

/// How many pages of a file are in which state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageCounts {
    /// In the cache and up to date.
    pub cached: u64,
    /// To be written to the device.
    pub dirty: u64,
    /// Under writeback.
    pub writeback: u64,
    /// Locked by mlock(2).
    pub mlocked: u64,
    /// Mapped by others than this look.
    pub mapped: u64,
}

/// The state of each page of the file, in order; none for a page that is not in the cache, or not up to date.
pub fn page_flags(path: &Path) -> Vec<Option<PageFlags>> {
    let file = open(path);
    let len = file.metadata().expect("its size").len();
    if len == 0 {
        return Vec::new();
    }
    let mapping = Mapping::new(&file, len as usize);
    let frames = Frames::open();
    let resident = mapping.resident();
    let looks = resident.iter().enumerate();
    looks.map(|(page, here)| here.then(|| frames.look(mapping.frame_of(page)))).collect()
}

/// The same, counted.
pub fn page_counts(path: &Path) -> PageCounts {
    // tmpfs calls its pages dirty so that reclaim swaps them out and never drops them; there is nowhere to write them to.
    let has_device = !is_in_memory(path);
    let mut counts = PageCounts::default();
    for page in page_flags(path).into_iter().flatten() {
        assert!(page.uptodate(), "{page:?} of {} is resident and not up to date", path.display());
        counts.cached += 1;
        counts.dirty += u64::from(page.dirty() && has_device);
        counts.writeback += u64::from(page.writeback());
        counts.mlocked += u64::from(page.mlocked());
        counts.mapped += u64::from(page.mappings > 1);
    }
    counts
}

/// Which pages mincore(2) calls resident, asked without touching any.
pub fn resident_pages(path: &Path) -> Vec<bool> {
    let file = open(path);
    let len = file.metadata().expect("its size").len();
    if len == 0 { Vec::new() } else { Mapping::new(&file, len as usize).resident() }
}

fn open(path: &Path) -> File {
    File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A view of a whole file.
struct Mapping {
    start: NonNull<u8>,
    len: usize,
    page: usize,
    pagemap: File,
}

impl Mapping {
    fn new(file: &File, len: usize) -> Self {
        // SAFETY: a new mapping at an address of the kernel's choice, unmapped by Drop. Tests don't truncate a file that
        // they look at; if one did, a touch would end it by SIGBUS.
        let start = unsafe {
            rustix::mm::mmap(ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, file, 0)
        }
        .expect("mmap");
        // Without it a fault would look ahead.
        // SAFETY: the range of the new mapping; RANDOM changes no contents.
        unsafe { rustix::mm::madvise(start, len, Advice::Random) }.expect("madvise");
        let pagemap = open(Path::new("/proc/self/pagemap"));
        let start = NonNull::new(start.cast()).expect("a mapping is never at 0");
        Self { start, len, page: rustix::param::page_size(), pagemap }
    }

    fn resident(&self) -> Vec<bool> {
        let mut answer = vec![0_u8; self.len.div_ceil(self.page)];
        // SAFETY: the range of this mapping, and a byte of the answer for each of its pages.
        let result =
            unsafe { libc::mincore(self.start.as_ptr().cast(), self.len, answer.as_mut_ptr()) };
        assert_eq!(result, 0, "mincore: {}", std::io::Error::last_os_error());
        answer.iter().map(|byte| byte & 1 == 1).collect()
    }

    /// Touches a page, so that the page table has it, and says which frame it is.
    fn frame_of(&self, page: usize) -> u64 {
        let offset = page * self.page;
        assert!(offset < self.len);
        // SAFETY: within the mapping, which is readable.
        unsafe { self.start.add(offset).read_volatile() };
        let address = self.start.as_ptr() as usize + offset;
        let entry = word_at(&self.pagemap, "/proc/self/pagemap", (address / self.page) as u64);
        let frame = entry & FRAME;
        assert!(entry & PRESENT != 0, "page {page} is not mapped after a touch: {entry:#x}");
        assert!(frame != 0, "/proc/self/pagemap hides frames from whoever is not root");
        frame
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made, whose address nobody else has.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// What the kernel says of frames.
struct Frames {
    flags: File,
    counts: File,
}

impl Frames {
    fn open() -> Self {
        let [flags, counts] = ["/proc/kpageflags", "/proc/kpagecount"].map(|path| {
            File::open(path).unwrap_or_else(|error| {
                panic!("{path}: {error}; this test needs root and CONFIG_PROC_PAGE_MONITOR")
            })
        });
        Self { flags, counts }
    }

    fn look(&self, frame: u64) -> PageFlags {
        let mut flags = self.flags_of(frame);
        let mappings = word_at(&self.counts, "/proc/kpagecount", frame);
        // Before Linux 6.9 the flags of a large folio stand at its first page only.
        if flags & bit::COMPOUND_TAIL != 0 {
            flags |= (1..LARGEST_FOLIO)
                .map(|back| self.flags_of(frame - back))
                .find(|flags| flags & bit::COMPOUND_HEAD != 0)
                .expect("a tail has a head");
        }
        PageFlags { flags, mappings }
    }

    fn flags_of(&self, frame: u64) -> u64 {
        word_at(&self.flags, "/proc/kpageflags", frame)
    }
}

/// The `index`th 64-bit word of a file of /proc.
fn word_at(file: &File, name: &str, index: u64) -> u64 {
    let mut word = [0; 8];
    file.read_exact_at(&mut word, index * 8)
        .unwrap_or_else(|error| panic!("{name}, entry {index}: {error}"));
    u64::from_ne_bytes(word)
}
