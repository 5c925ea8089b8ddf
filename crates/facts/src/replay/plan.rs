//! All that is to be done again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Step;
use crate::trace::ProcessIndex;

crate::words! {
    /// Where the file of a replay is.
    pub enum FileRole {
        /// It is only read: the recorded one.
        Original = "original",
        /// It is written, made, renamed or removed, or stands where names change: a copy in a directory of the replay's own.
        Copy = "copy",
    }
}

/// A path that steps are about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanPath {
    /// As it was asked for, absolute.
    #[serde(with = "super::latin1")]
    pub bytes: Vec<u8>,
    /// Where it leads in a replay.
    pub role: FileRole,
}

crate::words! {
    /// What a name leads to.
    pub enum NameKind {
        /// A file.
        File = "file",
        /// A directory.
        Directory = "directory",
        /// A symbolic link.
        Link = "link",
    }
}

/// A name of a copy that is there before the first step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanName {
    /// The path, by its place in the plan.
    pub path: u32,
    /// What it leads to.
    pub kind: NameKind,
    /// The file, by its place in the plan, where steps are about it.
    pub file: Option<u32>,
    /// Bytes that a symbolic link holds, as far as a step reads them; else 0.
    pub link_bytes: u32,
}

/// A file of the recording that steps read or write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanFile {
    /// Its place in the lists of the trace; behind all of them for a file that no recording had.
    pub index: u32,
    /// The path that it is opened by, by its place in the plan; none where it is not known.
    pub path: Option<u32>,
    /// Where it is in a replay.
    pub role: FileRole,
    /// Steps change its bytes, its size or its names: a copy that is made anew before each replay.
    pub is_changed: bool,
    /// It is there before the first step.
    pub is_there: bool,
    /// Its size then.
    pub size_bytes: u64,
    /// Ranges of bytes that were cached when they were first asked for, in order: first byte, and the one behind the last.
    pub cached: Vec<(u64, u64)>,
    /// Ranges that steps are about, in order.
    pub touched: Vec<(u64, u64)>,
    /// Of a file that no recording had, and a change made: whose bytes it holds, in order. It is a copy of nothing, and stands for
    /// what the programmer would have built.
    pub parts: Vec<FilePart>,
}

/// The bytes of one file that stand in another, as they are before the first step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePart {
    /// Whose bytes they are, by its place in the plan: all of them.
    pub file: u32,
    /// Where they begin.
    pub offset: u64,
}

/// An open file description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSlot {
    /// The file, by its place in the plan.
    pub file: Option<u32>,
    /// The path that it is opened by before the first step, because nobody was seen to open it; else its open is a step.
    pub opened_before: Option<u32>,
    /// It is written to.
    pub writes: bool,
    /// It goes past the page cache (O_DIRECT).
    pub direct: bool,
    /// It writes at the end (O_APPEND).
    pub append: bool,
    /// Its writes return when they are on the device (O_DSYNC).
    pub sync: bool,
}

/// Bytes that one call takes from one open file to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanTransfer {
    /// The slot that they come from.
    pub from: u32,
    /// The slot that they go to.
    pub to: u32,
    /// Where in that one's file they go.
    pub to_offset: u64,
}

/// A mapping of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanMapping {
    /// The file, by its place in the plan.
    pub file: u32,
    /// The slot that it is made of; none of one that is made before.
    pub slot: Option<u32>,
    /// Where in the file it begins.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
    /// Stores into it reach the file.
    pub is_shared: bool,
    /// It can be stored into.
    pub is_writable: bool,
    /// It is made before the first step, because nobody was seen to make it.
    pub is_made_before: bool,
}

/// What a thread waits for before one of its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The step that waits, by its place among those of its thread.
    pub before: u32,
    /// The thread that it waits for.
    pub thread: u32,
    /// How many of that thread's steps must be done.
    pub steps: u32,
}

/// What one thread does, in its order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PlanThread {
    /// Its ID in the recording.
    pub tid: u32,
    /// Its process, where it began. Whoever does the steps has no use for it.
    #[serde(skip)]
    pub process: Option<ProcessIndex>,
    /// Its steps. They are handed on by [`Step::to_bytes`], behind all else.
    #[serde(skip)]
    pub steps: Vec<Step>,
    /// What it waits for, in the order of its steps. Of a request of io_uring, the step is done once it is in flight.
    pub waits: Vec<Wait>,
    /// Requests of io_uring that it has in flight at most; 0 where it makes none.
    pub ring_depth: u32,
}

crate::words! {
    /// Why a record is no step.
    #[derive(PartialOrd, Ord)]
    pub enum LeftOut {
        /// It is of no file: a pipe, a socket, a terminal.
        NoFile = "no file",
        /// The path that it is about is not known.
        NoPath = "no path",
        /// The path that it is about is relative to a directory that is not known.
        RelativePath = "relative path",
        /// It is of a device or of a file system of the kernel's own.
        SpecialFile = "special file",
        /// What it did is not known.
        NoResult = "no result",
        /// It failed for a reason that a replay would not meet: who asked was not allowed to, or asked in a way that is not recorded.
        OtherError = "error that would not repeat",
        /// A program was started.
        Exec = "exec",
        /// The kernel did it by itself: write-back, pages that enter or leave the cache, reads beside requests.
        Kernel = "by the kernel",
        /// It is a close of a description that other descriptors still had.
        SharedClose = "close of a copied descriptor",
        /// There is no such step.
        NotReplayed = "not replayed",
    }
}

/// What the records of the steps came to when they were recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanTotals {
    /// Records that became steps.
    pub records: u64,
    /// The sum of their durations; of requests of one thread that were in flight together, the time in which any was.
    pub duration_ns: u64,
    /// Records among them whose time is not known: faults that found their page in the cache, and bytes that a pipe or a socket took.
    pub untimed: u64,
    /// Bytes that the device read for them.
    pub device_read_bytes: u64,
    /// The time in which at least one of them was under way: less than the sum of durations where threads did I/O at the same time.
    pub covered_ns: u64,
    /// From the beginning of the first to the end of the last record of the trace.
    pub span_ns: u64,
}

/// What is to be done again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReplayPlan {
    /// What steps are about by name, each once.
    pub paths: Vec<PlanPath>,
    /// Names of copies that are there before the first step; so are the directories on the way to all copies that are not made by a
    /// step.
    pub there: Vec<PlanName>,
    /// What they read, write or map, and what is there of it before the first of them.
    pub files: Vec<PlanFile>,
    /// Open file descriptions.
    pub slots: Vec<PlanSlot>,
    /// What calls copy from one of them to another, each for one step.
    pub transfers: Vec<PlanTransfer>,
    /// Of files, in the order in which they were made.
    pub mappings: Vec<PlanMapping>,
    /// What each thread does, in the order in which their first records came.
    pub threads: Vec<PlanThread>,
    /// Records that are no steps, by the reason.
    pub left_out: BTreeMap<LeftOut, u64>,
    /// What the steps came to when they were recorded.
    pub recorded: PlanTotals,
}

impl ReplayPlan {
    /// How many steps there are.
    pub fn steps(&self) -> u64 {
        self.threads.iter().map(|thread| thread.steps.len() as u64).sum()
    }
}
