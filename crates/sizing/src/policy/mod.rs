//! Replacement policies: which pages are cached at a limit, after each reference.
//!
//! [`Classic`] and [`Mglru`] are those of the kernel. [`Lru`] and [`Fifo`] are none of them, but mappings with `MADV_RANDOM`
//! are close to the latter. None counts anything: each says what a reference came to, and the caller counts.
//!
//! What all of them leave out: neighbours of mapped data that a fault maps too, folios of more than a
//! page, memory that is not file cache (which takes of the limit, see [`crate::capacity`]), other control groups and reclaim of
//! the whole host, the batches in which each CPU hands pages to the lists, several NUMA nodes, and the writeback of dirty pages
//! after a time. A page that is evicted while it is dirty counts as written; the kernel keeps it a while longer and has it
//! written meanwhile.

mod classic;
mod lists;
mod mglru;
mod queue;

pub use classic::{Classic, ListSizes};
pub use mglru::Mglru;
pub use queue::{Fifo, Lru, Queue};

/// How a page is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// It is read.
    Read,
    /// It is read where the read before through the same open file description ended, which does not mark it as accessed.
    ReadSamePage,
    /// It is written as a whole, or is new: it is not read first.
    WriteWhole,
    /// A part of it is written.
    WritePart,
    /// It is used through a mapping.
    Fault,
    /// It is used through a mapping with `MADV_RANDOM`.
    RandomFault,
    /// It is used through a mapping of code (`VM_EXEC`).
    Code,
}

impl Touch {
    /// Whether the page is dirty afterwards.
    fn writes(self) -> bool {
        matches!(self, Self::WriteWhole | Self::WritePart)
    }

    /// Whether its page table entry is marked as used afterwards.
    fn is_young(self) -> bool {
        matches!(self, Self::Fault | Self::Code)
    }
}

/// Whether a page was cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It was.
    Hit,
    /// It was not, and is read from the device.
    Miss,
    /// It was not, is read from the device, and had been evicted before.
    Refault,
    /// It was not, and is not read, because all of it is written.
    Written,
}

/// What a reference came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Whether the page was cached.
    pub found: Found,
    /// Dirty pages that were evicted to make room.
    pub written: u32,
}

impl Outcome {
    const HIT: Self = Self { found: Found::Hit, written: 0 };
    /// Of a page number that the policy was not made for: it is never cached.
    const UNKNOWN: Self = Self { found: Found::Miss, written: 0 };

    /// Of a page that was not cached.
    fn not_cached(touch: Touch, was_evicted: bool, written: u32) -> Self {
        let found = match (touch, was_evicted) {
            (Touch::WriteWhole, _) => Found::Written,
            // The kernel counts no refault for a page that is written (`filemap_add_folio()`, mm/filemap.c).
            (Touch::WritePart, _) | (_, false) => Found::Miss,
            (_, true) => Found::Refault,
        };
        Self { found, written }
    }
}

/// A cache with a limit, for page numbers below the one that it was made for.
pub trait Policy {
    /// A page is used; it is cached afterwards.
    fn touch(&mut self, page: u32, touch: Touch) -> Outcome;

    /// Looks at what it takes to use a page, so that it is in the CPU's cache then. What it returns means nothing.
    fn look(&self, page: u32) -> u32;

    /// A page leaves the cache without being evicted, if it is there, and is as if it had never been.
    fn remove(&mut self, page: u32);

    /// A page is written to the device if it is cached and dirty: whether it was.
    fn sync(&mut self, page: u32) -> bool;

    /// It is so many nanoseconds after the beginning.
    fn advance(&mut self, _clock_ns: u64) {}

    /// Whether a page is cached.
    fn has(&self, page: u32) -> bool;

    /// How many pages are cached.
    fn cached(&self) -> u64;

    /// How many pages are cached at most.
    fn limit(&mut self) -> &mut u64;

    /// Evicts as many pages as it does at its limit for a new one: how many dirty ones that were.
    fn evict(&mut self) -> u32;

    /// Moves the limit, of at least one page, and evicts what has no room: how many dirty pages that were.
    fn set_limit(&mut self, pages: u64) -> u32 {
        let limit = pages.max(1);
        *self.limit() = limit;
        let mut written = 0;
        while self.cached() > limit {
            let before = self.cached();
            written += self.evict();
            if self.cached() >= before {
                break;
            }
        }
        written
    }

    /// Counts everything again and compares.
    ///
    /// # Errors
    /// What differs.
    fn check(&self) -> Result<(), String>;
}
