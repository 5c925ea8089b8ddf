//! One of two runs that are compared, whatever it was made of.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;

use hotset_facts::{CallSites, FileId, FileKind, NotMeasured, Observed, Pid, Reason};

use super::counters::Counters;
use super::difference::{ComparedKind, SideAbout};
use crate::Severity;

/// A run in the form in which it is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// What it is of.
    pub about: SideAbout,
    /// What it was made of.
    pub kind: ComparedKind,
    /// Every counter of the run by its name in JSON, without `totals.` before it: `read.calls`, `lookups.failed`, `command.wall_ns`.
    pub totals: Counters,
    /// The files, in the order of the profile or the recording.
    pub files: Vec<SideRow>,
    /// The processes.
    pub processes: Vec<SideRow>,
    /// Paths that were looked up in vain, each with `calls`.
    pub failed_lookups: Observed<Vec<SideRow>>,
    /// Paths that were looked up or opened and found, each with `calls`.
    pub found_lookups: Observed<Vec<SideRow>>,
    /// What its rules found.
    pub findings: Observed<Vec<SideFinding>>,
    /// Rules that could not tell, with the reason.
    pub undecided: Vec<(&'static str, Reason)>,
    /// The code that asked; none where nobody looked.
    pub sites: Option<CallSites>,
    /// What it says of itself that it did not measure, and that no counter is missing for: a name, and why.
    pub gaps: Vec<(String, String)>,
    /// What makes a comparison doubtful.
    pub(super) doubts: Doubts,
    /// The PIDs of its processes, which its paths may have in them.
    pub(super) pids: HashSet<Pid>,
}

impl Side {
    /// The same with the file that it was read from, and the version of hotset that wrote that.
    #[must_use]
    pub fn read_from(mut self, path: Option<&Path>, version: &str) -> Self {
        self.about.path = path.map(Path::to_owned);
        self.about.hotset = version.to_owned();
        self
    }

    /// Bytes of a page; 4 KiB where the host is not known.
    pub fn page_size_bytes(&self) -> u64 {
        const USUAL: u64 = 4096;
        self.about.environment.as_ref().map_or(USUAL, |environment| environment.page_size_bytes)
    }

    /// Events that the sensor lost: where there are any, counts are lower bounds.
    pub fn lost(&self) -> u64 {
        self.doubts.lost
    }

    /// How rows of files came about.
    pub(super) fn rows_by(&self) -> RowsBy {
        self.doubts.rows_by
    }

    /// Whether it was counted without the sensor.
    pub(crate) fn is_without_sensor(&self) -> bool {
        self.doubts.rows_by != RowsBy::Sensor
    }
}

/// What a run says that it did not measure, without what counters are missing for: these say it themselves.
pub(super) fn gaps(not_measured: &[NotMeasured], totals: &Counters) -> Vec<(String, String)> {
    let is_counter = |what: &str| {
        let is_of = |name: &str| name.strip_prefix(what).is_some_and(is_end_of_name);
        totals.iter().any(|one| is_of(one.name))
    };
    let all = not_measured.iter().flat_map(|gap| {
        let whats = gap.feature.unmeasured().into_iter();
        whats.map(|what| (what.to_owned(), gap.reason.clone()))
    });
    all.filter(|(what, _)| !is_counter(what)).collect()
}

/// Whether what follows a group or a counter is none, or a counter of the group.
pub(super) fn is_end_of_name(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('.')
}

/// Which files have a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum RowsBy {
    /// All that were used.
    #[default]
    Sensor,
    /// Those that were opened or executed.
    Tracing,
    /// Those that a process had open or mapped when it was looked at.
    Looking,
}

/// What of a run makes comparisons of it doubtful.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Doubts {
    /// Rows that came about in different ways can't be compared.
    pub(super) rows_by: RowsBy,
    /// Events that the sensor lost, or records that found no room: counts are lower bounds.
    pub(super) lost: u64,
    /// Failed lookups whose path is not known.
    pub(super) unnamed_lookups: u64,
    /// Found lookups whose path is not known.
    pub(super) unnamed_found: u64,
    /// Pages of its files that were cached when it first touched them, and all pages of these files.
    pub(super) cached: Option<(u64, u64)>,
    /// Sentences of a trace about what its source could not know.
    pub(super) lacks: Vec<String>,
    /// Nothing was recorded.
    pub(super) is_empty: bool,
}

/// A file, a process or a path of a [`Side`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideRow {
    /// Its path, or the words of its command.
    pub name: OsString,
    /// What kind of file it is; `None` of what is none.
    pub kind: Option<FileKind>,
    /// Its identity, where it is a file and that is known.
    pub id: Option<FileId>,
    /// The program that a process runs.
    pub program: Option<OsString>,
    /// What was counted for it, under the names of its rows in JSON.
    pub counters: Counters,
}

impl SideRow {
    /// What is neither a file nor a process.
    pub(super) fn path(name: OsString, counters: Counters) -> Self {
        Self { name, kind: None, id: None, program: None, counters }
    }
}

/// What a rule found.
#[derive(Debug, Clone, PartialEq)]
pub struct SideFinding {
    /// The rule's stable id.
    pub rule: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// One sentence, without a full stop.
    pub title: String,
    /// What the change would save at most, in nanoseconds.
    pub saving_high_ns: u64,
}
