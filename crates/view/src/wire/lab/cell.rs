//! A cell with its samples, and in numbers.

use std::borrow::Cow;

use hotset_analysis::lab::{CellNumbers, value_of};
use hotset_facts::{
    CountedBy, DoubtCode, Factor, FilledBy, LabCell, LabDoubt, LabSample, LabUnit, Observed,
    StateReached, WantedState,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::session::NumberOrText;
use crate::wire::adapt::{List, Wire as _, converted, remote};
use crate::wire::bench::run::{State, StateReachedDef};
use crate::wire::observed::Null;

/// A combination of factors, measured once a round.
#[derive(Serialize, Deserialize)]
#[serde(remote = "LabCell")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct CellDef {
    /// Unique in the experiment, made of its factors.
    id: String,
    /// What makes it this cell; names ending in `_bytes` are sizes.
    #[serde(with = "Factors")]
    factors: Vec<Factor>,
    /// Of `samples`, `median`, `low`, `high`, `mean`, `median_of_all` and `cpu`.
    #[serde(with = "UnitDef")]
    unit: LabUnit,
    /// The state that each sample should start in.
    #[serde(with = "State")]
    state_wanted: WantedState,
    /// How the cache was filled.
    #[serde(with = "FilledDef")]
    filled_by: FilledBy,
    /// Who counted its calls.
    #[serde(with = "CountedDef")]
    syscalls_by: CountedBy,
    /// A value a sample, in order of time, those that don't count too.
    #[serde(with = "Runs", rename = "runs")]
    samples: Vec<LabSample>,
}

/// The cell and what follows from it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct CellKeys<'a> {
    #[serde(flatten, with = "CellDef")]
    cell: &'a LabCell,
    /// Every sample in the cell's unit; null where no operation was made.
    samples: Vec<Option<f64>>,
    /// Over the rounds with samples that count; null where there is none.
    median: Option<f64>,
    /// The lower end of the exact 95 % interval of the median; null below six rounds.
    low: Option<f64>,
    /// Its upper end.
    high: Option<f64>,
    /// Of the samples that count.
    mean: Option<f64>,
    /// Over all samples, those that don't count too.
    median_of_all: Option<f64>,
    /// The smallest and the largest share of the pages that was cached right before a sample that counts.
    reached_before: Option<Share>,
    /// Read from the device in a sample; this and what follows is the median of the samples that count.
    device_bytes: Option<f64>,
    /// Written to the device in a sample.
    device_write_bytes: Option<f64>,
    /// Faults that had to read.
    major_faults: Option<f64>,
    /// Faults that did not.
    minor_faults: Option<f64>,
    /// Calls in a sample.
    syscalls: Option<f64>,
    /// CPU time.
    cpu: Option<f64>,
    /// Some sample counts.
    valid: bool,
    /// Samples that count.
    counted: usize,
    /// What makes samples doubtful.
    reasons: Vec<&'static str>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Share {
    low: f64,
    high: f64,
}

impl<'a> CellKeys<'a> {
    pub(super) fn of(cell: &'a LabCell, numbers: &CellNumbers) -> Self {
        Self {
            cell,
            samples: cell.samples.iter().map(|sample| value_of(cell.unit, sample)).collect(),
            median: numbers.median,
            low: numbers.low,
            high: numbers.high,
            mean: numbers.spread.map(|spread| spread.mean),
            median_of_all: numbers.median_of_all,
            reached_before: numbers.cached_before.map(|(low, high)| Share { low, high }),
            device_bytes: numbers.device_read_bytes,
            device_write_bytes: numbers.device_write_bytes,
            major_faults: numbers.major_faults,
            minor_faults: numbers.minor_faults,
            syscalls: numbers.syscalls,
            cpu: numbers.cpu_ns,
            valid: numbers.median.is_some(),
            counted: numbers.valid,
            reasons: numbers.reasons.iter().map(|reason| reason.code.as_str()).collect(),
        }
    }
}

/// Names and levels, in the order that the id has them.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Factors(
    #[cfg_attr(test, schemars(with = "std::collections::BTreeMap<String, NumberOrText>"))]
    Map<String, Value>,
);

impl From<Vec<Factor>> for Factors {
    fn from(factors: Vec<Factor>) -> Self {
        let entry = |Factor { name, level }| {
            let level = serde_json::to_value(NumberOrText::from(level));
            (Cow::into_owned(name), level.unwrap_or_default())
        };
        Self(factors.into_iter().map(entry).collect())
    }
}

impl TryFrom<Factors> for Vec<Factor> {
    type Error = String;

