//! The keys of `hotset.bench/1` that a page shows. Times are in seconds, as there.

use serde::Deserialize;

use crate::json::EnvironmentIn;
use crate::units;

#[derive(Deserialize)]
pub(in crate::results) struct BenchIn {
    pub(super) hotset: String,
    pub(super) started_at: String,
    pub(super) environment: EnvironmentIn,
    pub(super) seed: u64,
    pub(super) rounds: u32,
    pub(super) stop: StopIn,
    pub(super) results: Vec<ResultIn>,
    pub(super) comparisons: Vec<ComparisonIn>,
    pub(super) cold_warm: Vec<ColdWarmIn>,
    pub(super) warnings: Vec<WarningIn>,
}

#[derive(Deserialize)]
pub(super) struct StopIn {
    pub(super) reason: String,
}

#[derive(Deserialize)]
pub(super) struct WarningIn {
    pub(super) text: String,
    pub(super) advice: String,
}

#[derive(Deserialize)]
pub(super) struct ResultIn {
    pub(super) command: String,
    pub(super) name: String,
    pub(super) state: String,
    pub(super) times: Vec<f64>,
    pub(super) valid: Vec<bool>,
    pub(super) reasons: Vec<Vec<String>>,
    pub(super) rounds: Vec<u32>,
    pub(super) started_after: Vec<f64>,
    pub(super) reached_before: Vec<Option<f64>>,
    pub(super) device_bytes: Vec<Option<u64>>,
    pub(super) valid_runs: usize,
    pub(super) invalid_runs: usize,
    pub(super) counted: Option<Whole>,
    pub(super) all: Option<Whole>,
}

#[derive(Deserialize)]
pub(super) struct Whole {
    pub(super) wall: Spread,
    pub(super) wall_low: Option<f64>,
    pub(super) wall_high: Option<f64>,
    pub(super) cpu: Spread,
    pub(super) device_bytes: Option<Spread>,
}

#[derive(Deserialize)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) lower_quartile: f64,
    pub(super) upper_quartile: f64,
}

#[derive(Deserialize)]
pub(super) struct ComparisonIn {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) ratio: Option<f64>,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    pub(super) rounds: usize,
    pub(super) verdict: String,
}

#[derive(Deserialize)]
pub(super) struct ColdWarmIn {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) rounds: usize,
    pub(super) difference: f64,
    pub(super) cpu_difference: f64,
    pub(super) device_bytes: Option<f64>,
    pub(super) device_wait: f64,
    pub(super) device_share: Option<f64>,
}

/// One run of a result.
pub(super) struct RunIn<'a> {
    pub(super) wall: f64,
    pub(super) counted: bool,
    pub(super) reasons: &'a [String],
    pub(super) round: u32,
    pub(super) started_after: f64,
    pub(super) cached_before: Option<f64>,
    pub(super) device_bytes: Option<u64>,
}

impl ResultIn {
    /// The runs that all lists have.
    pub(super) fn runs(&self) -> impl Iterator<Item = RunIn<'_>> {
        self.times.iter().enumerate().filter_map(|(at, &wall)| {
            Some(RunIn {
                wall,
                counted: *self.valid.get(at)?,
                reasons: self.reasons.get(at)?,
                round: *self.rounds.get(at)?,
                started_after: *self.started_after.get(at)?,
                cached_before: *self.reached_before.get(at)?,
                device_bytes: *self.device_bytes.get(at)?,
            })
        })
    }

    pub(super) fn median(&self) -> String {
        self.counted.as_ref().map_or("unknown".to_owned(), |it| time(it.wall.median))
    }

    pub(super) fn sure(&self) -> String {
        let interval = self.counted.as_ref().and_then(|it| it.wall_low.zip(it.wall_high));
        match interval {
            Some((low, high)) => {
                format!(
                    "95 % interval {} to {}, from {} runs",
                    time(low),
                    time(high),
                    self.valid_runs
                )
            }
            None => format!("no 95 % interval, from {} runs", self.valid_runs),
        }
    }

    pub(super) fn with_interval(&self) -> String {
        let interval = self.counted.as_ref().and_then(|it| it.wall_low.zip(it.wall_high));
        let interval = interval
            .map_or(String::new(), |(low, high)| format!(" [{}, {}]", time(low), time(high)));
        format!("{}{interval}", self.median())
    }
}

/// Seconds as people read them.
pub(super) fn time(seconds: f64) -> String {
    let size = units::duration((seconds.abs() * 1e9).round() as u64);
    if seconds < 0.0 { format!("-{size}") } else { size }
}

/// `4.30x`.
pub(super) fn ratio(ratio: f64) -> String {
    if ratio < 2.0 { format!("{ratio:.3}x") } else { format!("{}x", units::real(ratio)) }
}
