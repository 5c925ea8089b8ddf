//! What two runs differ in. It is its own format: `hotset.diff/1`.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::SystemTime;

use hotset_facts::format::{KnownTime, Name, Path, required};
use hotset_facts::{Command, Environment, FileKind, Observed, Unit};
use serde::{Deserialize, Serialize};

use crate::Severity;

hotset_facts::words! {
    /// What is compared.
    pub enum ComparedKind {
        /// Two profiles.
        Profiles = "profiles",
        /// Two recordings.
        Recordings = "recordings",
    }
}

hotset_facts::words! {
    /// What became of something.
    #[derive(PartialOrd, Ord)]
    pub enum Change {
        /// Only the second run has it.
        Came = "came",
        /// Only the first run has it.
        Went = "went",
        /// No counter is smaller.
        Grew = "grew",
        /// No counter is larger.
        Shrank = "shrank",
        /// Some counters are larger, others smaller.
        Changed = "changed",
        /// One run has it, and the other can't tell whether it did.
        Unclear = "unclear",
    }
}

hotset_facts::words! {
    /// What two names differ in, although they are taken for one.
    #[derive(PartialOrd, Ord)]
    pub enum MatchedBy {
        /// A directory that was asked to be stripped.
        Strip = "strip",
        /// A part that is drawn at random for a temporary file.
        Temporary = "temporary",
        /// A hash, such as that of the contents.
        Hash = "hash",
        /// A version.
        Version = "version",
        /// A PID.
        Pid = "pid",
        /// A date or a time.
        Date = "date",
        /// All of it: it is the same file by its inode number and generation.
        Inode = "inode",
        /// The arguments: the program is the same.
        Program = "program",
    }
}

hotset_facts::words! {
    /// One of both runs.
    pub enum Which {
        /// The first.
        Before = "before",
        /// The second.
        After = "after",
    }
}

hotset_facts::words! {
    /// Why a comparison is doubtful, or what both runs differ in beside their counts.
    #[derive(PartialOrd, Ord)]
    pub enum DiffCaveatKind {
        /// Both are one run.
        SameRun = "same_run",
        /// A run has no records or no processes.
        Empty = "empty",
        /// Another command, or something else was observed.
        Command = "command",
        /// It ended otherwise.
        Exit = "exit",
        /// Another kernel.
        Kernel = "kernel",
        /// Pages of another size.
        PageSize = "page_size",
        /// Another number of CPUs.
        Cpus = "cpus",
        /// Another amount of memory.
        Memory = "memory",
        /// Another memory limit.
        MemoryLimit = "memory_limit",
        /// One of the hosts evicts idle page cache.
        IdleEviction = "idle_eviction",
        /// Other file systems.
        FileSystems = "file_systems",
        /// More of its files was cached when it began.
        CacheState = "cache_state",
        /// Another instrument.
        Instrument = "instrument",
        /// Another version of hotset.
        Version = "version",
        /// Counts are lower bounds.
        Lost = "lost",
        /// Some files are one row: what is named by one run only may be among them.
        OtherFiles = "other_files",
        /// Some paths of lookups are not known.
        UnnamedLookups = "unnamed_lookups",
        /// What its source could not know.
        Lacks = "lacks",
    }
}

/// What two runs differ in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// What is compared.
    pub compared: ComparedKind,
    /// The first run.
    pub before: SideAbout,
    /// The second run.
    pub after: SideAbout,
    /// Directories that were stripped from paths.
    pub strip: Vec<Stripped>,
    /// Whether they differ in anything that does not vary between runs of the same program: see `varies` of a counter. Findings rest on
    /// times, and are not asked.
    pub differs: bool,
    /// Every counter of the runs, in a fixed order, whether it differs or not.
    pub totals: Vec<CounterChange>,
    /// The files that differ; null where one run does not have them.
    pub files: Observed<RowChanges>,
    /// The processes that differ, by their commands; null where one run does not have them.
    pub processes: Observed<RowChanges>,
    /// Paths of lookups that failed and differ; null where one run does not have them.
    pub failed_lookups: Observed<RowChanges>,
    /// Paths of lookups that succeeded and differ, opens included; null where one run does not have them.
    pub found_lookups: Observed<RowChanges>,
    /// Findings that appeared, went or changed, by rule; null where one run does not have them.
    pub findings: Observed<Vec<FindingChange>>,
    /// What one or both runs did not measure, and is in no difference.
    pub not_measured: Vec<NotCompared>,
    /// What makes the comparison doubtful, and what the runs differ in beside.
    pub caveats: Vec<DiffCaveat>,
}

/// What a run was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = hotset_facts::format::about("path", "The file that it was read from; null where it has no name.")))]
pub struct SideAbout {
    /// The file that it was read from; none where it has no name.
    #[serde(flatten, with = "Path::<Option<String>>")]
    pub path: Option<PathBuf>,
    /// The version of hotset that wrote it; empty where that is not known.
    pub hotset: String,
    /// When it began; null where that is not known.
    #[serde(with = "KnownTime")]
    pub started_at: Option<SystemTime>,
    /// The host; null where it is not known.
    #[serde(deserialize_with = "required")]
    pub environment: Option<Environment>,
    /// The command that was observed; null where it is not known.
    #[serde(deserialize_with = "required")]
    pub command: Option<Command>,
    /// What measured it: the sensor with its level, or the source of a recording.
    pub instrument: String,
}

