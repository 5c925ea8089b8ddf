//! What follows from the results: comparisons, the noise floor, explanations.

use std::borrow::Cow;

use hotset_analysis::bench::{
    BenchSummary, ColdWarm, Comparison, FileDifference, Interval, IoDifference, KindDifference,
    RatioEstimate, WaitSource,
};
use serde::Serialize;

use crate::json::path_keys;

#[derive(Serialize)]
struct RatioV1 {
    ratio: f64,
    low: Option<f64>,
    high: Option<f64>,
    rounds: usize,
}

impl From<RatioEstimate> for RatioV1 {
    fn from(estimate: RatioEstimate) -> Self {
        let end = |of: fn(Interval) -> f64| estimate.interval.map(of);
        Self {
            ratio: estimate.ratio,
            low: end(|interval| interval.low),
            high: end(|interval| interval.high),
            rounds: estimate.rounds,
        }
    }
}

/// `ratio` is the time of result `b` divided by that of result `a`.
#[derive(Serialize)]
pub(super) struct ComparisonV1 {
    a: usize,
    b: usize,
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    rounds: usize,
    verdict: &'static str,
    smallest_effect: Option<f64>,
    all: Option<RatioV1>,
}

impl From<&Comparison> for ComparisonV1 {
    fn from(comparison: &Comparison) -> Self {
        let valid = comparison.valid.map(RatioV1::from);
        let valid = valid.as_ref();
        Self {
            a: comparison.pair.a,
            b: comparison.pair.b,
            ratio: valid.map(|valid| valid.ratio),
            low: valid.and_then(|valid| valid.low),
            high: valid.and_then(|valid| valid.high),
            rounds: valid.map_or(0, |valid| valid.rounds),
            verdict: comparison.difference.as_str(),
            smallest_effect: comparison.smallest_effect,
            all: comparison.all.map(RatioV1::from),
        }
    }
}

#[derive(Serialize)]
pub(super) struct NoiseFloorV1 {
    comparisons: Vec<ComparisonV1>,
    undecidable_below: Option<f64>,
}

impl From<&BenchSummary> for NoiseFloorV1 {
    fn from(summary: &BenchSummary) -> Self {
        let floors = summary.noise_floors.iter();
        Self {
            comparisons: floors.map(|floor| ComparisonV1::from(&floor.comparison)).collect(),
            undecidable_below: summary.undecidable_below,
        }
    }
}

#[derive(Serialize)]
pub(super) struct ColdWarmV1 {
    a: usize,
    b: usize,
    rounds: usize,
    difference: f64,
    cpu_difference: f64,
    device_bytes: Option<f64>,
    device_wait: f64,
    device_wait_source: &'static str,
    device_share: Option<f64>,
    readahead_saves_at_most: f64,
    warming_saves_at_most: f64,
}

impl From<&ColdWarm> for ColdWarmV1 {
    fn from(one: &ColdWarm) -> Self {
        Self {
            a: one.pair.a,
            b: one.pair.b,
            rounds: one.rounds,
            difference: one.difference_ns / 1e9,
            cpu_difference: one.cpu_difference_ns / 1e9,
            device_bytes: one.device_bytes,
            device_wait: one.device_wait_ns / 1e9,
            device_wait_source: match one.source {
                WaitSource::Sensor => "sensor",
                WaitSource::OffCpu => "off-cpu",
            },
            device_share: one.device_share,
            readahead_saves_at_most: one.readahead_saves_ns / 1e9,
            warming_saves_at_most: one.warming_saves_ns / 1e9,
        }
    }
}

#[derive(Serialize)]
struct KindV1 {
    kind: &'static str,
    a: u64,
    b: u64,
}

impl From<&KindDifference> for KindV1 {
    fn from(kind: &KindDifference) -> Self {
        Self { kind: kind.kind.as_str(), a: kind.a, b: kind.b }
    }
}

#[derive(Serialize)]
struct FileDifferenceV1<'a> {
    path: Cow<'a, str>,
    path_hex: Option<String>,
    in_a: bool,
    in_b: bool,
    kinds: Vec<KindV1>,
}

impl<'a> From<&'a FileDifference> for FileDifferenceV1<'a> {
    fn from(file: &'a FileDifference) -> Self {
        let (path, path_hex) = path_keys(&file.path);
        let kinds = file.kinds.iter().map(KindV1::from).collect();
        Self { path, path_hex, in_a: file.in_a, in_b: file.in_b, kinds }
    }
}

#[derive(Serialize)]
pub(super) struct IoDifferenceV1<'a> {
    command_a: usize,
    command_b: usize,
    totals: Vec<KindV1>,
    files: Vec<FileDifferenceV1<'a>>,
}

impl<'a> From<&'a IoDifference> for IoDifferenceV1<'a> {
    fn from(difference: &'a IoDifference) -> Self {
        Self {
            command_a: difference.command_a,
            command_b: difference.command_b,
            totals: difference.totals.iter().map(KindV1::from).collect(),
            files: difference.files.iter().map(FileDifferenceV1::from).collect(),
        }
    }
}
