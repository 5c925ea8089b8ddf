//! What happened on a host in one interval, as `stat`, `top` and `export` see it.
//!
//! Counts are of one interval, not since the start. Identities hold for a whole session: a process number that comes up
//! again belongs to another [`LiveProcess`], so that two processes are never mixed.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use crate::{FileId, FileKind, MemInfo, Observed, Pid};

macro_rules! live_counters {
    ($($(#[$doc:meta])* $field:ident,)*) => {
        /// What was counted in one interval. Pages are base pages, whatever the folio size. In every sum of rows
        /// `hits() + read_misses = read_pages` and `from_cache() + from_device() = read_pages`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct LiveIo {
            $($(#[$doc])* pub $field: u64,)*
        }

        impl LiveIo {
            /// The names of all counters, in the order of [`LiveIo::values`].
            pub const NAMES: &'static [&'static str] = &[$(stringify!($field)),*];

            /// All counters, in a fixed order.
            pub fn values(&self) -> [u64; Self::NAMES.len()] {
                [$(self.$field),*]
            }

            /// The counters from what [`LiveIo::values`] gave.
            pub fn from_values(values: [u64; Self::NAMES.len()]) -> Self {
                let [$($field),*] = values;
                Self { $($field),* }
            }

            /// Adds `other` to these counters.
            pub fn add(&mut self, other: &Self) {
                $(self.$field = self.$field.saturating_add(other.$field);)*
            }
        }
    };
}

live_counters! {
    /// Buffered read calls that returned without an error.
    read_calls,
    /// Bytes that they returned.
    read_bytes,
    /// Pages that they asked for.
    read_pages,
    /// Requested pages that were not in the cache and were brought in for the request.
    read_misses,
    /// Requested pages that were in the cache only because the kernel read ahead since the session began.
    readahead_hits,
    /// Buffered write calls that returned without an error.
    write_calls,
    /// Bytes that they accepted.
    write_bytes,
    /// Pages that they wrote to.
    write_pages,
    /// Pages that a write created in the cache.
    new_pages,
    /// Pages that had to be read because only a part of them was written.
    write_misses,
    /// Pages that turned from clean to dirty.
    dirtied_pages,
    /// Read calls that bypassed the cache.
    direct_read_calls,
    /// Bytes that they returned.
    direct_read_bytes,
    /// Write calls that bypassed the cache.
    direct_write_calls,
    /// Bytes that they accepted.
    direct_write_bytes,
    /// Page faults on file mappings.
    faults,
    /// Those that had to read.
    major_faults,
    /// Pages that faults brought in.
    fault_pages,
    /// Pages that were read ahead.
    readahead_pages,
    /// Calls of fsync and kin.
    sync_calls,
    /// Bytes that the block layer was asked to read.
    device_read_bytes,
    /// Bytes that the block layer was asked to write.
    device_write_bytes,
    /// Nanoseconds in buffered reads that found every page cached.
    read_hit_ns,
    /// Nanoseconds in buffered reads that missed, or waited for pages that were being read.
    read_wait_ns,
    /// Nanoseconds in buffered writes.
    write_ns,
    /// Nanoseconds in direct I/O.
    direct_ns,
    /// Nanoseconds in fsync and kin.
    sync_ns,
}

impl LiveIo {
    /// Requested pages that were in the cache when asked for.
    pub fn hits(&self) -> u64 {
        self.read_pages.saturating_sub(self.read_misses)
    }

    /// Requested pages that had to be read from the device: misses and read-ahead hits.
    pub fn from_device(&self) -> u64 {
        self.read_misses.saturating_add(self.readahead_hits)
    }

    /// Requested pages that were in the cache for another reason than read-ahead since the session began.
    pub fn from_cache(&self) -> u64 {
        self.read_pages.saturating_sub(self.from_device())
    }

    /// Bytes of direct reads and writes.
    pub fn direct_bytes(&self) -> u64 {
        self.direct_read_bytes.saturating_add(self.direct_write_bytes)
    }

    /// Whether nothing was counted.
    pub fn is_idle(&self) -> bool {
        *self == Self::default()
    }
}

/// A process as a session knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveProcess {
    /// Unique in the session: a process number that is used again gets another one.
    pub id: u32,
    /// Its number, as the initial PID namespace has it.
    pub pid: Pid,
    /// Its parent's number, where that was seen.
    pub ppid: Observed<Pid>,
    /// The user that it runs as.
    pub uid: Observed<u32>,
    /// The name of its program, at most 15 bytes.
    pub comm: Arc<str>,
    /// Its control group, the path below the root of the hierarchy that accounts memory: `/system.slice/ssh.service`.
    pub cgroup: Observed<Arc<str>>,
    /// It ended in this interval: the session will not show it again.
    pub ended: bool,
}

/// A file as a session knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveFile {
    /// Its identity. A `FileId` of zeros stands for what has no file at hand, such as msync(2).
    pub id: FileId,
    /// The kind of its inode, if known.
    pub kind: FileKind,
    /// A path that leads to it as some process used it; missing where names are not collected.
    pub path: Observed<Arc<PathBuf>>,
    /// Its name is gone.
    pub deleted: bool,
}

