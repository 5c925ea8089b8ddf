//! What a job tells of itself.

use hotset_facts::Observed;

/// A timed part, and what the kernel did for it. The kernel's counters are asked right before and right after the clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repetition {
    /// By the monotonic clock.
    pub wall_ns: u64,
    /// User and system time of the process.
    pub cpu_ns: u64,
    /// Bytes that it made the block layer read (`ru_inblock`).
    pub device_read_bytes: u64,
    /// Bytes that reached the block layer for it, where the job can tell.
    pub device_write_bytes: Observed<u64>,
    /// Faults that had to read.
    pub major_faults: u64,
    /// Faults that did not.
    pub minor_faults: u64,
    /// Involuntary context switches.
    pub preempted: u64,
    /// Read calls as the kernel counted them (`syscr` of /proc/self/io); io_uring and mappings are in none.
    pub read_calls: Observed<u64>,
    /// Write calls as the kernel counted them (`syscw`).
    pub write_calls: Observed<u64>,
    /// Pages of its files that were cached right before, where the job asked.
    pub cached_before_pages: Option<u64>,
    /// Pages that these files span, where the job asked.
    pub pages: Option<u64>,
}

/// What a job tells when it is done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Bytes moved in all repetitions together.
    pub bytes: u64,
    /// Operations in all repetitions together.
    pub operations: u64,
    /// The calls that it believes it made in its timed parts, by name.
    pub calls: Vec<(&'static str, u64)>,
    /// The timed parts in order; a job that times one loop has one.
    pub repetitions: Vec<Repetition>,
    /// What else it found, by name: the I/O size that a library really used, a time a part.
    pub notes: Vec<(&'static str, u64)>,
}

impl Answer {
    /// The answer of a job with one timed part.
    pub fn of(repetition: Repetition, operations: u64, bytes: u64) -> Self {
        Self { bytes, operations, repetitions: vec![repetition], ..Self::default() }
    }

    /// The same with these calls.
    pub fn with_calls(self, calls: Vec<(&'static str, u64)>) -> Self {
        Self { calls, ..self }
    }
}
