//! Numbers that follow from the counters of one file, one process or the whole run.
//!
//! Arithmetic saturates: counters that contradict each other (see [`crate::Losses`]) must not stop a report.

use hotset_facts::{Io, Observed, PageSplit, ReadIo, WriteIo};

/// `part / whole`, or nothing where the whole is zero.
pub(crate) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// What follows from [`ReadIo`]. `pages = hits + misses = from_cache + from_device + zeros`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadNumbers {
    /// Requested pages that were in the cache when asked for.
    pub hits: u64,
    /// Hits for another reason than read-ahead of this run.
    pub from_cache: u64,
    /// Misses and read-ahead hits, without zeros.
    pub from_device: u64,
    /// Pages made of zeros, without the device.
    pub zeros: u64,
    /// Hits among the requested pages, 0 to 1; none without requests.
    pub hit_ratio: Option<f64>,
    /// Pages from the cache among the requested, 0 to 1.
    pub cache_share: Option<f64>,
    /// Pages from the device among the requested, 0 to 1: the honest answer to "was it cached?".
    pub device_share: Option<f64>,
    /// Pages of zeros among the requested, 0 to 1.
    pub zeros_share: Option<f64>,
    /// Calls that did not continue the previous one.
    pub random_calls: Observed<u64>,
    /// The requested pages in bytes.
    pub requested_bytes: u64,
    /// `from_cache` in bytes.
    pub from_cache_bytes: u64,
    /// `from_device` in bytes.
    pub from_device_bytes: u64,
    /// `zeros` in bytes.
    pub zeros_bytes: u64,
}

impl ReadNumbers {
    /// Derives from the counters, with pages of `page_size_bytes`.
    pub(crate) fn of(read: &ReadIo, page_size_bytes: u64) -> Self {
        let PageSplit { hits, from_cache, from_device, zeros, .. } = read.split();
        Self {
            hits,
            from_cache,
            from_device,
            zeros,
            hit_ratio: share(hits, read.pages),
            cache_share: share(from_cache, read.pages),
            device_share: share(from_device, read.pages),
            zeros_share: share(zeros, read.pages),
            random_calls: read.random_calls(),
            requested_bytes: read.pages.saturating_mul(page_size_bytes),
            from_cache_bytes: from_cache.saturating_mul(page_size_bytes),
            from_device_bytes: from_device.saturating_mul(page_size_bytes),
            zeros_bytes: zeros.saturating_mul(page_size_bytes),
        }
    }
}

/// What follows from [`WriteIo`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WriteNumbers {
    /// Dirtied pages in bytes.
    pub dirtied_bytes: Observed<u64>,
    /// Mean bytes per call; none without calls.
    pub mean_bytes: Option<f64>,
}

impl WriteNumbers {
    fn of(write: &WriteIo, page_size_bytes: u64) -> Self {
        Self {
            dirtied_bytes: write.dirtied_pages.map(|pages| pages.saturating_mul(page_size_bytes)),
            mean_bytes: share(write.bytes, write.calls),
        }
    }
}

/// What follows from an [`Io`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IoNumbers {
    /// From the buffered reads.
    pub read: Observed<ReadNumbers>,
    /// From the buffered writes.
    pub write: Observed<WriteNumbers>,
    /// Nanoseconds in all I/O calls and, where they were measured, in major faults; summed over tasks.
    pub io_time_ns: Observed<u64>,
    /// Bytes that buffered reads took from the device and that faults brought in; missing where neither is known.
    pub brought_in_bytes: Observed<u64>,
    /// Bytes that faults and exec brought in.
    pub mapped_in_bytes: Observed<u64>,
    /// Bytes that read calls returned, buffered and direct; missing where neither is known.
    pub read_bytes: Observed<u64>,
    /// Bytes that write calls took, buffered and direct; missing where neither is known.
    pub written_bytes: Observed<u64>,
    /// Wasted read-ahead in bytes.
    pub wasted_bytes: Observed<u64>,
    /// Bytes that the device read for something else than pages of files and direct reads: directories, inodes and
    /// other metadata of file systems. Missing where one of its parts is.
    pub metadata_bytes: Observed<u64>,
}

