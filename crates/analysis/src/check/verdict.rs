//! What came of a check. It is its own format: `hotset.check/1`.

use std::ffi::OsString;
use std::path::PathBuf;

use hotset_facts::format::{Argv, Name, OutputTail, Path};
use hotset_facts::trace::Site;
use hotset_facts::{Environment, ExitStatus, LearnedBy, Observed, StateReached, Unit, WantedState};
use serde::Serialize;

use crate::diff::Change;

hotset_facts::words! {
    /// What a limit came to.
    pub enum LimitVerdict {
        /// The number is within it.
        Held = "held",
        /// It is not.
        Broken = "broken",
        /// The number is not known, which fails.
        NotMeasured = "not_measured",
        /// The number is not known, which the budget allows.
        Allowed = "not_measured_and_allowed",
    }
}

impl LimitVerdict {
    /// Whether the check fails by it.
    pub fn fails(self) -> bool {
        matches!(self, Self::Broken | Self::NotMeasured)
    }
}

hotset_facts::words! {
    /// What a check came to.
    pub enum CheckOutcome {
        /// Every limit was held, in the first run.
        Passed = "passed",
        /// Every limit was held, but not in the first run.
        PassedOnRetry = "passed_on_retry",
        /// A limit was broken in every run, or a number was not measured.
        Failed = "failed",
        /// The command ended otherwise than the budget says.
        CommandFailed = "command_failed",
        /// The command took too long.
        TimedOut = "timed_out",
        /// The command was not run, or what it did could not be counted.
        NotRun = "not_run",
    }
}

impl CheckOutcome {
    /// Whether `hotset check` fails by it.
    pub fn fails(self) -> bool {
        !matches!(self, Self::Passed | Self::PassedOnRetry)
    }
}

hotset_facts::words! {
    /// What a limit is on.
    pub enum LimitOf {
        /// The whole run.
        Run = "run",
        /// Files that match a pattern.
        Files = "files",
        /// Processes of a name.
        Processes = "processes",
    }
}

hotset_facts::words! {
    /// What has a part in a number.
    pub enum PartKind {
        /// A file.
        File = "file",
        /// A process.
        Process = "process",
        /// A path that was looked up in vain.
        FailedLookup = "failed_lookup",
    }
}

/// All checks of a budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = hotset_facts::format::about("path", "The budget file.")))]
pub struct CheckReport {
    /// The budget file.
    #[serde(flatten, with = "Path")]
    pub path: PathBuf,
    /// The host.
    pub environment: Environment,
    /// Why there was no sensor; null where there was one.
    pub no_sensor: Option<String>,
    /// Why calls were not counted by tracing in its place; null where they were, and where there was a sensor.
    pub no_trace: Option<String>,
    /// Ctrl-C ended it before all checks were run.
    pub interrupted: bool,
    /// The checks, in the order of the budget.
    pub checks: Vec<CheckResult>,
}

impl CheckReport {
    /// How many checks came to something that `fits`.
    pub fn count(&self, fits: impl Fn(CheckOutcome) -> bool) -> usize {
        self.checks.iter().filter(|check| fits(check.outcome)).count()
    }
}

/// What came of one check.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = hotset_facts::format::about("argv", "The words that were executed.")))]
pub struct CheckResult {
    /// Its name.
    pub name: String,
    /// The words that were executed.
    #[serde(flatten, with = "Argv")]
    pub argv: Vec<OsString>,
    /// The state that each run was to begin in.
    pub state: WantedState,
    /// How the files that the state is set on became known; `nothing` where it is set on none.
    pub learned_by: LearnedBy,
    /// How many they are.
    pub state_files: u64,
    /// What it came to.
    pub outcome: CheckOutcome,
    /// Why it was not run; null where it was.
    pub error: Option<String>,
    /// Its runs; the last one decides, and all are told.
    pub attempts: Vec<Attempt>,
}

impl CheckResult {
    /// The run that decides.
    pub fn last(&self) -> Option<&Attempt> {
        self.attempts.last()
    }
}

