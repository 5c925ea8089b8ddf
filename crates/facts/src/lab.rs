//! One experiment of `hotset lab`: its cells, and every sample of each.

use std::time::SystemTime;

use crate::{Environment, Observed, StateReached, WantedState};

/// The factor that only the second of two equal cells has (A/A). The ratio of the two is the noise floor; tables, charts and
/// answers leave cells with it out.
pub const TWIN: &str = "twin";

/// The value of a factor.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// A whole number, such as a size in bytes.
    Number(u64),
    /// A name, such as that of a method.
    Name(String),
}

/// What is varied: `("method", Name("pread"))`. Names are in `docs/experiments.md`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Factor {
    /// Its name, in snake_case; sizes end in `_bytes`.
    pub name: &'static str,
    /// Its value in a cell.
    pub level: Level,
}

/// What the samples of a cell are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LabUnit {
    /// Nanoseconds an operation: the timed loop divided by its operations.
    NanosecondsPerOperation,
    /// Nanoseconds for the whole of what the factors describe.
    Nanoseconds,
}

impl LabUnit {
    /// The word that every view uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NanosecondsPerOperation => "ns/op",
            Self::Nanoseconds => "ns",
        }
    }
}

/// How the pages of a cached file came into the cache, which decides the size of their folios.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FilledBy {
    /// Large folios: `hotset warm`'s way, or sequential reads.
    LargeFolios,
    /// Folios of one page: random reads of 4 KiB.
    SmallFolios,
    /// The program itself wrote them.
    Written,
    /// They were not there.
    Nothing,
}

impl FilledBy {
    /// The word that every view uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LargeFolios => "large folios",
            Self::SmallFolios => "small folios",
            Self::Written => "written",
            Self::Nothing => "nothing",
        }
    }
}

/// Why a sample does not count. The state before and after a run proves nothing about what happened in between, so
/// what was read during it decides too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabDoubt {
    /// A word for scripts: `state-not-reached`, `device-reads-while-warm`, `major-faults-while-warm`,
    /// `too-few-device-bytes`, `wrong-count`, `cpu-taken`, `slow-pages`, `failed`, `calls-not-confirmed`.
    pub code: &'static str,
    /// A sentence with the numbers.
    pub text: String,
    /// The sample is marked and not averaged in.
    pub invalidates: bool,
}

/// One measurement of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabSample {
    /// Which round, from 0. Cells are paired by it.
    pub round: u32,
    /// Wall time of the timed part in nanoseconds. Nothing is subtracted.
    pub wall_ns: u64,
    /// Operations in it.
    pub operations: u64,
    /// User and system CPU time of the timed part, in nanoseconds.
    pub cpu_ns: Observed<u64>,
    /// Bytes that the program says it moved.
    pub bytes: u64,
    /// Calls that moved or tried to move data or looked for files, by who counted them (`syscalls_by`).
    pub syscalls: Observed<u64>,
    /// What was cached of the files right before.
    pub reached_before: Observed<StateReached>,
    /// Bytes read from the device for it, in its own context.
    pub device_read_bytes: Observed<u64>,
    /// Bytes written to the device by it or for it, as far as they were submitted before it ended.
    pub device_write_bytes: Observed<u64>,
    /// Faults that had to read.
    pub major_faults: Observed<u64>,
    /// Faults that did not; with warm mappings their count tells large from small folios.
    pub minor_faults: Observed<u64>,
    /// What makes it doubtful.
    pub doubts: Vec<LabDoubt>,
}

impl LabSample {
    /// Whether it is averaged in.
    pub fn is_valid(&self) -> bool {
        !self.doubts.iter().any(|doubt| doubt.invalidates)
    }
}

/// A combination of factors, measured once a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabCell {
    /// Unique in its experiment, made of its factors: `access/pread/random/1000/warm`.
    pub id: String,
    /// What makes it this cell.
    pub factors: Vec<Factor>,
    /// What its samples are about.
    pub unit: LabUnit,
    /// The state that each sample should start in.
    pub state_wanted: WantedState,
    /// How the cache was filled.
    pub filled_by: FilledBy,
    /// Who counted its calls: `sensor`, `trace`, `kernel` (/proc/PID/io around each timed part), `probe`; `none` where nobody did.
    pub syscalls_by: &'static str,
    /// Every sample, in order of time, the invalid ones too.
    pub samples: Vec<LabSample>,
}

impl LabCell {
    /// True for the second of two equal cells.
    pub fn is_twin(&self) -> bool {
        self.level(TWIN).is_some()
    }

    /// The level of a factor.
    pub fn level(&self, name: &str) -> Option<&Level> {
        self.factors.iter().find(|factor| factor.name == name).map(|factor| &factor.level)
    }

    /// The level of a factor that is a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.level(name)? {
            Level::Number(number) => Some(*number),
            Level::Name(_) => None,
        }
    }

    /// The level of a factor that is a name.
    pub fn name(&self, name: &str) -> Option<&str> {
        match self.level(name)? {
            Level::Name(name) => Some(name),
            Level::Number(_) => None,
        }
    }
}

/// Something that was not measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabSkipped {
    /// What: `ruby`, `method io_uring_32`, `O_DIRECT on tmpfs`.
    pub what: String,
    /// Why, and how to get it.
    pub why: String,
}

/// What the host was like while an experiment ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabConditions {
    /// The directory that held the files, with its file system and device in [`LabSession::environment`].
    pub directory: String,
    /// The file system's type there.
    pub filesystem: String,
    /// Read-ahead of the device there, in KiB.
    pub read_ahead_kb: Observed<u64>,
    /// 1-minute load average at the start and at the end, times 100.
    pub load_hundredths: (Observed<u64>, Observed<u64>),
    /// Share of the time, in thousandths, in which some task waited for a CPU (PSI).
    pub cpu_pressure_permille: Observed<u64>,
    /// Pages of idle files that vanished while they were watched: something evicts cache here.
    pub evicted_while_idle_pages: Observed<u64>,
    /// What an empty timed loop costs, in picoseconds an operation: the harness's own cost, which is not subtracted.
    pub null_engine_ps: Observed<u64>,
    /// What a pair of clock readings costs, in nanoseconds.
    pub clock_ns: Observed<u64>,
}

/// One experiment, run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabSession {
    /// The version of hotset.
    pub version: String,
    /// Its name, which is also what is typed: `reread`.
    pub experiment: String,
    /// When it began.
    pub started_at: SystemTime,
    /// How long it took, in nanoseconds.
    pub took_ns: u64,
    /// The host that it was measured on.
    pub environment: Environment,
    /// What the host was like.
    pub conditions: LabConditions,
    /// `quick`, `default` or `full`.
    pub size: &'static str,
    /// The seed of the order within rounds.
    pub seed: u64,
    /// Rounds that were run.
    pub rounds: u32,
    /// It was interrupted: fewer rounds than planned.
    pub interrupted: bool,
    /// What was measured.
    pub cells: Vec<LabCell>,
    /// What was not.
    pub skipped: Vec<LabSkipped>,
    /// What the experiment found beside its cells, as names and values: `ruby 3.1.2`, `files loaded 35`.
    pub facts: Vec<(String, String)>,
}
