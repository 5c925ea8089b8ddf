//! The counters of one file, one process or a whole run. Every count of pages is in base pages, whatever the folio size.

use crate::Observed;

/// Upper bounds (inclusive, bytes) of the size histogram's buckets; one more bucket follows for anything larger.
pub const HISTOGRAM_BOUNDS: [u64; 11] =
    [16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20];

/// Calls by the bytes that each one moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SizeHistogram(pub [u64; HISTOGRAM_BOUNDS.len() + 1]);

impl SizeHistogram {
    /// Buckets with their inclusive upper bound in bytes (`None` for the last, open one) and their calls.
    pub fn buckets(&self) -> impl Iterator<Item = (Option<u64>, u64)> + '_ {
        self.0.iter().enumerate().map(|(i, &calls)| (HISTOGRAM_BOUNDS.get(i).copied(), calls))
    }

    /// Calls that moved at most `bytes`, which should be one of [`HISTOGRAM_BOUNDS`].
    pub fn calls_up_to(&self, bytes: u64) -> u64 {
        self.buckets()
            .filter(|(le, _)| le.is_some_and(|le| le <= bytes))
            .map(|(_, calls)| calls)
            .sum()
    }

    /// Adds `other` to this histogram.
    pub fn add(&mut self, other: &Self) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a += b;
        }
    }
}

macro_rules! counters {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident,)* } $(histogram $hist:ident)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: u64,)*
            $(/// Calls by size.
            pub $hist: SizeHistogram,)?
        }

        impl $name {
            /// Adds `other` to these counters.
            pub fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)*
                $(self.$hist.add(&other.$hist);)?
            }
        }

        impl Counters for $name {
            fn each(&mut self, visit: &mut impl FnMut(&mut u64)) {
                $(visit(&mut self.$field);)*
                $(self.$hist.0.iter_mut().for_each(visit);)?
            }
        }
    };
}

/// A group of counters, in a fixed order.
pub(crate) trait Counters {
    fn each(&mut self, visit: &mut impl FnMut(&mut u64));
}

impl Counters for u64 {
    fn each(&mut self, visit: &mut impl FnMut(&mut u64)) {
        visit(self);
    }
}

/// Something that looks at every field of an [`Io`] that can be missing, in a fixed order.
pub(crate) trait Walker {
    fn field<T: Counters>(&mut self, field: &mut Observed<T>);
}

counters! {
    /// Buffered reads: read, pread, readv, preadv, sendfile, splice and copy_file_range sources, io_uring reads.
    ReadIo {
        /// Calls that returned without an error, end of file included.
        calls,
        /// Bytes returned.
        bytes,
        /// Pages requested: ⌊(o+n−1)/P⌋ − ⌊o/P⌋ + 1 for n bytes returned at offset o.
        pages,
        /// Requested pages that were not in the cache and were brought in for this request.
        misses,
        /// Requested pages that were in the cache only because the kernel read ahead during the observation.
        readahead_hits,
        /// Pages among misses and read-ahead that had been in the cache earlier in this run and were evicted since.
        refaults,
        /// Calls that began where the previous read of this file by this process ended.
        sequential_calls,
        /// Nanoseconds in these calls.
        time_ns,
    }
    histogram size_histogram
}

impl ReadIo {
    /// Requested pages that were in the cache when asked for.
    pub fn hits(&self) -> u64 {
        self.pages.saturating_sub(self.misses)
    }

    /// Requested pages that were in the cache for another reason than read-ahead of this run.
    pub fn from_cache(&self) -> u64 {
        self.hits().saturating_sub(self.readahead_hits)
    }

    /// Requested pages that had to be read from the device: misses and read-ahead hits.
    pub fn from_device(&self) -> u64 {
        self.misses.saturating_add(self.readahead_hits)
    }

    /// Calls that did not continue the previous one.
    pub fn random_calls(&self) -> u64 {
        self.calls.saturating_sub(self.sequential_calls)
    }
}

counters! {
    /// Buffered writes: write, pwrite, writev, pwritev, sendfile, splice and copy_file_range targets, io_uring writes.
    WriteIo {
        /// Calls that returned without an error.
        calls,
        /// Bytes accepted.
        bytes,
        /// Pages written to, by the same formula as for reads.
        pages,
        /// Pages that a write created in the cache.
        new_pages,
        /// Pages that had to be read first because only a part of them was written (read-modify-write).
        misses,
        /// Pages that turned from clean to dirty, by writes and by stores to mappings.
        dirtied_pages,
        /// Calls that began where the previous write of this file by this process ended.
        sequential_calls,
        /// Nanoseconds in these calls.
        time_ns,
    }
    histogram size_histogram
}

