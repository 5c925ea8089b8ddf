//! What an explanation consists of.

use std::path::PathBuf;

use hotset_facts::trace::{FileIndex, SiteIndex};

use super::{Language, Setting};
use crate::{Evidence, RuleVerdict, Saving, Severity};

/// What a recording tells of what could be changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// How long the run took, in nanoseconds: as its head says, else from the first record to the end of the last.
    pub wall_ns: u64,
    /// How long requests took, in nanoseconds; those of several threads add up.
    pub io_ns: u64,
    /// What is worth changing: the largest saving first, information last.
    pub findings: Vec<TraceFinding>,
    /// What the other rules said.
    pub verdicts: Vec<RuleVerdict>,
}

/// Something in a recording that costs time, with what would prove it and what to do about it.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceFinding {
    /// The rule's stable id.
    pub rule: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// One sentence, without a full stop.
    pub title: String,
    /// The numbers behind it; `saving_ns_low` and `saving_ns_high` come last where there is a saving.
    pub evidence: Vec<Evidence>,
    /// What the change would save, in nanoseconds: of the I/O alone, and with the thread's own time that hangs on it.
    pub saving: Saving,
    /// Files with most of it, at most three.
    pub files: Vec<FileShare>,
    /// How many other files have a part in it; at least, where there were too many to tell apart.
    pub more_files: u64,
    /// Call sites with most of it, at most three; none where the recording has none.
    pub sites: Vec<TraceSiteShare>,
    /// The changes that a replay makes, all together, to prove it; none where `unproved` says why.
    pub changes: Vec<String>,
    /// Why no replay can prove it.
    pub unproved: Option<&'static str>,
    /// What the programmer does.
    pub advice: String,
    /// How that is done in the languages of the programs that do it.
    pub how: Vec<(Language, String)>,
    /// What the change risks, if anything.
    pub risks: Option<String>,
    /// Settings that spare most of it without a change of code.
    pub settings: Vec<Setting>,
}

/// A file, or a directory that was searched, with its part of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileShare {
    /// The file; `None` of a directory.
    pub file: Option<FileIndex>,
    /// Its path; `None` where it is not known.
    pub path: Option<PathBuf>,
    /// Records of it that the finding is about.
    pub records: u64,
    /// How long they took together, in nanoseconds.
    pub time_ns: u64,
}

/// A call site with its part of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceSiteShare {
    /// The call site.
    pub site: SiteIndex,
    /// Records of it that the finding is about.
    pub records: u64,
    /// How long they took together, in nanoseconds.
    pub time_ns: u64,
}
