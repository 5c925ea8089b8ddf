//! What the runs of one condition took: median, minimum and quartiles.
//!
//! Delays only ever add, so wall times are skewed, and a mean with a standard deviation describes nothing (Chen and
//! Revels, HPEC 2016). Both are computed all the same, for scripts that read hyperfine's JSON; no view shows them.

use std::collections::BTreeMap;

use hotset_facts::BenchRun;
use serde::Serialize;

use super::order::{ConfidenceInterval, median_interval, quantile, sorted};

/// The spread of one quantity over runs, in its own unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// The middle.
    pub median: f64,
    /// The smallest. For warm commands that wait for nothing it is the best estimate of the undisturbed time.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// A quarter of the runs is below.
    pub lower_quartile: f64,
    /// A quarter of the runs is above.
    pub upper_quartile: f64,
    /// For compatibility only.
    pub mean: f64,
    /// The standard deviation of the sample, for compatibility only; none for one run.
    pub standard_deviation: Option<f64>,
}

impl Spread {
    /// Of any numbers; nothing without one.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values = sorted(values);
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            median: quantile(&values, 0.5)?,
            min: *values.first()?,
            max: *values.last()?,
            lower_quartile: quantile(&values, 0.25)?,
            upper_quartile: quantile(&values, 0.75)?,
            mean,
            standard_deviation: (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
        })
    }
}

/// The times of some runs of one condition, in nanoseconds, and what they read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Times {
    /// How many runs.
    pub runs: usize,
    /// Wall time.
    pub wall_ns: Spread,
    /// The exact 95 % interval of the median wall time; null for fewer than six runs.
    #[serde(rename = "wall_interval_ns")]
    pub wall_interval: Option<ConfidenceInterval>,
    /// User and system time.
    pub cpu_ns: Spread,
    /// User time.
    pub user_ns: Spread,
    /// System time.
    pub system_ns: Spread,
    /// Bytes from the device, of the runs where they are known.
    pub device_bytes: Option<Spread>,
    /// Major faults.
    pub major_faults: Spread,
    /// Minor faults.
    pub minor_faults: Spread,
}

impl Times {
    pub(crate) fn of(samples: &BTreeMap<u32, usize>, runs: &[BenchRun]) -> Option<Self> {
        let chosen: Vec<&BenchRun> = samples.values().filter_map(|&at| runs.get(at)).collect();
        let spread = |of: fn(&BenchRun) -> u64| Spread::of(chosen.iter().map(|run| of(run) as f64));
        let device = chosen.iter().filter_map(|run| run.device_read_bytes.value());
        let walls = sorted(chosen.iter().map(|run| run.wall_ns as f64));
        Some(Self {
            runs: chosen.len(),
            wall_ns: spread(|run| run.wall_ns)?,
            wall_interval: median_interval(&walls),
            cpu_ns: spread(|run| run.user_ns.saturating_add(run.system_ns))?,
            user_ns: spread(|run| run.user_ns)?,
            system_ns: spread(|run| run.system_ns)?,
            device_bytes: Spread::of(device.map(|bytes| bytes as f64)),
            major_faults: spread(|run| run.major_faults)?,
            minor_faults: spread(|run| run.minor_faults)?,
        })
    }
}

/// One condition in numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionNumbers {
    /// Command and state, unique in the session: `app (cold)`.
    pub label: String,
    /// Of the valid runs, one a round; none if there is no valid run.
    pub valid: Option<Times>,
    /// Of the first run of each round, valid or not.
    pub all: Option<Times>,
    /// Valid runs.
    pub valid_runs: usize,
    /// Invalid runs.
    pub invalid_runs: usize,
    /// Runs in warm-up rounds, in neither of the numbers above.
    pub warmup_runs: usize,
    /// Runs that ended in failure.
    pub failed_runs: usize,
    /// The shares reached before the valid runs.
    pub share_before: Option<Spread>,
    /// True where the median wall time is so short that the start of a process can explain much of a difference.
    pub too_short: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_what_other_programs_say() {
        let spread = Spread::of([4.0, 1.0, 3.0, 10.0]);
        let Some(spread) = spread else { panic!("no spread") };
        assert_eq!((spread.median, spread.min, spread.max), (3.5, 1.0, 10.0));
        assert_eq!((spread.lower_quartile, spread.upper_quartile), (2.5, 5.5));
        assert_eq!(spread.mean, 4.5);
        assert!(spread.standard_deviation.is_some_and(|sd| (sd - 3.872_983).abs() < 1e-6));
        assert_eq!(Spread::of([7.0]).and_then(|spread| spread.standard_deviation), None);
        assert_eq!(Spread::of([]), None);
    }
}