counters! {
    /// I/O that bypasses the cache (O_DIRECT).
    DirectIo {
        /// Direct read calls.
        read_calls,
        /// Bytes read past the cache.
        read_bytes,
        /// Bytes among them that had been read past the cache before in this run (whole pages).
        reread_bytes,
        /// Direct write calls.
        write_calls,
        /// Bytes written past the cache.
        write_bytes,
        /// Nanoseconds in direct calls.
        time_ns,
    }
}

counters! {
    /// Pages that the kernel brought in unasked.
    ReadaheadIo {
        /// Pages read ahead.
        pages,
        /// Pages among them that were evicted, or still unrequested at the end.
        wasted_pages,
    }
}

counters! {
    /// fsync, fdatasync, sync_file_range, msync.
    SyncIo {
        /// Calls that the program made.
        calls,
        /// Nanoseconds in them.
        time_ns,
    }
}

/// Where the time of I/O calls went, each call in one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeIo {
    /// Buffered reads that found every page and did not wait.
    pub hit_ns: u64,
    /// Buffered reads without a miss of their own that slept: a page in flight (read-ahead) or a lock.
    pub wait_ns: u64,
    /// Buffered reads that missed.
    pub miss_ns: u64,
    /// Major faults on file mappings; missing where the kernel has no tracepoints for them.
    pub fault_ns: Observed<u64>,
    /// Direct I/O.
    pub direct_ns: u64,
    /// Buffered writes.
    pub write_ns: u64,
    /// fsync and kin.
    pub sync_ns: u64,
    /// Path lookups: open, stat, access and kin.
    pub lookup_ns: u64,
}

impl Default for TimeIo {
    fn default() -> Self {
        Self {
            hit_ns: 0,
            wait_ns: 0,
            miss_ns: 0,
            fault_ns: Observed::Value(0),
            direct_ns: 0,
            write_ns: 0,
            sync_ns: 0,
            lookup_ns: 0,
        }
    }
}

impl Counters for TimeIo {
    /// All but the faults, which can be missing where the rest is known.
    fn each(&mut self, visit: &mut impl FnMut(&mut u64)) {
        visit(&mut self.hit_ns);
        visit(&mut self.wait_ns);
        visit(&mut self.miss_ns);
        visit(&mut self.direct_ns);
        visit(&mut self.write_ns);
        visit(&mut self.sync_ns);
        visit(&mut self.lookup_ns);
    }
}

impl TimeIo {
    /// Adds `other`; the fault time is missing where either side lacks it.
    pub fn add(&mut self, other: &Self) {
        self.hit_ns += other.hit_ns;
        self.wait_ns += other.wait_ns;
        self.miss_ns += other.miss_ns;
        self.fault_ns = self.fault_ns.zip_with(other.fault_ns, |a, b| a + b);
        self.direct_ns += other.direct_ns;
        self.write_ns += other.write_ns;
        self.sync_ns += other.sync_ns;
        self.lookup_ns += other.lookup_ns;
    }

    /// Nanoseconds in all classes that were measured, saturating: without the faults where their time is missing.
    pub fn total_ns(&self) -> u64 {
        [self.direct_ns, self.write_ns, self.sync_ns, self.lookup_ns, self.hit_ns]
            .into_iter()
            .fold(self.device_read_ns(), u64::saturating_add)
    }

    /// Nanoseconds in which a task waited for the device to read, saturating: misses, waits and major faults, as far
    /// as these were measured.
    pub fn device_read_ns(&self) -> u64 {
        let fault_ns = self.fault_ns.value().unwrap_or(0);
        self.wait_ns.saturating_add(self.miss_ns).saturating_add(fault_ns)
    }
}

/// File mappings. A fault can map many pages (fault-around, huge pages), so these are faults and not requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MmapIo {
    /// Faults on file mappings that reached the page cache.
    pub faults: Observed<u64>,
    /// Faults among them whose page was cached.
    pub minor_faults: Observed<u64>,
    /// Faults among them that had to read.
    pub major_faults: Observed<u64>,
    /// Pages that faults and exec brought in, read-around included.
    pub pages_read: Observed<u64>,
}

/// What the block layer was asked to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceIo {
    /// Bytes read from the device.
    pub read_bytes: Observed<u64>,
    /// Bytes written to the device while observed; what is still dirty at the end is not in here.
    pub write_bytes: Observed<u64>,
}

/// Everything counted for one file, one process, or a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Io {
    /// Buffered reads.
    pub read: Observed<ReadIo>,
    /// Buffered writes.
    pub write: Observed<WriteIo>,
    /// File mappings.
    pub mmap: MmapIo,
    /// O_DIRECT.
    pub direct: Observed<DirectIo>,
    /// Read-ahead.
    pub readahead: Observed<ReadaheadIo>,
    /// fsync and kin.
    pub sync: Observed<SyncIo>,
    /// The block layer.
    pub device: DeviceIo,
    /// Time by class.
    pub time: Observed<TimeIo>,
}

