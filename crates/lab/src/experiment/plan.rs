//! What an experiment is going to do: its cells, and the files that these read.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use hotset_facts::{
    Factor, FilledBy, LabFact, LabSize, LabSkipped, LabUnit, Level, TWIN, WantedState,
};

use super::expects::Expects;
use super::parts::Splits;
use crate::words::Word;

/// What runs once for a sample, in a process of its own. It prints one JSON line: see `docs/probes.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeCommand {
    /// A job of this binary: `hotset lab-probe JOB key=value…`.
    Native {
        /// Its name in the table of jobs (`hotset_experiments::job`).
        job: &'static str,
        /// Its words.
        words: Vec<Word>,
    },
    /// Another program. The first word is what is executed, found already.
    Program {
        /// All words.
        argv: Vec<OsString>,
    },
}

impl ProbeCommand {
    /// A job of this binary.
    pub fn native(job: &'static str, words: impl Into<Vec<Word>>) -> Self {
        Self::Native { job, words: words.into() }
    }
}

/// What ran right before a cell whose state is what that left: the state is set, this runs, and the sample begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prologue {
    /// Set on the cell's files first.
    pub state: WantedState,
    /// Runs, unmeasured.
    pub probe: ProbeCommand,
}

/// A cell before it is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellPlan {
    /// What makes it this cell; its id is the experiment and the levels.
    pub factors: Vec<Factor>,
    /// What its samples are about.
    pub unit: LabUnit,
    /// The state that is set on exactly `files`, and verified right before each sample.
    pub state: WantedState,
    /// How the cache is filled where the state is warm.
    pub filled_by: FilledBy,
    /// The files that the state is set on.
    pub files: Vec<PathBuf>,
    /// The probe sets the state itself, right before its first timed part, and tells what was cached before each: `files` has
    /// none then. For a part of a file or of a block device.
    pub is_set_by_probe: bool,
    /// Where the state is what another run left; `state` is then [`WantedState::AsIs`].
    pub prologue: Option<Prologue>,
    /// What runs.
    pub probe: ProbeCommand,
    /// What a sample must show.
    pub expects: Expects,
    /// How a run becomes samples.
    pub splits: Splits,
    /// Ask the [`super::CallCounter`] in one run apart. False where its calls are not of interest, or too many.
    pub count_calls: bool,
}

impl CellPlan {
    /// A cell with one sample a run, in ns an operation.
    pub fn new(factors: Vec<Factor>, state: WantedState, probe: ProbeCommand) -> Self {
        let filled_by = match state {
            WantedState::Warm => FilledBy::LargeFolios,
            _ => FilledBy::Nothing,
        };
        Self {
            factors,
            unit: LabUnit::NanosecondsPerOperation,
            state,
            filled_by,
            files: Vec::new(),
            is_set_by_probe: false,
            prologue: None,
            probe,
            expects: Expects::default(),
            splits: Splits::Whole,
            count_calls: true,
        }
    }

    /// The same cell again, so that an experiment can tell what it can't decide.
    pub fn twin(&self) -> Self {
        let mut twin = self.clone();
        twin.factors.push(name(TWIN, "a/a"));
        twin.count_calls = false;
        twin
    }
}

/// A factor whose level is a name.
pub fn name(factor: &'static str, level: impl Into<String>) -> Factor {
    Factor { name: factor.into(), level: Level::Name(level.into()) }
}

/// A factor whose level is a number.
pub fn number(factor: &'static str, level: u64) -> Factor {
    Factor { name: factor.into(), level: Level::Number(level) }
}

/// `access/pread/random/4096/warm`.
pub fn cell_id(experiment: &str, factors: &[Factor]) -> String {
    let levels = factors.iter().map(|factor| match &factor.level {
        Level::Number(number) => number.to_string(),
        Level::Name(name) => name.replace(['/', ' '], "-"),
    });
    std::iter::once(experiment.to_owned()).chain(levels).collect::<Vec<_>>().join("/")
}

/// What a file holds before the first round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// The pattern of `hotset_sys::rawio::pattern`, which can be checked at any offset.
    Pattern {
        /// Its size.
        bytes: u64,
    },
    /// These bytes.
    Bytes(Vec<u8>),
}

/// A file that is made in the scratch directory, and synced, before the first round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFile {
    /// Where; missing directories are made.
    pub path: PathBuf,
    /// What it holds.
    pub contents: Contents,
}

impl TestFile {
    /// Its size.
    pub fn bytes(&self) -> u64 {
        match &self.contents {
            Contents::Pattern { bytes } => *bytes,
            Contents::Bytes(bytes) => bytes.len() as u64,
        }
    }
}

/// How many rounds are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rounds {
    /// At least so many, whatever they take: below 6 there is no interval.
    pub min: u32,
    /// No more than so many.
    pub max: u32,
    /// After `min`, no round begins that would end later than this after the first one began.
    pub budget: Option<Duration>,
    /// Beyond these at most so many, while a cell that has valid samples has them in fewer than 6 rounds.
    pub made_up: u32,
}

/// An experiment before it is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExperimentPlan {
    /// The experiment's name.
    pub experiment: &'static str,
    /// How large.
    pub size: LabSize,
    /// How often.
    pub rounds: Rounds,
    /// The cells, in the order of tables.
    pub cells: Vec<CellPlan>,
    /// What is left out, and why.
    pub skipped: Vec<LabSkipped>,
    /// The files that are made first.
    pub prepare: Vec<TestFile>,
    /// Room that the probes need for what they write, beside `prepare`.
    pub written_bytes: u64,
    /// What is already known beside the cells, such as the version of a runtime.
    pub facts: Vec<LabFact>,
}

impl ExperimentPlan {
    /// A plan without a cell.
    pub fn new(experiment: &'static str, size: LabSize, rounds: Rounds) -> Self {
        Self {
            experiment,
            size,
            rounds,
            cells: Vec::new(),
            skipped: Vec::new(),
            prepare: Vec::new(),
            written_bytes: 0,
            facts: Vec::new(),
        }
    }

    /// Leaves something out.
    pub fn skip(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.skipped.push(LabSkipped::new(what, why));
    }

    /// Measures a cell twice: what differs between the two is noise.
    pub fn add_twin(&mut self, is_typical: impl Fn(&CellPlan) -> bool) {
        self.cells.extend(self.cells.iter().find(|cell| is_typical(cell)).map(CellPlan::twin));
    }

    /// Room that it needs in the scratch directory.
    pub fn needs_bytes(&self) -> u64 {
        self.prepare.iter().map(TestFile::bytes).sum::<u64>() + self.written_bytes
    }

    /// The same without cells that begin cold: nothing can be evicted where files are nowhere but in memory, and such cells
    /// would only ever be marked.
    pub fn without_cold(mut self, filesystem: &str) -> Self {
        const WHAT: &str = "state cold";
        let all = self.cells.len();
        self.cells.retain(|cell| !cell.state.is_cold());
        if self.cells.len() < all && !self.skipped.iter().any(|skipped| skipped.what == WHAT) {
            let why = format!("files on {filesystem} are only in memory and cannot be evicted");
            // It is why the most is missing.
            self.skipped.insert(0, LabSkipped::new(WHAT, why));
        }
        self
    }
}