/// One run of a check.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = hotset_facts::format::about("output_tail", "The end of what the command wrote, where it failed.")))]
pub struct Attempt {
    /// How the command ended.
    #[serde(flatten)]
    pub exit: ExitStatus,
    /// Whether that is what the budget says.
    pub exit_as_wanted: bool,
    /// It took too long, and was killed.
    pub timed_out: bool,
    /// How long it took.
    pub wall_ns: u64,
    /// The cache state that it began in; null where none was asked for.
    pub reached: Observed<StateReached>,
    /// Its limits: of the whole run, then of files, then of processes, each by the names of numbers.
    pub limits: Vec<JudgedLimit>,
    /// Findings that may not appear.
    pub findings: Vec<JudgedFinding>,
    /// Requests whose code is not known: no call site has a part of theirs. Null where call sites were not asked for.
    pub requests_without_site: Option<u64>,
    /// The end of what the command wrote, where it failed.
    #[serde(flatten, with = "OutputTail")]
    pub output_tail: Vec<u8>,
}

impl Attempt {
    /// Whether nothing failed in it.
    pub fn holds(&self) -> bool {
        self.exit_as_wanted
            && !self.timed_out
            && !self.limits.iter().any(|limit| limit.verdict.fails())
            && !self.findings.iter().any(|finding| finding.verdict.fails())
    }

    /// What it came to by itself.
    pub fn outcome(&self) -> CheckOutcome {
        if self.timed_out {
            CheckOutcome::TimedOut
        } else if !self.exit_as_wanted {
            CheckOutcome::CommandFailed
        } else if self.holds() {
            CheckOutcome::Passed
        } else {
            CheckOutcome::Failed
        }
    }
}

/// A limit beside the number.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedLimit {
    /// What it is on.
    pub on: LimitOf,
    /// The pattern of files, or the name of processes; null of the whole run.
    pub which: Option<String>,
    /// Patterns of files among these that it is not on.
    pub except: Vec<String>,
    /// How many files or processes of the run it is on; null of the whole run.
    pub rows: Option<u64>,
    /// The number's name.
    pub number: String,
    /// In what it counts.
    pub unit: Unit,
    /// The limit as the budget has it.
    pub limit: String,
    /// The amount in the limit; of one above a baseline what that makes. Null where the baseline has no such number.
    pub bound: Option<u64>,
    /// The number; null where it was not measured.
    pub value: Observed<u64>,
    /// What the baseline has; null where there is none.
    pub baseline: Option<u64>,
    /// What came of it.
    pub verdict: LimitVerdict,
    /// Why the number can't be trusted although there is one; null where it can.
    pub doubt: Option<String>,
    /// Of a broken limit, what has the largest part in the number, or in its change since the baseline.
    pub parts: Vec<Part>,
    /// How many more have a part in it.
    pub more_parts: u64,
    /// Of a broken limit, the code that has the largest part in the number, or in its change since the baseline; empty where call sites
    /// were not asked for, or the number is none of what code asks for.
    pub sites: Vec<SitePart>,
    /// How many more call sites have a part in it.
    pub more_sites: u64,
}

/// What has a part in a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = hotset_facts::format::about("name", "Its path, or the words of its command.")))]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// Its path, or the words of its command.
    #[serde(flatten, with = "Name")]
    pub name: OsString,
    /// What became of it since the baseline; null without one.
    pub change: Option<Change>,
    /// Its part; of a change since the baseline by how much it changed.
    pub amount: i64,
}

/// A call site that has a part in a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SitePart {
    /// Its chain of calls.
    #[serde(flatten)]
    pub site: Site,
    /// What became of it since the baseline; null without one that has call sites.
    pub change: Option<Change>,
    /// Its part; of a change since the baseline by how much it changed.
    pub amount: i64,
}

/// A finding that may not appear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedFinding {
    /// The rule; docs/rules.md explains it.
    pub rule: String,
    /// What came of it: broken where the finding appeared.
    pub verdict: LimitVerdict,
    /// What it says, or why the rule could not tell; null where it found nothing.
    pub words: Option<String>,
}
