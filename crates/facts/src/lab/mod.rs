//! One experiment of `hotset lab`: its cells, and every sample of each.

mod baseline;
mod sample;
mod session;

use std::borrow::Cow;

pub use baseline::{LabBaseline, LabBaselineCell, LabBaselineSample, LabBaselineSession};
use sample::Runs;
pub use sample::{DoubtCode, LabDoubt, LabSample};
pub use session::{FactValue, LabConditions, LabFact, LabSession, LabSize, LabSkipped};

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::WantedState;

/// The factor that only the second of two equal cells has (A/A). The ratio of the two is the noise floor; tables, charts and
/// answers leave cells with it out.
pub const TWIN: &str = "twin";

/// The value of a factor in a cell.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a whole number or a text")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

crate::words! {
    /// What the samples of a cell are measured in.
    pub enum LabUnit {
        /// Nanoseconds an operation: the timed loop divided by its operations.
        NanosecondsPerOperation = "ns/op",
        /// Nanoseconds for the whole of what the factors describe.
        Nanoseconds = "ns",
    }
}

crate::words! {
    /// How the pages of a cached file came into the cache, which decides the size of their folios.
    pub enum FilledBy {
        /// Large folios: `hotset warm`'s way, or sequential reads.
        LargeFolios = "large folios",
        /// Folios of one page: random reads of 4 KiB.
        SmallFolios = "small folios",
        /// The program itself wrote them.
        Written = "written",
        /// They were not there.
        Nothing = "nothing",
    }
}

crate::words! {
    /// Who counted the calls of a cell.
    pub enum CountedBy {
        /// The sensor, in a run apart.
        Sensor = "sensor",
        /// The kernel: /proc/PID/io around each timed part.
        Kernel = "kernel",
        /// The probe itself.
        Probe = "probe",
        /// They were not counted.
        Nobody = "none",
    }
}

/// Factors as they are written: names and levels, in the order that the id has them.
struct Factors;

impl Factors {
    #[allow(clippy::ptr_arg, reason = "serde hands it a reference to the field")]
    fn serialize<S: Serializer>(factors: &Vec<Factor>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(factors.iter().map(|factor| (&factor.name, &factor.level)))
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Factor>, D::Error> {
        from.deserialize_map(Self)
    }
}

impl<'de> Visitor<'de> for Factors {
    type Value = Vec<Factor>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names and levels")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Factor>, A::Error> {
        let mut factors = Vec::new();
        while let Some((name, level)) = map.next_entry()? {
            factors.push(Factor { name: Cow::Owned(name), level });
        }
        Ok(factors)
    }
}

/// True where the first factors are those of a twin of the second.
fn is_twin_of(twin: &[Factor], one: &[Factor]) -> bool {
    let is_twin = |factors: &[Factor]| factors.iter().any(|factor| factor.name == TWIN);
    let own = twin.iter().filter(|factor| factor.name != TWIN);
    is_twin(twin) && !is_twin(one) && own.eq(one)
}

/// A combination of factors, measured once a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabCell {
    /// Unique in its experiment, made of its factors: `access/pread/random/1000/warm`.
    pub id: String,
    /// What was varied, by name: what tells this cell from the others.
    #[serde(with = "Factors")]
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, Level>"))]
    pub factors: Vec<Factor>,
    /// What a sample is measured in.
    pub unit: LabUnit,
    /// The state that each sample should start in.
    pub state_wanted: WantedState,
    /// How the cache was filled.
    pub filled_by: FilledBy,
    /// Who counted its calls.
    pub syscalls_by: CountedBy,
    /// Every sample, in order of time, the invalid ones too.
    #[serde(rename = "runs", with = "Runs")]
    pub samples: Vec<LabSample>,
}

impl LabCell {
    /// True for the second of two equal cells.
    pub fn is_twin(&self) -> bool {
        self.level(TWIN).is_some()
    }

    /// True for the first of two equal cells, if this is the second.
    pub fn is_twin_of(&self, one: &Self) -> bool {
        is_twin_of(&self.factors, &one.factors)
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
