//! What a change does to requests, as a picture shows it: some requests of one thread as recorded and as changed.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::StepKind;
use crate::format::{Path, required};

crate::words! {
    /// What a request of a pattern is, as a person would call it.
    #[derive(PartialOrd, Ord)]
    pub enum PatternKind {
        /// Bytes are read, by whichever call, or by a load from a mapping.
        Read = "read",
        /// Bytes are written, by whichever call, or by a store to a mapping.
        Write = "write",
        /// The thread waits until bytes are on the device.
        Sync = "sync",
        /// A file is opened.
        Open = "open",
        /// A file is closed.
        Close = "close",
        /// A path is looked up, and leads somewhere.
        Lookup = "lookup",
        /// A path is looked up, and leads nowhere.
        FailedLookup = "failed lookup",
        /// The kernel is told what will be read, or how.
        Hint = "hint",
        /// A file is mapped or unmapped.
        Map = "map",
        /// A name or a size changes.
        Change = "change of name or size",
    }
}

/// A file or a path that requests of a pattern are about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PatternLane {
    /// Its path; null where it is not known.
    #[serde(flatten, with = "Path::<Option<String>>")]
    pub path: Option<PathBuf>,
    /// No recording had it: the change made it.
    pub is_new: bool,
}

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PatternMark {
    /// The record that it was made of, counted from the first of the trace; of several that became one, the first.
    pub record: u32,
    /// What it is, as a person would call it.
    pub kind: PatternKind,
    /// The call.
    pub step: StepKind,
    /// What it is about, by its place among the lanes; null for what has no lane of its own.
    #[serde(deserialize_with = "required")]
    pub lane: Option<u32>,
    /// Where in the file it begins; null for what is about no bytes.
    #[serde(deserialize_with = "required")]
    pub offset: Option<u64>,
    /// Bytes that it moved, or that a hint is about; null for what is about no bytes.
    #[serde(deserialize_with = "required")]
    pub bytes: Option<u64>,
    /// It goes past the page cache (O_DIRECT).
    pub direct: bool,
}

/// Requests before or after a change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PatternSide {
    /// The first of them, at most [`PATTERN_MARKS`], in their order.
    pub marks: Vec<PatternMark>,
    /// How many there are, with those that are not among the marks.
    pub requests: u64,
    /// Reads that are in flight together at most; 0 where each is waited for.
    pub in_flight: u32,
}

/// Marks of a side at most.
pub const PATTERN_MARKS: usize = 150;

/// Some requests of one thread that a change is about, without it and with it. Both sides are made of the same records.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayPattern {
    /// The thread, by its ID in the recording.
    pub tid: u32,
    /// What the requests are about, in the order of its first.
    pub lanes: Vec<PatternLane>,
    /// How many other things requests are about.
    pub more_lanes: u64,
    /// As recorded.
    pub before: PatternSide,
    /// With the change.
    pub after: PatternSide,
}