impl IoNumbers {
    pub(crate) fn of(io: &Io, page_size_bytes: u64) -> Self {
        let read = io.read.map(|read| ReadNumbers::of(&read, page_size_bytes));
        let mapped = io.mmap.pages_read.map(|pages| pages.saturating_mul(page_size_bytes));
        Self {
            read,
            write: io.write.map(|write| WriteNumbers::of(&write, page_size_bytes)),
            io_time_ns: io.time.map(|time| time.total_ns()),
            brought_in_bytes: either_sum(read.map(|read| read.from_device_bytes), mapped),
            mapped_in_bytes: mapped,
            read_bytes: either_sum(io.read.map(|r| r.bytes), io.direct.map(|d| d.read_bytes)),
            written_bytes: either_sum(io.write.map(|w| w.bytes), io.direct.map(|d| d.write_bytes)),
            metadata_bytes: metadata_bytes(io, page_size_bytes),
            wasted_bytes: io.readahead.map(|ra| ra.wasted_pages.saturating_mul(page_size_bytes)),
        }
    }
}

fn metadata_bytes(io: &Io, page_size_bytes: u64) -> Observed<u64> {
    let read = io.read.map(|read| read.misses.saturating_sub(read.split().zeros));
    let write = match io.write {
        Observed::Value(write) => write.misses,
        Observed::Missing(reason) => Observed::Missing(reason),
    };
    let misses = read.zip_with(write, u64::saturating_add);
    let pages = misses
        .zip_with(io.readahead.map(|readahead| readahead.pages), u64::saturating_add)
        .zip_with(io.mmap.pages_read, u64::saturating_add);
    let direct = io.direct.map(|direct| direct.read_bytes);
    let explained = pages
        .map(|pages| pages.saturating_mul(page_size_bytes))
        .zip_with(direct, u64::saturating_add);
    io.device.read_bytes.zip_with(explained, u64::saturating_sub)
}

/// The sum of what is known of the two; missing only where both are.
fn either_sum(a: Observed<u64>, b: Observed<u64>) -> Observed<u64> {
    match (a, b) {
        (Observed::Value(a), Observed::Value(b)) => Observed::Value(a.saturating_add(b)),
        (Observed::Value(known), _) | (_, Observed::Value(known)) => Observed::Value(known),
        (Observed::Missing(reason), _) => Observed::Missing(reason),
    }
}

/// What the rows beyond the shown ones add up to. A missing part makes a sum missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rest {
    /// How many rows.
    pub rows: usize,
    /// Their I/O time in nanoseconds.
    pub io_time_ns: Observed<u64>,
    /// What their reads returned, in bytes.
    pub read_bytes: Observed<u64>,
    /// What they had to bring in from the device, in bytes.
    pub brought_in_bytes: Observed<u64>,
}

impl Rest {
    pub(crate) fn of(rows: impl Iterator<Item = IoNumbers>) -> Self {
        let zero = Observed::Value(0);
        let mut rest = Self { rows: 0, io_time_ns: zero, read_bytes: zero, brought_in_bytes: zero };
        for row in rows {
            rest.rows += 1;
            rest.io_time_ns = rest.io_time_ns.zip_with(row.io_time_ns, u64::saturating_add);
            rest.read_bytes = rest.read_bytes.zip_with(row.read_bytes, u64::saturating_add);
            rest.brought_in_bytes =
                rest.brought_in_bytes.zip_with(row.brought_in_bytes, u64::saturating_add);
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cold_sequential_read_has_hits_but_came_from_the_device() {
        let read = ReadIo { pages: 100, misses: 2, readahead_hits: 98, ..ReadIo::default() };
        let numbers = ReadNumbers::of(&read, 4096);
        assert_eq!(numbers.hit_ratio, Some(0.98));
        assert_eq!(numbers.device_share, Some(1.0));
        assert_eq!(numbers.from_cache, 0);
    }

    #[test]
    fn contradictory_counters_do_not_panic() {
        let read = ReadIo { pages: 1, misses: u64::MAX, readahead_hits: 3, ..ReadIo::default() };
        assert_eq!(ReadNumbers::of(&read, u64::MAX).hits, 0);
    }

    #[test]
    fn what_the_device_read_beyond_files_is_metadata() {
        let mut io = Io::zero();
        io.read = Observed::Value(ReadIo { pages: 10, misses: 4, ..ReadIo::default() });
        io.mmap.pages_read = Observed::Value(6);
        io.device.read_bytes = Observed::Value(12 * 4096);
        assert_eq!(IoNumbers::of(&io, 4096).metadata_bytes.value(), Some(2 * 4096));
        io.device.read_bytes = Observed::Value(4096);
        assert_eq!(IoNumbers::of(&io, 4096).metadata_bytes.value(), Some(0));
    }

    #[test]
    fn no_requests_have_no_ratio() {
        assert_eq!(ReadNumbers::of(&ReadIo::default(), 4096).device_share, None);
    }
}
