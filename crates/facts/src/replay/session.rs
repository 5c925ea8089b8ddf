//! What replays of a recording came to.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{LeftOut, PlanTotals, ReplayPattern, StepKind};
use crate::format::{Path, Time, required};
use crate::trace::TraceHead;
use crate::{Environment, Observed};

crate::words! {
    /// What is cached of the files before a replay begins.
    #[derive(PartialOrd, Ord)]
    pub enum ReplayState {
        /// What was cached when the recording first asked for it, as far as its records tell.
        Recorded = "recorded",
        /// No page of them.
        Cold = "cold",
        /// All bytes that steps are about.
        Warm = "warm",
    }
}

crate::words! {
    /// How a file is not what it was when it was recorded.
    pub enum SinceRecorded {
        /// There is none of that name.
        Missing = "missing",
        /// It has fewer bytes than were asked for.
        Shorter = "shorter",
        /// It has another size.
        OtherSize = "other size",
        /// It is a device, a pipe or a socket.
        Special = "not a regular file",
        /// This user may not open it.
        Denied = "permission denied",
    }
}

/// A file that a replay can't use as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnfitFile {
    /// Its path.
    #[serde(flatten, with = "Path::<String>")]
    pub path: PathBuf,
    /// What is wrong with it.
    pub since_recorded: SinceRecorded,
    /// Its size when it was recorded.
    pub recorded_bytes: u64,
    /// Its size now; null where there is none.
    #[serde(deserialize_with = "required")]
    pub size_bytes: Option<u64>,
}

/// Files of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayFiles {
    /// Files that are read where they are.
    pub originals: u64,
    /// Files that are written, created, renamed or removed: that happens on copies.
    pub copies: u64,
    /// Bytes that are copied before each replay.
    pub copied_bytes: u64,
    /// Copies on another device than the one that their original is on, or was to be on.
    pub elsewhere: u64,
    /// Copies whose original is not there any more: their bytes are made up.
    pub made_up: u64,
    /// Files that are not as they were recorded.
    pub unfit: Vec<UnfitFile>,
}

/// Pages of the files before a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayPages {
    /// Pages that are to be cached.
    pub wanted: u64,
    /// Of these, pages that are.
    pub cached: u64,
    /// Pages that are cached and are not to be.
    pub beside: u64,
    /// Of these, pages that the kernel does not evict: mapped, locked, or dirty.
    pub stuck: u64,
    /// Files of which nobody knows.
    pub unknown_files: u64,
}

impl ReplayPages {
    /// Of a thousand pages, so many may be other than they are to be: at the ends of folios that stay whole.
    const WRONG_PER_MILLE: u64 = 10;

    /// Whether pages are as they are to be, but for those that nobody can evict and a few.
    pub fn are_reached(&self) -> bool {
        let missing = self.wanted.saturating_sub(self.cached);
        let wrong = missing + self.beside.saturating_sub(self.stuck);
        wrong <= (self.wanted + self.cached) * Self::WRONG_PER_MILLE / 2_000
    }
}

/// A step that did not end as it did when it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The record that it was made of, counted from the first of the trace.
    pub record: u32,
    /// What it does.
    pub step: StepKind,
    /// What the call returned then: below zero an error number.
    pub recorded: i64,
    /// What it returned now.
    pub found: i64,
}

/// One replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplaySample {
    /// Which of the variants, by its place.
    pub variant: usize,
    /// What was cached before.
    pub state: ReplayState,
    /// Its round.
    pub round: u32,
    /// The pages right before it.
    pub pages: ReplayPages,
    /// From the beginning of the first thread to the end of the last.
    pub wall_ns: u64,
    /// The time of all threads together, without what they waited for each other: the I/O time.
    pub busy_ns: u64,
    /// Of the I/O time, that of steps whose time the recording does not have: faults that found their page in the cache, and bytes that a
    /// pipe or a socket took.
    pub untimed_ns: u64,
    /// What they waited for each other.
    pub waited_ns: u64,
    /// Bytes that the device read for it.
    pub device_read_bytes: u64,
    /// Bytes that it had written to the device, or made dirty.
    pub device_write_bytes: u64,
    /// Steps that did not end as recorded.
    pub differences: u64,
    /// The first of them.
    pub first_differences: Vec<Difference>,
}

/// A change of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayChange {
    /// It as it is asked for: `buffer=64K`.
    pub change: String,
    /// Steps of before that became others, or none, or that a new one was put beside.
    pub affected_steps: u64,
    /// Steps before it.
    pub steps_before: u64,
    /// Steps after it.
    pub steps_after: u64,
}

/// A plan that is replayed: the recording as it is, or with changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayVariant {
    /// Its changes, in the order in which they are made; none of the recording as it is.
    pub changes: Vec<ReplayChange>,
    /// Its steps.
    pub steps: u64,
    /// Some of the requests that the changes are about, before and after; null for the recording as it is.
    #[serde(deserialize_with = "required")]
    pub pattern: Option<ReplayPattern>,
}

/// All replays of one recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplaySession {
    /// The version of hotset: the key `hotset` of a document.
    #[serde(skip)]
    pub version: String,
    /// When it began.
    #[serde(with = "Time")]
    #[cfg_attr(feature = "schema", schemars(with = "Time"))]
    pub started_at: SystemTime,
    /// How long it took.
    pub took_ns: u64,
    /// The host that it was replayed on.
    pub environment: Environment,
    /// The recording.
    #[serde(flatten, with = "Path::<String>")]
    pub trace: PathBuf,
    /// What it says of itself.
    pub head: TraceHead,
    /// Where records are missing in it.
    pub gaps: u64,
    /// Threads that do steps.
    pub threads: u64,
    /// What the steps came to when they were recorded.
    pub recorded: PlanTotals,
    /// Records that are no steps, by the reason.
    pub left_out: BTreeMap<LeftOut, u64>,
    /// Its files.
    pub files: ReplayFiles,
    /// The memory that a replay may use, page cache included; null where that is not limited.
    #[serde(deserialize_with = "required")]
    pub memory_limit_bytes: Option<u64>,
    /// What entering and leaving the kernel costs here, in nanoseconds a call: a recorded duration does not hold it.
    pub syscall_ns: Observed<f64>,
    /// The seed of the orders.
    pub seed: u64,
    /// Rounds that were done.
    pub rounds: u32,
    /// It was ended before its last round.
    pub interrupted: bool,
    /// The recording as it is, and with changes.
    pub variants: Vec<ReplayVariant>,
    /// All replays, in their order.
    pub samples: Vec<ReplaySample>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_wrong_pages_are_no_other_state() {
        let of = |wanted, cached, beside, stuck| {
            ReplayPages { wanted, cached, beside, stuck, unknown_files: 0 }.are_reached()
        };
        assert!(of(0, 0, 0, 0) && of(0, 0, 9, 9) && of(1_000, 995, 0, 0) && of(1_000, 1_000, 9, 0));
        assert!(!of(0, 0, 1, 0) && !of(1_000, 900, 0, 0) && !of(10, 9, 0, 0));
    }
}
