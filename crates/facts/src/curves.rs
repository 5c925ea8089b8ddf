//! How often pages that were used before were used again, by how many others were used in between: what a cache of each size
//! would have had. Of samples, in one interval.

use std::sync::Arc;

/// Counts of references at limits, of a sample of the pages. They sum: those of several intervals, and those of several caches,
/// at the same limits. `hotset_sizing::sample::Curve` says what follows from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurveCounts {
    /// Limits in pages, ascending.
    pub limits: Arc<[u64]>,
    /// At each limit, how many references hit there and not at the limit before, as the sample weighs them.
    pub weights: Vec<u64>,
    /// All references in the sample, as it weighs them.
    pub weighted: u64,
    /// First references among these.
    pub weighted_first: u64,
    /// All references, in the sample or not: exact.
    pub references: u64,
}

/// The references of a control group in an interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupCurve {
    /// The group's path; none where everything that is observed counts as one.
    pub group: Option<Arc<str>>,
    /// One in 2^exponent pages is in the sample. Limits below 16 × 2^exponent pages can't be told apart.
    pub exponent: u32,
    /// Pages in the sample that were used so far.
    pub pages: u64,
    /// References in the interval: exact.
    pub references: u64,
    /// References to pages in the sample that were lost in the interval. `counts` has of `references` what was not lost.
    pub lost: u64,
    /// What was counted in the interval.
    pub counts: CurveCounts,
}

/// The references of all control groups in an interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveCurves {
    /// Those that had any.
    pub groups: Vec<GroupCurve>,
    /// The sensor sends references to one in 2^exponent pages.
    pub exponent: u32,
    /// Groups with references that have no curve, because as many others as there is memory for were first.
    pub groups_beyond: u64,
    /// References to pages in the sample, in the interval, whose group is not known.
    pub unattributed: u64,
    /// References to pages in the sample that were lost in the interval.
    pub lost: u64,
}

/// What was seen of a program that runs, by a sample of its pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledNeed {
    /// References by limit, of all that was seen.
    pub counts: CurveCounts,
    /// One in 2^exponent pages was in the sample at the end.
    pub exponent: u32,
    /// Pages in the sample at the end.
    pub sampled_pages: u64,
    /// References to pages in the sample that were lost.
    pub lost: u64,
    /// How long it was watched, in nanoseconds.
    pub span_ns: u64,
    /// Bytes that went past the cache (O_DIRECT).
    pub direct_bytes: u64,
}
