//! A cell in numbers.

use std::collections::BTreeMap;

use hotset_facts::{DoubtCode, LabCell, LabSample, LabUnit, Observed, StateReached};

use crate::bench::{Spread, median, median_interval, sorted};

/// Why samples of a cell are doubtful.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabReason {
    /// The word for scripts.
    pub code: DoubtCode,
    /// How many samples have it.
    pub samples: usize,
    /// They don't count for it.
    pub invalidates: bool,
    /// How many of those that don't count for it don't count for another reason either.
    pub for_others_too: usize,
    /// The first one's sentence.
    pub example: String,
}

/// A cell in numbers. Times are in nanoseconds, in the cell's own unit: for the whole or for an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct CellNumbers {
    /// The median over rounds; none where no sample counts. A round with several samples stands for their median,
    /// because samples of one process aren't independent.
    pub median: Option<f64>,
    /// The lower end of the exact 95 % interval of that median; none below [`crate::bench::MIN_ROUNDS`] rounds.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// Mean, minimum and quartiles over the samples that count.
    pub spread: Option<Spread>,
    /// The median over rounds of all samples, those that don't count too.
    pub median_of_all: Option<f64>,
    /// Rounds with a sample that counts.
    pub rounds: usize,
    /// Samples that count.
    pub valid: usize,
    /// Samples that don't.
    pub invalid: usize,
    /// What makes samples doubtful, in order of the codes.
    pub reasons: Vec<LabReason>,
    /// The median CPU time, in the cell's unit, of the samples that count and where it is known. So are all below.
    pub cpu_ns: Option<f64>,
    /// Calls in a sample.
    pub syscalls: Option<f64>,
    /// Bytes that a sample moved, as the program says.
    pub bytes: Option<f64>,
    /// Bytes that the program moved in a second: the median over rounds.
    pub bytes_per_second: Option<f64>,
    /// Bytes read from the device in a sample.
    pub device_read_bytes: Option<f64>,
    /// Bytes written to the device in a sample.
    pub device_write_bytes: Option<f64>,
    /// Faults that had to read, in a sample.
    pub major_faults: Option<f64>,
    /// Faults that did not.
    pub minor_faults: Option<f64>,
    /// The smallest and the largest share of the files' pages that was cached right before a sample that counts, 0 to
    /// 1; none where it isn't known or there are no pages.
    pub cached_before: Option<(f64, f64)>,
}

/// A sample in its cell's unit: nanoseconds for the whole, or for an operation. None for an operation where none was made.
pub fn value_of(unit: LabUnit, sample: &LabSample) -> Option<f64> {
    per(unit, sample.operations, sample.wall_ns)
}

/// A time of so many operations in a unit.
pub(super) fn per(unit: LabUnit, operations: u64, ns: u64) -> Option<f64> {
    match unit {
        LabUnit::Nanoseconds => Some(ns as f64),
        LabUnit::NanosecondsPerOperation if operations == 0 => None,
        LabUnit::NanosecondsPerOperation => Some(ns as f64 / operations as f64),
    }
}

/// The value of each round: the median of its samples.
pub(super) fn by_round<'a>(
    unit: LabUnit,
    samples: impl Iterator<Item = &'a LabSample>,
) -> BTreeMap<u32, f64> {
    of_rounds(samples.filter_map(|sample| Some((sample.round, value_of(unit, sample)?))))
}

/// The median of the values of each round.
pub(super) fn of_rounds(values: impl Iterator<Item = (u32, f64)>) -> BTreeMap<u32, f64> {
    let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (round, value) in values {
        rounds.entry(round).or_default().push(value);
    }
    rounds.into_iter().filter_map(|(round, values)| Some((round, median(values)?))).collect()
}

impl CellNumbers {
    pub(super) fn of(cell: &LabCell) -> Self {
        let counted = || cell.samples.iter().filter(|sample| sample.is_valid());
        let rounds = by_round(cell.unit, counted());
        let ordered = sorted(rounds.values().copied());
        let interval = median_interval(&ordered);
        let seen = |of: fn(&LabSample) -> Observed<u64>| {
            median(counted().filter_map(|sample| Some(of(sample).value()? as f64)))
        };
        let cpu = |sample: &LabSample| per(cell.unit, sample.operations, sample.cpu_ns.value()?);
        let speed = |sample: &LabSample| {
            let moved = sample.wall_ns > 0 && sample.bytes > 0;
            moved.then(|| (sample.round, sample.bytes as f64 / (sample.wall_ns as f64 / 1e9)))
        };
        let valid = counted().count();
        Self {
            median: median(ordered),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            spread: Spread::of(counted().filter_map(|sample| value_of(cell.unit, sample))),
            median_of_all: median(by_round(cell.unit, cell.samples.iter()).into_values()),
            rounds: rounds.len(),
            valid,
            invalid: cell.samples.len() - valid,
            reasons: reasons(&cell.samples),
            cpu_ns: median(counted().filter_map(cpu)),
            syscalls: seen(|sample| sample.syscalls),
            bytes: median(counted().map(|sample| sample.bytes as f64)),
            bytes_per_second: median(of_rounds(counted().filter_map(speed)).into_values()),
            device_read_bytes: seen(|sample| sample.device_read_bytes),
            device_write_bytes: seen(|sample| sample.device_write_bytes),
            major_faults: seen(|sample| sample.major_faults),
            minor_faults: seen(|sample| sample.minor_faults),
            cached_before: ends(counted().filter_map(|sample| share(sample.reached_before))),
        }
    }
}

fn reasons(samples: &[LabSample]) -> Vec<LabReason> {
    let mut found: BTreeMap<(DoubtCode, bool), LabReason> = BTreeMap::new();
    for sample in samples {
        // A sample may have several doubts of a kind, and is one sample.
        let own: BTreeMap<(DoubtCode, bool), &str> =
            sample.doubts.iter().rev().map(|it| ((it.code, it.invalidates), &*it.text)).collect();
        let causes = own.keys().filter(|(_, invalidates)| *invalidates).count();
        for ((code, invalidates), text) in own {
            let reason = found.entry((code, invalidates)).or_insert_with(|| LabReason {
                code,
                samples: 0,
                invalidates,
                for_others_too: 0,
                example: text.to_owned(),
            });
            reason.samples += 1;
            reason.for_others_too += usize::from(invalidates && causes > 1);
        }
    }
    found.into_values().collect()
}

fn share(reached: Observed<StateReached>) -> Option<f64> {
    let reached = reached.value()?;
    (reached.pages > 0).then(|| reached.cached_pages as f64 / reached.pages as f64)
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let ordered = sorted(values);
    Some((*ordered.first()?, *ordered.last()?))
}
