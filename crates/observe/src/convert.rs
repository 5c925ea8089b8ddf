//! One row of the sensor's table as counters.

use hotset_facts::{
    DeviceIo, DirectIo, Io, MmapIo, Observed, ReadIo, ReadaheadIo, Reason, SizeHistogram, SyncIo,
    TimeIo, WriteIo,
};

use crate::record::{HISTOGRAM_BUCKETS, Row};
use crate::select::Selection;

const NO_FAULTS: Reason =
    Reason::unsupported("this kernel has no tracepoints for file faults (Linux 6.12)");
const NO_BLOCK: Reason = Reason::unsupported("this kernel has no block_bio_queue tracepoint");

/// All counters at zero; what this kernel can't count is missing.
pub(crate) fn zero_io(selection: &Selection) -> Io {
    let mut io = Io::zero();
    if !selection.faults {
        io.mmap.faults = Observed::Missing(NO_FAULTS);
        io.mmap.minor_faults = Observed::Missing(NO_FAULTS);
        io.mmap.major_faults = Observed::Missing(NO_FAULTS);
        io.time =
            Observed::Value(TimeIo { fault_ns: Observed::Missing(NO_FAULTS), ..TimeIo::default() });
    }
    if !selection.block {
        io.device = DeviceIo {
            read_bytes: Observed::Missing(NO_BLOCK),
            write_bytes: Observed::Missing(NO_BLOCK),
        };
    }
    io
}

fn histogram(counts: [u32; HISTOGRAM_BUCKETS]) -> SizeHistogram {
    SizeHistogram(counts.map(u64::from))
}

/// The counters of a row; what this kernel can't count is missing.
pub(crate) fn io_of(row: &Row, selection: &Selection) -> Io {
    let zero = zero_io(selection);
    let counted = |gate: Observed<u64>, value: u64| gate.map(|_| value);
    Io {
        read: Observed::Value(ReadIo {
            calls: row.read_calls,
            bytes: row.read_bytes,
            pages: row.read_pages,
            misses: row.read_misses,
            readahead_hits: row.read_ra_hits,
            refaults: row.read_refaults,
            sequential_calls: row.read_sequential,
            time_ns: row.hit_ns + row.wait_ns + row.miss_ns,
            size_histogram: histogram(row.read_histogram),
        }),
        write: Observed::Value(WriteIo {
            calls: row.write_calls,
            bytes: row.write_bytes,
            pages: row.write_pages,
            new_pages: row.write_new,
            misses: row.write_misses,
            dirtied_pages: row.write_dirtied,
            sequential_calls: row.write_sequential,
            time_ns: row.write_ns,
            size_histogram: histogram(row.write_histogram),
        }),
        mmap: MmapIo {
            faults: counted(zero.mmap.faults, row.faults),
            minor_faults: counted(
                zero.mmap.minor_faults,
                row.faults.saturating_sub(row.major_faults),
            ),
            major_faults: counted(zero.mmap.major_faults, row.major_faults),
            pages_read: Observed::Value(row.fault_pages),
        },
        direct: Observed::Value(DirectIo {
            read_calls: row.direct_read_calls,
            read_bytes: row.direct_read_bytes,
            reread_bytes: row.direct_reread_bytes,
            write_calls: row.direct_write_calls,
            write_bytes: row.direct_write_bytes,
            time_ns: row.direct_ns,
        }),
        readahead: Observed::Value(ReadaheadIo { pages: row.ra_pages, wasted_pages: 0 }),
        sync: Observed::Value(SyncIo { calls: row.sync_calls, time_ns: row.sync_ns }),
        device: DeviceIo {
            read_bytes: counted(zero.device.read_bytes, row.device_read_bytes),
            write_bytes: counted(zero.device.write_bytes, row.device_write_bytes),
        },
        time: Observed::Value(TimeIo {
            hit_ns: row.hit_ns,
            wait_ns: row.wait_ns,
            miss_ns: row.miss_ns,
            fault_ns: counted(zero.mmap.major_faults, row.fault_ns),
            direct_ns: row.direct_ns,
            write_ns: row.write_ns,
            sync_ns: row.sync_ns,
            lookup_ns: 0,
        }),
    }
}