/// What one process did to one file in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveRow {
    /// Index into [`Interval::processes`].
    pub process: u32,
    /// Index into [`Interval::files`].
    pub file: u32,
    /// What was counted.
    pub io: LiveIo,
}

/// What got lost since the session began, and what is not measured. Each is a count of a cause, not of pages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LiveLosses {
    /// Requests that were counted, but for nobody: the tables of rows or processes were full.
    pub unattributed: u64,
    /// Names and process events that did not fit into the ring, or were not understood.
    pub events: u64,
    /// Page ranges whose origin could not be kept: some read-ahead hits count as from cache.
    pub origins: u64,
    /// Tasks that could not be followed: what they did is not counted.
    pub tasks: u64,
    /// io_uring requests that could not be followed.
    pub requests: u64,
    /// Programs that the kernel skipped: what they would have seen is not counted.
    pub skipped_programs: u64,
    /// System calls that were not decoded: of 32-bit programs, and copies on a file system that may have shared blocks.
    pub calls: u64,
}

impl LiveLosses {
    /// Whether the counts are too low, and not only less well attributed.
    pub fn damage_counts(&self) -> bool {
        self.tasks | self.requests | self.skipped_programs | self.calls != 0
    }
}

/// What the host says of its memory at the end of an interval, and what it did during it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostMemory {
    /// /proc/meminfo at the end.
    pub memory: Observed<MemInfo>,
    /// Pages of files that were read back after they had been evicted (`workingset_refault_file`), in the interval.
    pub refaulted_pages: Observed<u64>,
    /// Pages of files that reclaim took (`pgsteal_file`), in the interval.
    pub reclaimed_pages: Observed<u64>,
    /// Pages that were written back (`nr_written`), in the interval.
    pub written_back_pages: Observed<u64>,
    /// Pressure stall information.
    pub pressure: Pressure,
}

/// Time in an interval in which tasks waited (PSI), in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pressure {
    /// Some task waited for memory.
    pub memory_some_ns: Observed<u64>,
    /// All tasks that could have run waited for memory.
    pub memory_full_ns: Observed<u64>,
    /// Some task waited for I/O.
    pub io_some_ns: Observed<u64>,
    /// All tasks that could have run waited for I/O.
    pub io_full_ns: Observed<u64>,
    /// Some task waited for a CPU.
    pub cpu_some_ns: Observed<u64>,
}

/// Everything that a session says about one interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interval {
    /// When it ended.
    pub at: SystemTime,
    /// When it ended, in nanoseconds of the monotonic clock since the session began.
    pub ended_after_ns: u64,
    /// How long it was, in nanoseconds of the monotonic clock.
    pub length_ns: u64,
    /// Who did something in it, or ended in it.
    pub processes: Vec<LiveProcess>,
    /// What was used in it.
    pub files: Vec<LiveFile>,
    /// What each of these processes did to each of these files; rows without a count are left out.
    pub rows: Vec<LiveRow>,
    /// What was counted for nobody: a table was full, or who it belongs to had ended.
    pub others: LiveIo,
    /// Pages that left the cache but for truncation and unlinking.
    pub evicted_pages: Observed<u64>,
    /// The host.
    pub host: HostMemory,
    /// Losses since the session began.
    pub losses: LiveLosses,
}
