//! The counters of a run, a file or a process.

use hotset_analysis::IoNumbers;
use hotset_facts::{Io, SizeHistogram};
use serde::{Serialize, Serializer};

/// Defines a group of counters: every field is a number or null.
macro_rules! group {
    ($name:ident { $($field:ident),* $(,)? } $(histogram $histogram:ident)?) => {
        #[derive(Serialize)]
        struct $name {
            $($field: Option<u64>,)*
            $($histogram: Option<Buckets>,)?
        }
    };
}

group!(Read {
    calls, bytes, pages, hits, readahead_hits, misses, from_cache, from_device, refaults, sequential_calls,
    random_calls, time_ns,
} histogram size_histogram);
group!(Write {
    calls, bytes, pages, new_pages, misses, dirtied_pages, sequential_calls, time_ns,
} histogram size_histogram);
group!(Mmap { faults, minor_faults, major_faults, pages_read });
group!(Direct { read_calls, read_bytes, reread_bytes, write_calls, write_bytes, time_ns });
group!(Readahead { pages, wasted_pages });
group!(Sync { calls, time_ns });
group!(Device { read_bytes, write_bytes });
group!(Time { hit_ns, wait_ns, miss_ns, fault_ns, direct_ns, write_ns, sync_ns, lookup_ns });

/// A bucket of a histogram; `le_bytes` is null for the last, open one.
#[derive(Serialize)]
struct Bucket {
    le_bytes: Option<u64>,
    calls: u64,
}

/// A histogram as a list of buckets.
struct Buckets(SizeHistogram);

impl Serialize for Buckets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.buckets().map(|(le_bytes, calls)| Bucket { le_bytes, calls }))
    }
}

/// The keys that totals, files and processes share.
#[derive(Serialize)]
pub(super) struct IoV1 {
    read: Read,
    write: Write,
    mmap: Mmap,
    direct: Direct,
    readahead: Readahead,
    sync: Sync,
    device: Device,
    time: Time,
}

impl IoV1 {
    /// From the counters and what was derived from them.
    pub(super) fn new(io: &Io, numbers: &IoNumbers) -> Self {
        Self {
            read: read(io, numbers),
            write: write(io),
            mmap: Mmap {
                faults: io.mmap.faults.value(),
                minor_faults: io.mmap.minor_faults.value(),
                major_faults: io.mmap.major_faults.value(),
                pages_read: io.mmap.pages_read.value(),
            },
            direct: direct(io),
            readahead: Readahead {
                pages: io.readahead.value().map(|r| r.pages),
                wasted_pages: io.readahead.value().map(|r| r.wasted_pages),
            },
            sync: Sync {
                calls: io.sync.value().map(|s| s.calls),
                time_ns: io.sync.value().map(|s| s.time_ns),
            },
            device: Device {
                read_bytes: io.device.read_bytes.value(),
                write_bytes: io.device.write_bytes.value(),
            },
            time: time(io),
        }
    }
}

fn read(io: &Io, numbers: &IoNumbers) -> Read {
    let counted = io.read.value();
    let derived = numbers.read.value();
    Read {
        calls: counted.map(|r| r.calls),
        bytes: counted.map(|r| r.bytes),
        pages: counted.map(|r| r.pages),
        hits: derived.map(|r| r.hits),
        readahead_hits: counted.map(|r| r.readahead_hits),
        misses: counted.map(|r| r.misses),
        from_cache: derived.map(|r| r.from_cache),
        from_device: derived.map(|r| r.from_device),
        refaults: counted.map(|r| r.refaults),
        sequential_calls: counted.map(|r| r.sequential_calls),
        random_calls: derived.map(|r| r.random_calls),
        time_ns: counted.map(|r| r.time_ns),
        size_histogram: counted.map(|r| Buckets(r.size_histogram)),
    }
}

fn write(io: &Io) -> Write {
    let counted = io.write.value();
    Write {
        calls: counted.map(|w| w.calls),
        bytes: counted.map(|w| w.bytes),
        pages: counted.map(|w| w.pages),
        new_pages: counted.map(|w| w.new_pages),
        misses: counted.map(|w| w.misses),
        dirtied_pages: counted.map(|w| w.dirtied_pages),
        sequential_calls: counted.map(|w| w.sequential_calls),
        time_ns: counted.map(|w| w.time_ns),
        size_histogram: counted.map(|w| Buckets(w.size_histogram)),
    }
}

fn direct(io: &Io) -> Direct {
    let counted = io.direct.value();
    Direct {
        read_calls: counted.map(|d| d.read_calls),
        read_bytes: counted.map(|d| d.read_bytes),
        reread_bytes: counted.map(|d| d.reread_bytes),
        write_calls: counted.map(|d| d.write_calls),
        write_bytes: counted.map(|d| d.write_bytes),
        time_ns: counted.map(|d| d.time_ns),
    }
}

fn time(io: &Io) -> Time {
    let counted = io.time.value();
    Time {
        hit_ns: counted.map(|t| t.hit_ns),
        wait_ns: counted.map(|t| t.wait_ns),
        miss_ns: counted.map(|t| t.miss_ns),
        fault_ns: counted.and_then(|t| t.fault_ns.value()),
        direct_ns: counted.map(|t| t.direct_ns),
        write_ns: counted.map(|t| t.write_ns),
        sync_ns: counted.map(|t| t.sync_ns),
        lookup_ns: counted.map(|t| t.lookup_ns),
    }
}