    fn try_from(Factors(read): Factors) -> Result<Self, String> {
        let factor = |(name, value): (String, Value)| {
            let level: Result<NumberOrText, _> = serde_json::from_value(value);
            let level = level.map_err(|error| format!("{name}: {error}"))?.into();
            Ok(Factor { name: name.into(), level })
        };
        read.into_iter().map(factor).collect()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LabUnit")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum UnitDef {
    #[serde(rename = "ns")]
    Nanoseconds,
    #[serde(rename = "ns/op")]
    NanosecondsPerOperation,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "FilledBy")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum FilledDef {
    #[serde(rename = "large folios")]
    LargeFolios,
    #[serde(rename = "small folios")]
    SmallFolios,
    #[serde(rename = "written")]
    Written,
    #[serde(rename = "nothing")]
    Nothing,
}

/// The sensor in a run apart, the kernel by /proc/PID/io around each timed part, the probe itself, or none.
#[derive(Serialize, Deserialize)]
#[serde(remote = "CountedBy", rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum CountedDef {
    Sensor,
    Kernel,
    Probe,
    #[serde(rename = "none")]
    Nobody,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LabDoubt")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct DoubtDef {
    #[serde(with = "CodeDef")]
    code: DoubtCode,
    /// A sentence with the numbers.
    text: String,
    /// The sample is marked and not averaged in.
    invalidates: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "DoubtCode", rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum CodeDef {
    CallsNotConfirmed,
    CpuTaken,
    DeviceReadsWhileWarm,
    Failed,
    MajorFaultsWhileWarm,
    SlowPages,
    StateNotReached,
    TooFewDeviceBytes,
    WrongCount,
}

/// A list for each field of a sample: the compiler compares the names, and a list of another length is refused.
macro_rules! runs {
    ($($(#[$meta:meta])* $name:ident: $type:ty,)*) => {
        #[derive(Serialize, Deserialize, Default)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        struct Runs {
            /// Whether it counts.
            #[serde(skip_deserializing)]
            valid: Vec<bool>,
            $($(#[$meta])* $name: Vec<$type>,)*
        }

        impl From<Vec<LabSample>> for Runs {
            fn from(samples: Vec<LabSample>) -> Self {
                let mut runs = Self::default();
                for sample in samples {
                    runs.valid.push(sample.is_valid());
                    let LabSample { $($name),* } = sample;
                    $(runs.$name.push($name);)*
                }
                runs
            }
        }

        impl TryFrom<Runs> for Vec<LabSample> {
            type Error = String;

            fn try_from(runs: Runs) -> Result<Self, String> {
                let expected = runs.round.len();
                for (key, found) in [$((stringify!($name), runs.$name.len())),*] {
                    if found != expected {
                        let right = format!("expected {expected}, one for each of round");
                        return Err(format!("{key} has {found} entries; {right}"));
                    }
                }
                $(let mut $name = runs.$name.into_iter();)*
                let sample = |_| Some(LabSample { $($name: $name.next()?),* });
                Ok((0..expected).filter_map(sample).collect())
            }
        }
    };
}

runs! {
    /// From 0. Cells are paired by it.
    round: u32,
    /// Of the timed part. Nothing is subtracted.
    wall_ns: u64,
    /// Operations in it.
    operations: u64,
    /// User and system time of the timed part.
    #[serde(with = "List::<Null::<u64>>")]
    cpu_ns: Observed<u64>,
    /// Bytes that the program says it moved.
    bytes: u64,
    /// Calls that moved or tried to move data or looked for files.
    #[serde(with = "List::<Null::<u64>>")]
    syscalls: Observed<u64>,
    /// What was cached of the files right before.
    #[serde(with = "List::<Null::<StateReachedDef>>")]
    reached_before: Observed<StateReached>,
    /// Bytes read from the device for it, in its own context.
    #[serde(with = "List::<Null::<u64>>")]
    device_read_bytes: Observed<u64>,
    /// Bytes written to the device by it or for it, as far as they were submitted before it ended.
    #[serde(with = "List::<Null::<u64>>")]
    device_write_bytes: Observed<u64>,
    /// Faults that had to read.
    #[serde(with = "List::<Null::<u64>>")]
    major_faults: Observed<u64>,
    /// Faults that did not.
    #[serde(with = "List::<Null::<u64>>")]
    minor_faults: Observed<u64>,
    /// What makes it doubtful.
    #[serde(with = "List::<List::<DoubtDef>>")]
    doubts: Vec<LabDoubt>,
}

remote!(CellDef => LabCell, DoubtDef => LabDoubt);
converted!(Factors => Vec<Factor>, Runs => Vec<LabSample>);
