//! How much of a file is cached.

use serde::{Deserialize, Serialize};

use crate::{Observed, Reason};

crate::words! {
    /// Which system call answered.
    pub enum ResidencySource {
        /// cachestat(2), Linux 6.5.
        Cachestat = "cachestat",
        /// mincore(2); knows resident pages only.
        Mincore = "mincore",
    }
}

/// The cache state of one file, in base pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Residency {
    /// The file's size in bytes.
    pub size_bytes: u64,
    /// Pages that the size spans.
    pub pages: u64,
    /// Pages in the cache. cachestat(2) counts pages that are still being read in.
    pub cached_pages: u64,
    /// Dirty pages.
    pub dirty_pages: Observed<u64>,
    /// Pages being written back.
    pub writeback_pages: Observed<u64>,
    /// Pages that were cached once and evicted.
    pub evicted_pages: Observed<u64>,
    /// Pages among them evicted so lately that reading them again would count as part of the working set.
    pub recently_evicted_pages: Observed<u64>,
    /// Which system call answered.
    pub source: ResidencySource,
}

impl Residency {
    /// What mincore(2) can say: resident pages and nothing else.
    pub fn from_mincore(size_bytes: u64, pages: u64, cached_pages: u64) -> Self {
        let unknown =
            Observed::Missing(Reason::unsupported("mincore(2) knows resident pages only"));
        Self {
            size_bytes,
            pages,
            cached_pages,
            dirty_pages: unknown,
            writeback_pages: unknown,
            evicted_pages: unknown,
            recently_evicted_pages: unknown,
            source: ResidencySource::Mincore,
        }
    }
}

/// A run of pages of one file: `count` pages from page `first` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageRange {
    /// The first page; page 0 holds the file's first byte.
    pub first: u64,
    /// How many pages.
    pub count: u64,
}

impl PageRange {
    /// The page after the last one; saturates at the end of what a file can span.
    pub fn end(self) -> u64 {
        self.first.saturating_add(self.count)
    }
}

/// One cell of a picture of a file: how many of its pages are cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheCell {
    /// Pages that the cell spans.
    pub pages: u64,
    /// Pages among them in the cache.
    pub cached: u64,
}
