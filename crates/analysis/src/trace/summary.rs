//! A whole trace in numbers: rows of each kind, the costliest first.

use serde::Serialize;

use hotset_facts::trace::{Gap, Site, TraceFile, TraceProcess};

use super::counts::TraceCounts;
use super::failed::FailedPaths;
use super::flame::Flame;
use super::kind::RequestKind;
use super::latency::{Latencies, LatencyNumbers};
use super::operations::OperationNumbers;
use super::sequence::Sequence;
use super::threads::TraceThreadNumbers;

/// What a trace comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceSummary {
    /// When the first record began, in nanoseconds since the recording began; null without records.
    pub from_ns: Option<u64>,
    /// When the last record ended.
    pub to_ns: Option<u64>,
    /// All records.
    pub totals: TraceCounts,
    /// How long requests took, by kind; kinds without a timed request are left out.
    pub latencies: Vec<KindLatency>,
    /// Files, the costliest first.
    pub files: Vec<TraceFileNumbers>,
    /// The other files.
    pub other_files: TraceRest,
    /// Processes, the costliest first.
    pub processes: Vec<TraceProcessNumbers>,
    /// The other processes.
    pub other_processes: TraceRest,
    /// Threads, those that waited longest first.
    pub threads: Vec<TraceThreadNumbers>,
    /// Threads that are not among these, as far as they were told apart.
    pub other_threads: u64,
    /// Operations, the costliest first.
    pub operations: Vec<OperationNumbers>,
    /// Lookups that failed.
    pub failed_lookups: FailedPaths,
    /// Call sites, the costliest first.
    pub sites: Vec<TraceSiteNumbers>,
    /// The other call sites.
    pub other_sites: TraceRest,
    /// Call sites as one tree.
    #[serde(skip)]
    pub flame: Flame,
    /// Records that are not there.
    pub lost: LostRecords,
}

impl TraceSummary {
    /// How long the recording took from its first record to the end of its last, in nanoseconds.
    pub fn length_ns(&self) -> u64 {
        match (self.from_ns, self.to_ns) {
            (Some(from), Some(to)) => to.saturating_sub(from),
            _ => 0,
        }
    }

    /// The share of the time of all requests that these took, from 0 to 1; `None` where nothing was timed.
    pub fn time_share(&self, counts: &TraceCounts) -> Option<f64> {
        let all = self.totals.time_ns.filter(|&ns| ns > 0)?;
        Some(counts.time_ns? as f64 / all as f64)
    }

    /// Bytes of a file of `file_bytes` by record.
    pub fn bytes_per_record(&self, file_bytes: u64) -> Option<f64> {
        (self.totals.records > 0).then(|| file_bytes as f64 / self.totals.records as f64)
    }
}

/// How long the requests of a kind took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindLatency {
    /// The kind.
    pub kind: RequestKind,
    /// In numbers.
    #[serde(flatten)]
    pub numbers: LatencyNumbers,
    /// As a histogram.
    #[serde(skip)]
    pub histogram: Latencies,
}

/// A file in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceFileNumbers {
    /// Its place in the trace's list of files.
    pub index: u32,
    /// What the trace knows of it; null where its list does not reach so far.
    pub file: Option<TraceFile>,
    /// What was counted.
    #[serde(flatten)]
    pub counts: TraceCounts,
    /// The end of the furthest request, in bytes; 0 where none has an offset.
    pub extent_bytes: u64,
    /// Which of its reads were sequential.
    pub reads_in_order: Sequence,
    /// Which of its writes were.
    pub writes_in_order: Sequence,
}

/// A process in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceProcessNumbers {
    /// Its place in the trace's list of processes.
    pub index: u32,
    /// What the trace knows of it; null where its list does not reach so far.
    pub process: Option<TraceProcess>,
    /// What was counted.
    #[serde(flatten)]
    pub counts: TraceCounts,
}

/// A call site in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceSiteNumbers {
    /// Its place in the trace's list of call sites.
    pub index: u32,
    /// Its chain of calls; null where the list does not reach so far.
    pub site: Option<Site>,
    /// What was counted.
    #[serde(flatten)]
    pub counts: TraceCounts,
}

/// Rows that are not shown one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceRest {
    /// How many, at least.
    pub rows: u64,
    /// Set where there are more than could be told apart.
    pub at_least: bool,
    /// What was counted for them.
    #[serde(flatten)]
    pub counts: TraceCounts,
}

/// Records that found no room while they were recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LostRecords {
    /// Records that are not there.
    pub records: u64,
    /// Stretches of time in which a thread lost records.
    pub gaps: u64,
    /// Those that lost most records first.
    pub largest: Vec<Gap>,
}
