//! The table of all counters. Each is declared here and nowhere else: what reads the sensor's rows, the groups of a run, the
//! counters of an interval, JSON, metrics and columns are made from it.

/// Hands the table to a macro. A group is
///
/// ```text
/// name: whole or each, its type, (histogram field of the group, field of the row, what writes it with more than is counted)
/// ```
///
/// The counters of a `whole` group are known or missing together; each of an `each` group can be missing by itself. A counter is
///
/// ```text
/// name: unit [fields of the sensor's row whose sum it is] what of the kernel it needs (live [...]);
/// ```
///
/// A counter that needs a feature is missing where the kernel lacks it. One without a field of the row is worked out
/// elsewhere. With `live` it is one of an interval too: `[name there (and [more fields of the row]) name as a metric, help]`.
/// Rows are read in the order of this table while programs add to them. The programs add misses and read-ahead hits before
/// the pages, so these stand after the pages here: a page that was read has its parts counted by the time that they are read.
#[macro_export]
macro_rules! counters {
    ($then:ident) => {
        $then! {
            /// Buffered reads: read, pread, readv, preadv, sendfile, splice and copy_file_range sources, io_uring reads.
            read: whole ReadIo (histogram size_histogram read_histogram "with_split") {
                /// Calls that returned without an error, end of file included.
                calls: Count [read_calls] always live [read_calls "read_calls" "Buffered read calls"];
                /// Bytes returned.
                bytes: Bytes [read_bytes] always
                    live [read_bytes "read_bytes" "Bytes that buffered reads returned"];
                /// Pages requested: ⌊(o+n−1)/P⌋ − ⌊o/P⌋ + 1 for n bytes returned at offset o.
                pages: Pages [read_pages] always
                    live [read_pages "read_pages" "Pages that buffered reads asked for"];
                /// Requested pages among the misses and read-ahead hits that nothing was read for: holes of the file, and space
                /// that was never written.
                zeros: Pages [read_zeros] BlockLayer
                    live [read_zeros "read_zero_pages"
                        "Pages that buffered reads asked for and that were made of zeros, without the device"];
                /// Requested pages that were not in the cache and were brought in for this request.
                misses: Pages [read_misses] always
                    live [read_misses "read_missed_pages"
                        "Pages that buffered reads asked for and that were not in the page cache"];
                /// Requested pages that were in the cache only because the kernel read ahead during the observation.
                readahead_hits: Pages [read_ra_hits] always
                    live [readahead_hits "read_readahead_hit_pages"
                        "Pages that buffered reads found in the page cache only because the kernel had read ahead"];
                /// Pages among misses and read-ahead that had been in the cache earlier in this run and were evicted since.
                refaults: Pages [read_refaults] always;
                /// Calls that began where the previous read of this file by this process ended.
                sequential_calls: Count [read_sequential] CallOrder
                    live [sequential_reads "read_sequential_calls"
                        "Buffered read calls that began where the previous one of the process and file ended"];
                /// Nanoseconds in these calls.
                time_ns: Nanoseconds [hit_ns + wait_ns + miss_ns] always;
            }
            /// Buffered writes: write, pwrite, writev, pwritev, sendfile, splice and copy_file_range targets, io_uring writes.
            write: whole WriteIo (histogram size_histogram write_histogram) {
                /// Calls that returned without an error.
                calls: Count [write_calls] always live [write_calls "write_calls" "Buffered write calls"];
                /// Bytes accepted.
                bytes: Bytes [write_bytes] always
                    live [write_bytes "write_bytes" "Bytes that buffered writes accepted"];
                /// Pages written to, by the same formula as for reads.
                pages: Pages [write_pages] always
                    live [write_pages "write_pages" "Pages that buffered writes wrote to"];
                /// Pages that a write created in the cache.
                new_pages: Pages [write_new] always
                    live [new_pages "write_new_pages" "Pages that buffered writes created in the page cache"];
                /// Pages that had to be read first because only a part of them was written (read-modify-write).
                misses: Pages [write_misses] BlockLayer
                    live [write_misses "write_missed_pages"
                        "Pages that had to be read because a buffered write changed only a part of them"];
                /// Pages that turned from clean to dirty, by writes and by stores to mappings.
                dirtied_pages: Pages [write_dirtied] DirtyTracepoint
                    live [dirtied_pages "dirtied_pages" "Pages that turned from clean to dirty"];
                /// Calls that began where the previous write of this file by this process ended.
                sequential_calls: Count [write_sequential] CallOrder
                    live [sequential_writes "write_sequential_calls"
                        "Buffered write calls that began where the previous one of the process and file ended"];
                /// Nanoseconds in these calls.
                time_ns: Nanoseconds [write_ns] always;
            }
            /// File mappings. A fault can map many pages (fault-around, huge pages), so these are faults and not requests.
            mmap: each MmapIo {
                /// Faults on file mappings that reached the page cache.
                faults: Count [faults] FileFaults
                    live [faults "mapped_faults" "Page faults on file mappings"];
                /// Faults among them whose page was cached.
                minor_faults: Count [] FileFaults;
                /// Faults among them that had to read.
                major_faults: Count [major_faults] FileFaults
                    live [major_faults "mapped_major_faults" "Page faults on file mappings that had to read"];
                /// Pages that faults and exec read from the device, read-around included. Counted where pages enter the cache.
                pages_read: Pages [fault_filled] always
                    live [fault_pages "mapped_fault_read_pages" "Pages that faults on file mappings read from the device"];
                /// Pages that they brought in and that nothing was read for: holes of the file, and space that was never
                /// written.
                zeros: Pages [] BlockLayer;
            }
            /// I/O that bypasses the cache (O_DIRECT).
            direct: whole DirectIo {
                /// Direct read calls.
                read_calls: Count [direct_read_calls] always
                    live [direct_read_calls "direct_read_calls" "Read calls that bypassed the page cache"];
                /// Bytes that direct reads returned.
                read_bytes: Bytes [direct_read_bytes] always
                    live [direct_read_bytes "direct_read_bytes" "Bytes that direct reads returned"];
                /// Bytes among them that direct reads of this run had returned before (whole pages).
                reread_bytes: Bytes [direct_reread_bytes] always;
                /// Direct write calls.
                write_calls: Count [direct_write_calls] always
                    live [direct_write_calls "direct_write_calls" "Write calls that bypassed the page cache"];
                /// Bytes that direct writes accepted.
                write_bytes: Bytes [direct_write_bytes] always
                    live [direct_write_bytes "direct_write_bytes" "Bytes that direct writes accepted"];
                /// Nanoseconds in direct calls.
                time_ns: Nanoseconds [direct_ns] always;
                /// Nanoseconds among them of the reads of `reread_bytes`: of each call's time the share of its bytes that had
                /// been read before.
                reread_time_ns: Nanoseconds [direct_reread_ns] always;
            }
            /// Pages that the kernel read without being asked for them.
            readahead: whole ReadaheadIo {
                /// Pages read ahead.
                pages: Pages [ra_pages] always
                    live [readahead_pages "readahead_pages" "Pages that were read ahead"];
                /// Pages among them that were evicted, or still unrequested at the end.
                wasted_pages: Pages [] always;
            }
            /// fsync, fdatasync, sync_file_range, msync, syncfs, sync.
            sync: whole SyncIo {
                /// Calls that the program made.
                calls: Count [sync_calls] always live [sync_calls "sync_calls" "Calls of fsync and the like"];
                /// Nanoseconds in them.
                time_ns: Nanoseconds [sync_ns] always;
            }
            /// What the block layer was asked to move.
            device: each DeviceIo {
                /// Bytes read from the device.
                read_bytes: Bytes [device_read_bytes] BlockLayer
                    live [device_read_bytes "device_read_bytes" "Bytes that the block layer was asked to read"];
                /// Bytes written to the device while observed; what is still dirty at the end is not in here.
                write_bytes: Bytes [device_write_bytes] BlockLayer
                    live [device_write_bytes "device_written_bytes" "Bytes that the block layer was asked to write"];
            }
            /// Where the time of I/O calls went, each call in one class.
            time: whole TimeIo {
                /// Buffered reads that found every page and did not wait.
                hit_ns: Nanoseconds [hit_ns] always
                    live [read_hit_ns "read_hit_seconds"
                        "Time in buffered reads that found every page in the page cache"];
                /// Buffered reads without a miss of their own that slept: a page in flight (read-ahead) or a lock.
                wait_ns: Nanoseconds [wait_ns] always
                    live [read_wait_ns and [miss_ns] "read_wait_seconds"
                        "Time in buffered reads that missed, or waited for pages that were being read"];
                /// Buffered reads that missed.
                miss_ns: Nanoseconds [miss_ns] always;
                /// Major faults on file mappings.
                fault_ns: Nanoseconds [fault_ns] FileFaults;
                /// Direct I/O.
                direct_ns: Nanoseconds [direct_ns] always
                    live [direct_ns "direct_seconds" "Time in direct reads and writes"];
                /// Buffered writes.
                write_ns: Nanoseconds [write_ns] always
                    live [write_ns "write_seconds" "Time in buffered writes"];
                /// fsync and the like.
                sync_ns: Nanoseconds [sync_ns] always
                    live [sync_ns "sync_seconds" "Time in fsync and the like"];
                /// Path lookups: open, stat, access and the like.
                lookup_ns: Nanoseconds [] always;
            }
        }
    };
}
