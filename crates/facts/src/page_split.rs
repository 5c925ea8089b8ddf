//! Where requested pages were.

/// Requested pages by where they were, split two ways: `hits + misses = from_cache + from_device + zeros = pages`, always.
/// Counters that contradict each other (more misses than pages) are cut to the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSplit {
    /// Pages that were in the cache when asked for.
    pub hits: u64,
    /// Pages that were not.
    pub misses: u64,
    /// Pages that were in the cache for another reason than read-ahead while observed.
    pub from_cache: u64,
    /// Pages that had to be read from the device: misses and read-ahead hits, without zeros.
    pub from_device: u64,
    /// Pages that were made of zeros, without the device. Where that is not measured, they are among those from the device.
    pub zeros: u64,
}

impl PageSplit {
    pub(crate) fn of(pages: u64, misses: u64, readahead_hits: u64, zeros: u64) -> Self {
        let hits = pages.saturating_sub(misses);
        let from_cache = hits.saturating_sub(readahead_hits);
        let zeros = zeros.min(pages - from_cache);
        let from_device = pages - from_cache - zeros;
        Self { hits, misses: pages - hits, from_cache, from_device, zeros }
    }
}
