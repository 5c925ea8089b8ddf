//! One experiment of `hotset lab`: its cells, and every sample of each.

mod sample;
mod session;

use std::borrow::Cow;

pub use sample::{DoubtCode, LabDoubt, LabSample};
pub use session::{FactValue, LabConditions, LabFact, LabSession, LabSize, LabSkipped};

use crate::WantedState;

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
    pub name: Cow<'static, str>,
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

/// Who counted the calls of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CountedBy {
    /// The sensor, in a run apart.
    Sensor,
    /// The kernel: /proc/PID/io around each timed part.
    Kernel,
    /// The probe itself.
    Probe,
    /// They were not counted.
    Nobody,
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
    /// Who counted its calls.
    pub syscalls_by: CountedBy,
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