/// A directory that was stripped from paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stripped {
    /// Its path.
    #[serde(flatten, with = "Path")]
    pub path: PathBuf,
}

/// A counter of both runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CounterChange {
    /// Its name in the JSON of a run.
    pub name: Cow<'static, str>,
    /// In what it counts.
    pub unit: Unit,
    /// Its value in the first run; null where that did not measure it.
    pub before: Observed<u64>,
    /// Its value in the second run; null where that did not measure it.
    pub after: Observed<u64>,
    /// Set of what varies between runs of the same program that do the same: times, minor faults, evictions.
    pub varies: bool,
}

impl CounterChange {
    /// By how much it changed; `None` where one run did not measure it.
    pub fn by(&self) -> Option<i128> {
        let (before, after) = (self.before.value()?, self.after.value()?);
        Some(i128::from(after) - i128::from(before))
    }

    /// Whether both runs measured it, and differ.
    pub fn differs(&self) -> bool {
        self.by().is_some_and(|by| by != 0)
    }

    /// By how much it changed as a share of what it was; `None` where it was 0 or is not known.
    pub fn share(&self) -> Option<f64> {
        let before = self.before.value().filter(|&before| before > 0)?;
        Some(self.by()? as f64 / before as f64)
    }
}

/// Rows of one kind that differ.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RowChanges {
    /// Rows that differ, the largest effect first; those that are unclear last.
    pub rows: Vec<RowChange>,
    /// Rows that are in both runs and differ in nothing, or only in what varies.
    pub same: u64,
    /// Rows of both runs that were taken for one although their names differ.
    pub matched: Vec<MatchedRow>,
}

impl RowChanges {
    /// How many rows a change became of.
    pub fn count(&self, change: Change) -> u64 {
        self.rows.iter().filter(|row| row.change == change).count() as u64
    }

    /// Whether a row differs for sure.
    pub fn differs(&self) -> bool {
        self.rows.iter().any(|row| row.change != Change::Unclear)
    }
}

/// A row of a run, or several that have one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = hotset_facts::format::about("name", "Its path, or the words of its command; of several the first.")))]
pub struct NamedRow {
    /// Its path, or the words of its command; of several the first.
    #[serde(flatten, with = "Name")]
    pub name: OsString,
    /// What kind of file it is; null of what is none.
    #[serde(deserialize_with = "required")]
    pub kind: Option<FileKind>,
    /// How many rows this stands for.
    pub rows: u64,
}

/// Rows of both runs that are one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatchedRow {
    /// Of the first run.
    pub before: NamedRow,
    /// Of the second run.
    pub after: NamedRow,
    /// What their names differ in.
    pub by: Vec<MatchedBy>,
}

/// A row that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RowChange {
    /// What became of it.
    pub change: Change,
    /// Of the first run; null where it is not in that.
    #[serde(deserialize_with = "required")]
    pub before: Option<NamedRow>,
    /// Of the second run; null where it is not in that.
    #[serde(deserialize_with = "required")]
    pub after: Option<NamedRow>,
    /// What their names differ in; empty where they are equal.
    pub by: Vec<MatchedBy>,
    /// The counters that differ, the largest effect first; then those that vary.
    pub counters: Vec<CounterChange>,
    /// What the difference would cost on a usual host, in nanoseconds: for the order of rows, and for nothing else.
    pub effect_ns: u64,
}

impl RowChange {
    /// Its name: that of the second run, if it is in that.
    pub fn name(&self) -> &OsStr {
        let named = self.after.as_ref().or(self.before.as_ref());
        named.map_or(OsStr::new(""), |named| &named.name)
    }
}

/// What became of the finding of a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingChange {
    /// The rule; docs/rules.md explains it.
    pub rule: Cow<'static, str>,
    /// What became of it: it came, went, or matters more (grew) or less (shrank); unclear where the other run's rule could not tell.
    pub change: Change,
    /// In the first run; null where it is not in that.
    #[serde(deserialize_with = "required")]
    pub before: Option<Brief>,
    /// In the second run; null where it is not in that.
    #[serde(deserialize_with = "required")]
    pub after: Option<Brief>,
    /// Why the other run's rule could not tell; null where it could.
    #[serde(deserialize_with = "required")]
    pub undecided: Option<String>,
}

/// A finding in brief.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Brief {
    /// How much it matters.
    pub severity: Severity,
    /// One sentence, without a full stop.
    pub title: String,
    /// What the change would save at most.
    pub saving_high_ns: u64,
}

/// Something that was not compared, because a run did not measure it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotCompared {
    /// The run that did not measure it.
    pub which: Which,
    /// The counters, or what else it is.
    pub what: Vec<String>,
    /// Why, and what would help.
    pub reason: String,
}

/// Something that makes the comparison doubtful, or that the runs differ in beside their counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiffCaveat {
    /// What it is.
    pub kind: DiffCaveatKind,
    /// What it is in the first run; null where it does not concern that.
    #[serde(deserialize_with = "required")]
    pub before: Option<String>,
    /// What it is in the second run; null where it does not concern that.
    #[serde(deserialize_with = "required")]
    pub after: Option<String>,
}
