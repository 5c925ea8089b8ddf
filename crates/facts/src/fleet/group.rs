//! A row an interval and control group.

use super::{CountedIo, FleetRow, FleetTable, IntervalKey, Workload};

crate::fleet_columns! {
    /// The memory of a control group with those below it. Null of what the kernel does not account.
    pub struct GroupMemory {
        /// Its own limit (memory.max); null without one
        limit_bytes: maybe_number Gauge Bytes;
        /// Where it is slowed down (memory.high); null without one
        high_bytes: maybe_number Gauge Bytes;
        /// What it is protected up to (memory.low, or memory.min if that is more); null without one
        low_bytes: maybe_number Gauge Bytes;
        /// What is charged to it, file cache included
        used_bytes: maybe_number Gauge Bytes;
        /// Its file cache, which the kernel can drop
        file_bytes: maybe_number Gauge Bytes;
        /// What of it is mapped into processes, with shared memory that is: which of these pages are used is not counted
        mapped_bytes: maybe_number Gauge Bytes;
        /// Anonymous memory
        anon_bytes: maybe_number Gauge Bytes;
        /// Shared memory and tmpfs
        shmem_bytes: maybe_number Gauge Bytes;
        /// Memory of the kernel for it: page tables, stacks, sockets, and what it can't drop of its caches
        kernel_bytes: maybe_number Gauge Bytes;
        /// Pages of files that were read back after they had been evicted
        refaulted_pages: maybe_number Counter Pages;
        /// Processes that were killed because its limit left too little
        oom_kills: maybe_number Counter Count;
        /// Time in which some task of it waited for memory (PSI)
        memory_some_ns: maybe_number Counter Nanoseconds;
        /// Time in which some task of it waited for I/O (PSI)
        io_some_ns: maybe_number Counter Nanoseconds;
    }
}

crate::fleet_columns! {
    /// What a control group did in an interval.
    pub struct GroupIntervalRow {
        /// The interval
        key: part IntervalKey;
        /// Whose work it was
        who: part Workload;
        /// What was counted
        io: part CountedIo;
        /// Its memory at the end, and what became of it
        memory: part GroupMemory;
        /// Calls that resolve a path: open, stat, access, readlink and the like, also by io_uring, and exec of what is not there. Null in what older versions wrote
        lookups: maybe_number Counter Count;
        /// Of these, those that ended in ENOENT or ENOTDIR
        failed_lookups: maybe_number Counter Count;
    }
}

impl FleetRow for GroupIntervalRow {
    const TABLE: FleetTable = FleetTable::GroupInterval;

    fn sort_key(&self) -> (&str, i64) {
        (&self.who.cgroup, self.key.ts)
    }
}
