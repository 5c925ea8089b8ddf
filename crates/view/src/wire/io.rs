//! The counters of a run, a file or a process.

use hotset_facts::{
    DeviceIo, DirectIo, Io, MmapIo, Observed, PackedIo, ReadIo, ReadaheadIo, SizeHistogram, SyncIo,
    TimeIo, WriteIo,
};
use serde::{Deserialize, Serialize};

use super::adapt::{Wire as _, converted, remote};
use super::observed::Null;

/// A group of counters: what is counted, then what follows from it, which is not read back.
macro_rules! group {
    (
        $(#[$doc:meta])* $name:ident of $fact:ident { $($(#[$field_doc:meta])* $field:ident,)* }
        $(derived { $($(#[$derived_doc:meta])* $derived:ident,)* })?
        $(histogram $histogram:ident)?
    ) => {
        $(#[$doc])*
        #[derive(Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        pub(crate) struct $name {
            $($(#[$field_doc])* $field: u64,)*
            $($($(#[$derived_doc])* #[serde(skip_deserializing)] $derived: u64,)*)?
            $(/// Calls by the bytes that each one moved.
            #[serde(with = "Histogram")] $histogram: SizeHistogram,)?
        }

        impl From<$fact> for $name {
            fn from(counted: $fact) -> Self {
                Self {
                    $($($derived: counted.$derived(),)*)?
                    $($field: counted.$field,)*
                    $($histogram: counted.$histogram,)?
                }
            }
        }

        impl From<$name> for $fact {
            fn from(read: $name) -> Self {
                Self { $($field: read.$field,)* $($histogram: read.$histogram,)? }
            }
        }

        converted!($name => $fact);
    };
}

group! {
    /// Buffered reads: read, pread, readv, preadv, sendfile, splice and copy_file_range sources, io_uring reads.
    Read of ReadIo {
        /// Calls that returned without an error, end of file included.
        calls,
        /// Bytes returned.
        bytes,
        /// Pages requested.
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
    derived {
        /// Requested pages that were in the cache when asked for: pages - misses.
        hits,
        /// Hits but for those that read-ahead of this run brought in: hits - readahead_hits.
        from_cache,
        /// Requested pages that were read from the device in this run: misses + readahead_hits.
        from_device,
        /// Calls that did not continue the previous one.
        random_calls,
    }
    histogram size_histogram
}

group! {
    /// Buffered writes: write, pwrite, writev, pwritev, sendfile, splice and copy_file_range targets, io_uring writes.
    Write of WriteIo {
        /// Calls that returned without an error.
        calls,
        /// Bytes accepted.
        bytes,
        /// Pages written to, counted as for reads.
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

group! {
    /// I/O that bypasses the cache (O_DIRECT).
    Direct of DirectIo {
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

group! {
    /// Pages that the kernel read ahead.
    Readahead of ReadaheadIo {
        /// Pages read ahead.
        pages,
        /// Pages among them that were evicted, or still unrequested at the end.
        wasted_pages,
    }
}

group! {
    /// fsync, fdatasync, sync_file_range, msync.
    Sync of SyncIo {
        /// Calls.
        calls,
        /// Nanoseconds in them.
        time_ns,
    }
}

/// File mappings. A fault can map many pages, so these are faults and not requests.
#[derive(Serialize, Deserialize)]
#[serde(remote = "MmapIo")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MmapDef {
    /// Faults on file mappings that reached the page cache.
    #[serde(with = "Null::<u64>")]
    faults: Observed<u64>,
    /// Faults among them whose page was cached.
    #[serde(with = "Null::<u64>")]
    minor_faults: Observed<u64>,
    /// Faults among them that had to read.
    #[serde(with = "Null::<u64>")]
    major_faults: Observed<u64>,
    /// Pages that faults and exec brought in, read-around included.
    #[serde(with = "Null::<u64>")]
    pages_read: Observed<u64>,
}

/// What the block layer was asked to move.
#[derive(Serialize, Deserialize)]
#[serde(remote = "DeviceIo")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct DeviceDef {
    /// Bytes read from the device.
    #[serde(with = "Null::<u64>")]
    read_bytes: Observed<u64>,
    /// Bytes written to the device while observed; what is still dirty at the end is not in here.
    #[serde(with = "Null::<u64>")]
    write_bytes: Observed<u64>,
}

/// Where the time of I/O calls went, each call in one class. In nanoseconds, summed over tasks.
#[derive(Serialize, Deserialize)]
#[serde(remote = "TimeIo")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct TimeDef {
    /// Buffered reads that found every page and did not wait.
    hit_ns: u64,
    /// Buffered reads without a miss of their own that slept: a page in flight (read-ahead) or a lock.
    wait_ns: u64,
    /// Buffered reads that missed.
    miss_ns: u64,
    /// Major faults on file mappings.
    #[serde(with = "Null::<u64>")]
    fault_ns: Observed<u64>,
    /// Direct I/O.
    direct_ns: u64,
    /// Buffered writes.
    write_ns: u64,
    /// fsync and kin.
    sync_ns: u64,
    /// Path lookups: open, stat, access and kin.
    lookup_ns: u64,
}

/// The keys that totals, files and processes share. A group is null where nothing of it was measured.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Io")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct IoDef {
    #[serde(with = "Null::<Read>")]
    read: Observed<ReadIo>,
    #[serde(with = "Null::<Write>")]
    write: Observed<WriteIo>,
    #[serde(with = "MmapDef")]
    mmap: MmapIo,
    #[serde(with = "Null::<Direct>")]
    direct: Observed<DirectIo>,
    #[serde(with = "Null::<Readahead>")]
    readahead: Observed<ReadaheadIo>,
    #[serde(with = "Null::<Sync>")]
    sync: Observed<SyncIo>,
    #[serde(with = "DeviceDef")]
    device: DeviceIo,
    #[serde(with = "Null::<TimeDef>")]
    time: Observed<TimeIo>,
}

remote!(TimeDef => TimeIo, IoDef => Io);

/// The same, of a row that holds them packed.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PackedIoDef {
    #[serde(flatten, with = "IoDef")]
    io: Io,
}

impl From<PackedIo> for PackedIoDef {
    fn from(packed: PackedIo) -> Self {
        Self { io: packed.unpack() }
    }
}

impl From<PackedIoDef> for PackedIo {
    fn from(read: PackedIoDef) -> Self {
        read.io.into()
    }
}

converted!(PackedIoDef => PackedIo);

/// Calls of a size.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Bucket {
    /// The largest size in it; null for the last bucket, which is open.
    le_bytes: Option<u64>,
    /// Calls of at most this size and above the bucket before.
    calls: u64,
}

/// Twelve buckets, by size.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Histogram(#[cfg_attr(test, schemars(length(equal = 12)))] Vec<Bucket>);

impl From<SizeHistogram> for Histogram {
    fn from(histogram: SizeHistogram) -> Self {
        let bucket = |(le_bytes, calls)| Bucket { le_bytes, calls };
        Self(histogram.buckets().map(bucket).collect())
    }
}

impl TryFrom<Histogram> for SizeHistogram {
    type Error = &'static str;

    fn try_from(Histogram(read): Histogram) -> Result<Self, Self::Error> {
        let mut histogram = Self::default();
        let bounds = Self::default();
        let same = bounds.buckets().map(|(bound, _)| bound).eq(read.iter().map(|one| one.le_bytes));
        if !same {
            return Err("expected the twelve buckets of a histogram of sizes, in their order");
        }
        for (calls, bucket) in histogram.0.iter_mut().zip(read) {
            *calls = bucket.calls;
        }
        Ok(histogram)
    }
}

converted!(Histogram => SizeHistogram);
