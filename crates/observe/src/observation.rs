//! What can be observed, and what comes out.

use std::path::PathBuf;

use crate::recording::RecordOptions;
use hotset_facts::{Dev, FileRow, Io, Lookups, Observed, Pid, ProcessRow, Sensor};

/// Rows (a process and a file) that are counted apart; beyond, everything goes on in "others". Room for 100,000 files;
/// the memory is taken at once, 46 MiB of the kernel's.
pub const DEFAULT_MAX_ROWS: u32 = 106_496;

/// Files that a report names; beyond, they are summed up in one row. A row is about a kilobyte of JSON.
pub const DEFAULT_FILES: u32 = 10_000;

/// Files that are told apart for whoever does not print them.
const KEPT_FILES: usize = 30_000;

/// Who is observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// What the caller starts inside [`crate::Session::following_children`], from fork on.
    Children,
    /// Processes that run already, and what they fork.
    Processes(Vec<Pid>),
    /// A control group (version 2) and those below it.
    Cgroup(PathBuf),
    /// Everybody but this process.
    System,
}

/// How to observe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The processes that are observed.
    pub scope: Scope,
    /// Rows that are counted apart.
    pub max_rows: u32,
    /// Files that keep a row of their own at the end, those that matter most by some counter; the rest is one row.
    pub files: usize,
    /// Use the build for kernels before 6.2, also where the full one would load.
    pub compat: bool,
    /// Each request becomes a record too.
    pub record: Option<RecordOptions>,
}

impl Options {
    /// The default bounds for a scope.
    pub fn new(scope: Scope) -> Self {
        Self { scope, max_rows: DEFAULT_MAX_ROWS, files: KEPT_FILES, compat: false, record: None }
    }
}

/// What a session saw.
#[derive(Debug)]
pub struct Observation {
    /// Files, most from the device first.
    pub files: Vec<FileRow>,
    /// Subvolumes of btrfs that files are on, each with the device by which its file system is mounted.
    pub subvolumes: Vec<(Dev, Dev)>,
    /// Processes, in order of appearance.
    pub processes: Vec<ProcessRow>,
    /// The sum of the files.
    pub totals: Io,
    /// Path lookups.
    pub lookups: Observed<Lookups>,
    /// The sensor, its losses, and what it could not measure.
    pub sensor: Sensor,
}
