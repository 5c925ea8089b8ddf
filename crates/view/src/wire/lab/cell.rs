//! A cell with its samples, and in numbers.

use hotset_analysis::lab::{CellNumbers, value_of};
use hotset_facts::LabCell;
use serde::Serialize;

/// The cell and what follows from it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct CellKeys<'a> {
    #[serde(flatten)]
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
