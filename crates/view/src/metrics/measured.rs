//! What `export` knows at the end of an interval.

use std::time::SystemTime;

use hotset_analysis::live::{Accumulated, CurveSet};
use hotset_facts::{Dev, MemInfo, NotMeasured, Observed};

/// Whether the counters still grow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SamplingState {
    /// They do.
    Running,
    /// They don't, and why.
    Stopped(String),
}

/// What a control group is known as beside its path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupLabels {
    /// The container's name, or its short id.
    pub container: Option<String>,
    /// The pod's name, or its id.
    pub pod: Option<String>,
}

/// The memory of a control group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupMemoryNumbers {
    /// Its own limit in bytes; none without one.
    pub limit_bytes: Option<u64>,
    /// Bytes that are charged to it.
    pub used_bytes: u64,
    /// Bytes of these that are file cache, which the kernel can drop.
    pub file_bytes: u64,
    /// Pages of files that were read back after they had been evicted, since its series began; none where the kernel does not count it.
    pub refaulted_pages: Option<u64>,
}

/// What is known of the cache that control groups need.
#[derive(Clone, Copy)]
pub struct Curves<'a> {
    /// Their references.
    pub set: &'a CurveSet,
    /// The memory of a group; `None` where the kernel does not account it.
    pub memory: &'a dyn Fn(&str) -> Option<GroupMemoryNumbers>,
    /// Whether the kernel evicts by its multi-gen LRU, of which a sample says nothing.
    pub multi_gen_lru: bool,
}

/// What a device is known as.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MountLabels {
    /// Where it is mounted; the first of the places.
    pub mountpoint: String,
    /// The kind of file system.
    pub fstype: String,
}

/// What a walk of a watched path found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedNumbers {
    /// The path as it was given.
    pub path: String,
    /// Regular files whose state is known.
    pub files: u64,
    /// Files and directories whose state could not be told.
    pub unknown: u64,
    /// Bytes of the files whose state is known.
    pub size_bytes: u64,
    /// Bytes of their cached pages.
    pub cached_bytes: u64,
    /// Dirty bytes; missing where mincore(2) had to answer for a file.
    pub dirty_bytes: Option<u64>,
    /// Whether the walk came to its end within its bounds.
    pub complete: bool,
    /// How long the walk took, in nanoseconds.
    pub walk_ns: u64,
    /// When it ended.
    pub at: SystemTime,
}

/// hotset's own process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessNumbers {
    /// User and system CPU time, in nanoseconds.
    pub cpu_ns: u64,
    /// Resident memory in bytes.
    pub resident_bytes: u64,
    /// Open descriptors.
    pub open_fds: u64,
}

/// How pushing went; nothing is pushed where there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OtlpNumbers {
    /// Pushes that the receiver took.
    pub pushed: u64,
    /// Pushes that were given up.
    pub failed: u64,
    /// Those that were dropped because the queue was full.
    pub dropped: u64,
    /// Data points that a receiver refused in pushes that it took.
    pub rejected_points: u64,
}

/// What became of the tables of a fleet; none are written where there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FleetNumbers {
    /// Files that are where they belong.
    pub delivered_files: u64,
    /// Files that had to make room for newer ones, or could not be written.
    pub dropped_files: u64,
    /// Intervals that were lost, because the disk of the spool hung.
    pub dropped_intervals: u64,
    /// Attempts to deliver that failed.
    pub failed_deliveries: u64,
    /// Finished files that are not delivered yet.
    pub waiting_files: u64,
    /// Their bytes.
    pub waiting_bytes: u64,
    /// When the last file was delivered.
    pub last_delivery: Option<SystemTime>,
}

/// hotset's own account of its work.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnNumbers {
    /// The version of hotset.
    pub version: &'static str,
    /// When the session began: where all counters were zero.
    pub started: SystemTime,
    /// When the last sample was taken.
    pub last_sample: Option<SystemTime>,
    /// Nanoseconds between samples, as asked for.
    pub interval_ns: u64,
    /// Nanoseconds that all samples took.
    pub sample_ns: u64,
    /// Nanoseconds that the last one took.
    pub last_sample_ns: u64,
    /// Pairs of process and file that were active in the last interval.
    pub rows: u64,
    /// Processes that were active in it.
    pub processes: u64,
    /// Answers by HTTP status.
    pub responses: Vec<(u16, u64)>,
    /// Connections that were closed because there were too many.
    pub refused_connections: u64,
    /// hotset's process.
    pub process: Observed<ProcessNumbers>,
    /// What was pushed by OTLP, and what failed.
    pub otlp: Option<OtlpNumbers>,
    /// What was written of the tables of a fleet.
    pub fleet: Option<FleetNumbers>,
}

/// All of it.
#[derive(Clone, Copy)]
pub struct Measured<'a> {
    /// Whether the counters still grow.
    pub state: &'a SamplingState,
    /// The counters.
    pub counted: &'a Accumulated,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// /proc/meminfo.
    pub memory: &'a Observed<MemInfo>,
    /// How a control group is labelled.
    pub group: &'a dyn Fn(&str) -> GroupLabels,
    /// How a device is labelled; nothing where mounts are not exported.
    pub mount: Option<&'a dyn Fn(Dev) -> MountLabels>,
    /// Curves of control groups, where they are exported.
    pub curves: Option<Curves<'a>>,
    /// Watched paths.
    pub watched: &'a [WatchedNumbers],
    /// What is not measured, and why; its counters are left out.
    pub not_measured: &'a [NotMeasured],
    /// hotset itself.
    pub own: &'a OwnNumbers,
}