impl Io {
    /// All counters at zero, for a sensor that measures everything.
    pub fn zero() -> Self {
        let zero = Observed::Value(0);
        Self {
            read: Observed::Value(ReadIo::default()),
            write: Observed::Value(WriteIo::default()),
            mmap: MmapIo { faults: zero, minor_faults: zero, major_faults: zero, pages_read: zero },
            direct: Observed::Value(DirectIo::default()),
            readahead: Observed::Value(ReadaheadIo::default()),
            sync: Observed::Value(SyncIo::default()),
            device: DeviceIo { read_bytes: zero, write_bytes: zero },
            time: Observed::Value(TimeIo::default()),
        }
    }

    /// Nothing measured, for one reason.
    pub fn missing(reason: crate::Reason) -> Self {
        let none = Observed::Missing(reason);
        Self {
            read: Observed::Missing(reason),
            write: Observed::Missing(reason),
            mmap: MmapIo { faults: none, minor_faults: none, major_faults: none, pages_read: none },
            direct: Observed::Missing(reason),
            readahead: Observed::Missing(reason),
            sync: Observed::Missing(reason),
            device: DeviceIo { read_bytes: none, write_bytes: none },
            time: Observed::Missing(reason),
        }
    }

    /// Shows a walker every field that can be missing. `time.fault_ns` comes last, and only where the time is known.
    pub(crate) fn walk(&mut self, walker: &mut impl Walker) {
        walker.field(&mut self.read);
        walker.field(&mut self.write);
        walker.field(&mut self.mmap.faults);
        walker.field(&mut self.mmap.minor_faults);
        walker.field(&mut self.mmap.major_faults);
        walker.field(&mut self.mmap.pages_read);
        walker.field(&mut self.direct);
        walker.field(&mut self.readahead);
        walker.field(&mut self.sync);
        walker.field(&mut self.device.read_bytes);
        walker.field(&mut self.device.write_bytes);
        walker.field(&mut self.time);
        if let Observed::Value(time) = &mut self.time {
            walker.field(&mut time.fault_ns);
        }
    }

    /// Adds `other`; what is missing on either side becomes missing, so a sum never hides a gap.
    pub fn add(&mut self, other: &Self) {
        fn sum<T: Copy>(a: &mut Observed<T>, b: Observed<T>, add: impl FnOnce(&mut T, &T)) {
            *a = a.zip_with(b, |mut a, b| {
                add(&mut a, &b);
                a
            });
        }
        let plus = |a: &mut u64, b: &u64| *a += b;
        sum(&mut self.read, other.read, ReadIo::add);
        sum(&mut self.write, other.write, WriteIo::add);
        sum(&mut self.mmap.faults, other.mmap.faults, plus);
        sum(&mut self.mmap.minor_faults, other.mmap.minor_faults, plus);
        sum(&mut self.mmap.major_faults, other.mmap.major_faults, plus);
        sum(&mut self.mmap.pages_read, other.mmap.pages_read, plus);
        sum(&mut self.direct, other.direct, DirectIo::add);
        sum(&mut self.readahead, other.readahead, ReadaheadIo::add);
        sum(&mut self.sync, other.sync, SyncIo::add);
        sum(&mut self.device.read_bytes, other.device.read_bytes, plus);
        sum(&mut self.device.write_bytes, other.device.write_bytes, plus);
        sum(&mut self.time, other.time, TimeIo::add);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;

    #[test]
    fn pages_split_two_ways() {
        let read = ReadIo { pages: 100, misses: 10, readahead_hits: 30, ..ReadIo::default() };
        assert_eq!(read.hits() + read.misses, read.pages);
        assert_eq!(read.from_cache() + read.from_device(), read.pages);
    }

    #[test]
    fn a_sum_never_hides_a_gap() {
        let mut sum = Io::zero();
        let mut part = Io::zero();
        part.mmap.faults = Observed::Missing(Reason::unsupported("no fault tracepoint"));
        part.device.read_bytes = Observed::Value(4096);
        sum.add(&part);
        assert_eq!(sum.mmap.faults.value(), None);
        assert_eq!(sum.device.read_bytes.value(), Some(4096));
    }

    #[test]
    fn unknown_fault_time_stays_unknown_in_a_sum() {
        let none = Observed::Missing(Reason::unsupported("no fault tracepoint"));
        let mut sum = TimeIo { miss_ns: 3, ..TimeIo::default() };
        sum.add(&TimeIo { hit_ns: 4, fault_ns: none, ..TimeIo::default() });
        assert_eq!(sum.fault_ns, none);
        assert_eq!((sum.total_ns(), sum.device_read_ns()), (7, 3));
    }

    #[test]
    fn histogram_counts_up_to_a_bound() {
        let mut histogram = SizeHistogram::default();
        histogram.0[0] = 3;
        histogram.0[4] = 5;
        histogram.0[11] = 7;
        assert_eq!(histogram.calls_up_to(4096), 8);
        assert_eq!(histogram.buckets().last(), Some((None, 7)));
    }
}
