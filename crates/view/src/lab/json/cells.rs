//! A cell with its samples, written and read.

use hotset_analysis::lab::{CellNumbers, value_of};
use hotset_facts::{
    Factor, FilledBy, LabCell, LabDoubt, LabSample, LabUnit, Level, Observed, StateReached,
    WantedState,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::missing::{Missing, MissingV1, Reasons};
use crate::results::ReadError;
use crate::wire::intern;

/// A cell. What is derived is written and not read.
#[derive(Serialize, Deserialize)]
pub(super) struct CellV1 {
    id: String,
    factors: Map<String, Value>,
    unit: String,
    #[serde(skip_deserializing)]
    samples: Vec<Option<f64>>,
    #[serde(skip_deserializing)]
    median: Option<f64>,
    #[serde(skip_deserializing)]
    low: Option<f64>,
    #[serde(skip_deserializing)]
    high: Option<f64>,
    #[serde(skip_deserializing)]
    mean: Option<f64>,
    #[serde(skip_deserializing)]
    median_of_all: Option<f64>,
    state_wanted: String,
    filled_by: String,
    #[serde(skip_deserializing)]
    reached_before: Option<ShareV1>,
    #[serde(skip_deserializing)]
    device_bytes: Option<f64>,
    #[serde(skip_deserializing)]
    device_write_bytes: Option<f64>,
    #[serde(skip_deserializing)]
    major_faults: Option<f64>,
    #[serde(skip_deserializing)]
    minor_faults: Option<f64>,
    #[serde(skip_deserializing)]
    syscalls: Option<f64>,
    syscalls_by: String,
    #[serde(skip_deserializing)]
    cpu: Option<f64>,
    #[serde(skip_deserializing)]
    valid: bool,
    #[serde(skip_deserializing)]
    counted: usize,
    #[serde(skip_deserializing)]
    reasons: Vec<&'static str>,
    runs: RunsV1,
}

#[derive(Serialize)]
struct ShareV1 {
    low: f64,
    high: f64,
}

#[derive(Serialize, Deserialize, PartialEq)]
struct DoubtV1 {
    code: String,
    text: String,
    invalidates: bool,
}

/// A value a sample, in the order of `samples`.
#[derive(Serialize, Deserialize, Default)]
struct RunsV1 {
    #[serde(skip_deserializing)]
    valid: Vec<bool>,
    round: Vec<u32>,
    wall_ns: Vec<u64>,
    operations: Vec<u64>,
    cpu_ns: Vec<Option<u64>>,
    bytes: Vec<u64>,
    syscalls: Vec<Option<u64>>,
    pages_before: Vec<Option<u64>>,
    cached_pages_before: Vec<Option<u64>>,
    stuck_pages_before: Vec<Option<u64>>,
    unknown_files_before: Vec<Option<u64>>,
    device_read_bytes: Vec<Option<u64>>,
    device_write_bytes: Vec<Option<u64>>,
    major_faults: Vec<Option<u64>>,
    minor_faults: Vec<Option<u64>>,
    doubts: Vec<Vec<DoubtV1>>,
    missing: Vec<MissingV1>,
}

impl CellV1 {
    pub(super) fn of(cell: &LabCell, numbers: &CellNumbers) -> Self {
        let factor = |factor: &Factor| {
            let level = match &factor.level {
                Level::Number(number) => Value::from(*number),
                Level::Name(name) => Value::from(name.as_str()),
            };
            (factor.name.to_owned(), level)
        };
        Self {
            id: cell.id.clone(),
            factors: cell.factors.iter().map(factor).collect(),
            unit: cell.unit.as_str().to_owned(),
            samples: cell.samples.iter().map(|sample| value_of(cell.unit, sample)).collect(),
            median: numbers.median,
            low: numbers.low,
            high: numbers.high,
            mean: numbers.spread.map(|spread| spread.mean),
            median_of_all: numbers.median_of_all,
            state_wanted: cell.state_wanted.to_string(),
            filled_by: cell.filled_by.as_str().to_owned(),
            reached_before: numbers.cached_before.map(|(low, high)| ShareV1 { low, high }),
            device_bytes: numbers.device_read_bytes,
            device_write_bytes: numbers.device_write_bytes,
            major_faults: numbers.major_faults,
            minor_faults: numbers.minor_faults,
            syscalls: numbers.syscalls,
            syscalls_by: cell.syscalls_by.to_owned(),
            cpu: numbers.cpu_ns,
            valid: numbers.median.is_some(),
            counted: numbers.valid,
            reasons: numbers.reasons.iter().map(|reason| reason.code).collect(),
            runs: RunsV1::of(&cell.samples),
        }
    }

    /// The cell as it was; `place` is `cells[3]`.
    pub(super) fn read(self, place: &str) -> Result<LabCell, ReadError> {
        let wrong = |key: &str, found: &str, expected: &str| {
            ReadError::at(format!("{place}.{key}"), format!("\"{found}\"; expected {expected}"))
        };
        let mut factors = Vec::new();
        for (name, value) in self.factors {
            let level = match (value.as_u64(), value.as_str()) {
                (Some(number), _) => Level::Number(number),
                (None, Some(name)) => Level::Name(name.to_owned()),
                (None, None) => {
                    let found = value.to_string();
                    let expected = "a whole number or a name";
                    return Err(wrong(&format!("factors.{name}"), &found, expected));
                }
            };
            factors.push(Factor { name: intern(&name), level });
        }
        let units = [LabUnit::Nanoseconds, LabUnit::NanosecondsPerOperation];
        let unit = units.into_iter().find(|unit| unit.as_str() == self.unit);
        let unit = unit.ok_or_else(|| wrong("unit", &self.unit, "ns or ns/op"))?;
        let state_wanted = WantedState::from_name(&self.state_wanted).ok_or_else(|| {
            let expected = "as-is, cold, cold-all, warm, or a percentage from 1% to 99%";
            wrong("state_wanted", &self.state_wanted, expected)
        })?;
        let filled =
            [FilledBy::LargeFolios, FilledBy::SmallFolios, FilledBy::Written, FilledBy::Nothing];
        let filled_by = filled.into_iter().find(|filled| filled.as_str() == self.filled_by);
        let filled_by = filled_by.ok_or_else(|| {
            let expected = "large folios, small folios, written or nothing";
            wrong("filled_by", &self.filled_by, expected)
        })?;
        Ok(LabCell {
            id: self.id,
            factors,
            unit,
            state_wanted,
            filled_by,
            syscalls_by: intern(&self.syscalls_by),
            samples: self.runs.read(&format!("{place}.runs."))?,
        })
    }
}

impl RunsV1 {
    fn of(samples: &[LabSample]) -> Self {
        let mut missing = Missing::default();
        let mut seen = |key: &str, of: &dyn Fn(&LabSample) -> Observed<u64>| {
            missing.list(key, samples.iter().map(of).collect())
        };
        let doubt = |doubt: &LabDoubt| DoubtV1 {
            code: doubt.code.to_owned(),
            text: doubt.text.clone(),
            invalidates: doubt.invalidates,
        };
        Self {
            valid: samples.iter().map(LabSample::is_valid).collect(),
            round: samples.iter().map(|sample| sample.round).collect(),
            wall_ns: samples.iter().map(|sample| sample.wall_ns).collect(),
            operations: samples.iter().map(|sample| sample.operations).collect(),
            cpu_ns: seen("cpu_ns", &|sample| sample.cpu_ns),
            bytes: samples.iter().map(|sample| sample.bytes).collect(),
            syscalls: seen("syscalls", &|sample| sample.syscalls),
            pages_before: seen("pages_before", &|one| one.reached_before.map(|it| it.pages)),
            cached_pages_before: before(samples, |reached| reached.cached_pages),
            stuck_pages_before: before(samples, |reached| reached.stuck_pages),
            unknown_files_before: before(samples, |reached| reached.unknown_files),
            device_read_bytes: seen("device_read_bytes", &|sample| sample.device_read_bytes),
            device_write_bytes: seen("device_write_bytes", &|sample| sample.device_write_bytes),
            major_faults: seen("major_faults", &|sample| sample.major_faults),
            minor_faults: seen("minor_faults", &|sample| sample.minor_faults),
            doubts: samples.iter().map(|one| one.doubts.iter().map(doubt).collect()).collect(),
            missing: missing.0,
        }
    }

    fn read(self, place: &str) -> Result<Vec<LabSample>, ReadError> {
        self.check_lengths(place)?;
        let reasons = Reasons { place: place.to_owned(), missing: &self.missing };
        let entry = |key: &str, list: &[Option<u64>], at: usize| {
            reasons.entry(key, Some(at), list.get(at).copied().flatten())
        };
        let doubt = |doubt: &DoubtV1| LabDoubt {
            code: intern(&doubt.code),
            text: doubt.text.clone(),
            invalidates: doubt.invalidates,
        };
        let mut samples = Vec::with_capacity(self.round.len());
        for (at, &round) in self.round.iter().enumerate() {
            let known = |list: &[Option<u64>]| list.get(at).copied().flatten().unwrap_or(0);
            let reached = |pages| StateReached {
                pages,
                cached_pages: known(&self.cached_pages_before),
                stuck_pages: known(&self.stuck_pages_before),
                unknown_files: known(&self.unknown_files_before),
            };
            let whole = |list: &[u64]| list.get(at).copied().unwrap_or(0);
            let doubts = self.doubts.get(at).map_or(&[][..], Vec::as_slice);
            samples.push(LabSample {
                round,
                wall_ns: whole(&self.wall_ns),
                operations: whole(&self.operations),
                cpu_ns: entry("cpu_ns", &self.cpu_ns, at)?,
                bytes: whole(&self.bytes),
                syscalls: entry("syscalls", &self.syscalls, at)?,
                reached_before: entry("pages_before", &self.pages_before, at)?.map(reached),
                device_read_bytes: entry("device_read_bytes", &self.device_read_bytes, at)?,
                device_write_bytes: entry("device_write_bytes", &self.device_write_bytes, at)?,
                major_faults: entry("major_faults", &self.major_faults, at)?,
                minor_faults: entry("minor_faults", &self.minor_faults, at)?,
                doubts: doubts.iter().map(doubt).collect(),
            });
        }
        Ok(samples)
    }

    /// A list that is shorter than another would make up samples.
    fn check_lengths(&self, place: &str) -> Result<(), ReadError> {
        let expected = self.round.len();
        let lists = [
            ("wall_ns", self.wall_ns.len()),
            ("operations", self.operations.len()),
            ("cpu_ns", self.cpu_ns.len()),
            ("bytes", self.bytes.len()),
            ("syscalls", self.syscalls.len()),
            ("pages_before", self.pages_before.len()),
            ("cached_pages_before", self.cached_pages_before.len()),
            ("stuck_pages_before", self.stuck_pages_before.len()),
            ("unknown_files_before", self.unknown_files_before.len()),
            ("device_read_bytes", self.device_read_bytes.len()),
            ("device_write_bytes", self.device_write_bytes.len()),
            ("major_faults", self.major_faults.len()),
            ("minor_faults", self.minor_faults.len()),
            ("doubts", self.doubts.len()),
        ];
        match lists.into_iter().find(|(_, length)| *length != expected) {
            None => Ok(()),
            Some((key, length)) => Err(ReadError::at(
                format!("{place}{key}"),
                format!("{length} entries; expected {expected}, one for each of round"),
            )),
        }
    }
}

/// What was reached is known as a whole or not at all: the reason stands once, at `pages_before`.
fn before(samples: &[LabSample], of: fn(StateReached) -> u64) -> Vec<Option<u64>> {
    samples.iter().map(|sample| sample.reached_before.value().map(of)).collect()
}
