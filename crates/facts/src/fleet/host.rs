//! A row an interval.

use super::{CountedIo, FleetRow, FleetTable, IntervalKey};

crate::fleet_columns! {
    /// An interval of a host.
    pub struct HostRow {
        /// The interval
        key: part IntervalKey;
        /// The version of hotset
        hotset: text Key;
        /// The kernel's release
        kernel: text Key;
        /// The architecture
        machine: text Key;
        /// CPUs that are online
        cpus: number Gauge;
        /// Bytes of a page
        page_bytes: number Gauge Bytes;
        /// Whether the kernel evicts by the multi-gen LRU
        multi_gen_lru: flag Key;
        /// What the sensor can't count here, with semicolons between features
        not_measured: text Key;
        /// Everything that was counted, with what belongs to no process
        io: part CountedIo;
        /// Memory of the host (MemTotal)
        memory_bytes: maybe_number Gauge Bytes;
        /// Memory that nothing uses (MemFree)
        free_bytes: maybe_number Gauge Bytes;
        /// Pages of files that are cached, and shared memory (Cached)
        cached_bytes: maybe_number Gauge Bytes;
        /// Shared memory and tmpfs (Shmem)
        shmem_bytes: maybe_number Gauge Bytes;
        /// Pages that are still to be written to a device (Dirty)
        dirty_bytes: maybe_number Gauge Bytes;
        /// Pages of files that were read back after they had been evicted
        refaulted_pages: maybe_number Counter Pages;
        /// Pages of files that reclaim took
        reclaimed_pages: maybe_number Counter Pages;
        /// Pages that left the cache but for truncation and unlinking
        evicted_pages: maybe_number Counter Pages;
        /// Pages that were written back
        written_back_pages: maybe_number Counter Pages;
        /// Time in which some task waited for memory (PSI)
        memory_some_ns: maybe_number Counter Nanoseconds;
        /// Time in which some task waited for I/O (PSI)
        io_some_ns: maybe_number Counter Nanoseconds;
        /// Time in which some task waited for a CPU (PSI)
        cpu_some_ns: maybe_number Counter Nanoseconds;
        /// Requests that were counted for nobody, because tables were full
        unattributed: number Counter Count;
        /// Events, tasks, requests and calls that were lost: where there are any, the counts of this interval are too low
        lost: number Counter Count;
        /// Sampled references that were lost, or whose group is not known: no curve has them
        lost_references: number Counter Count;
        /// Control groups that did something in the interval
        groups: number Gauge Count;
        /// Finished files that were dropped since the session began, because they could not be delivered
        dropped_files: number Gauge Count;
        /// Calls that resolve a path: open, stat, access, readlink and the like, also by io_uring, and exec of what is not there. Null in what older versions wrote
        lookups: maybe_number Counter Count;
        /// Of these, those that ended in ENOENT or ENOTDIR
        failed_lookups: maybe_number Counter Count;
    }
}

impl FleetRow for HostRow {
    const TABLE: FleetTable = FleetTable::Host;

    fn sort_key(&self) -> (&str, i64) {
        ("", self.key.ts)
    }
}
