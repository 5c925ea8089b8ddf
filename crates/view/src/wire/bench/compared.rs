//! What follows from the results: comparisons, the noise floor, explanations.

use hotset_analysis::bench::{
    BenchSummary, ColdWarm, Comparison, ConfidenceInterval, Difference, FileDifference,
    IoDifference, KindDifference, RatioEstimate, WaitSource,
};
use hotset_facts::format::Path;
use serde::Serialize;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RatioKeys {
    ratio: f64,
    low: Option<f64>,
    high: Option<f64>,
    rounds: usize,
}

impl From<RatioEstimate> for RatioKeys {
    fn from(estimate: RatioEstimate) -> Self {
        let end = |of: fn(ConfidenceInterval) -> f64| estimate.interval.map(of);
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ComparisonKeys {
    a: usize,
    b: usize,
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    rounds: usize,
    verdict: Difference,
    smallest_effect: Option<f64>,
    all: Option<RatioKeys>,
}

impl From<&Comparison> for ComparisonKeys {
    fn from(comparison: &Comparison) -> Self {
        let valid = comparison.valid.map(RatioKeys::from);
        let valid = valid.as_ref();
        Self {
            a: comparison.pair.a,
            b: comparison.pair.b,
            ratio: valid.map(|valid| valid.ratio),
            low: valid.and_then(|valid| valid.low),
            high: valid.and_then(|valid| valid.high),
            rounds: valid.map_or(0, |valid| valid.rounds),
            verdict: comparison.difference,
            smallest_effect: comparison.smallest_effect,
            all: comparison.all.map(RatioKeys::from),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct NoiseFloorKeys {
    comparisons: Vec<ComparisonKeys>,
    undecidable_below: Option<f64>,
}

impl From<&BenchSummary> for NoiseFloorKeys {
    fn from(summary: &BenchSummary) -> Self {
        let floors = summary.noise_floors.iter();
        Self {
            comparisons: floors.map(|floor| ComparisonKeys::from(&floor.comparison)).collect(),
            undecidable_below: summary.undecidable_below,
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ColdWarmKeys {
    a: usize,
    b: usize,
    rounds: usize,
    difference: f64,
    cpu_difference: f64,
    device_bytes: Option<f64>,
    device_wait: f64,
    device_wait_source: WaitSource,
    device_share: Option<f64>,
    readahead_saves_at_most: f64,
    warming_saves_at_most: f64,
}

impl From<&ColdWarm> for ColdWarmKeys {
    fn from(one: &ColdWarm) -> Self {
        Self {
            a: one.pair.a,
            b: one.pair.b,
            rounds: one.rounds,
            difference: one.difference_ns / 1e9,
            cpu_difference: one.cpu_difference_ns / 1e9,
            device_bytes: one.device_bytes,
            device_wait: one.device_wait_ns / 1e9,
            device_wait_source: one.source,
            device_share: one.device_share,
            readahead_saves_at_most: one.readahead_saves_ns / 1e9,
            warming_saves_at_most: one.warming_saves_ns / 1e9,
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct KindKeys {
    kind: &'static str,
    a: u64,
    b: u64,
}

impl From<&KindDifference> for KindKeys {
    fn from(kind: &KindDifference) -> Self {
        Self { kind: kind.kind.as_str(), a: kind.a, b: kind.b }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FileDifferenceKeys {
    #[serde(flatten)]
    path: Path,
    in_a: bool,
    in_b: bool,
    kinds: Vec<KindKeys>,
}

impl From<&FileDifference> for FileDifferenceKeys {
    fn from(file: &FileDifference) -> Self {
        let path = Path::of(&file.path);
        let kinds = file.kinds.iter().map(KindKeys::from).collect();
        Self { path, in_a: file.in_a, in_b: file.in_b, kinds }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct IoDifferenceKeys {
    command_a: usize,
    command_b: usize,
    totals: Vec<KindKeys>,
    files: Vec<FileDifferenceKeys>,
}

impl From<&IoDifference> for IoDifferenceKeys {
    fn from(difference: &IoDifference) -> Self {
        Self {
            command_a: difference.command_a,
            command_b: difference.command_b,
            totals: difference.totals.iter().map(KindKeys::from).collect(),
            files: difference.files.iter().map(FileDifferenceKeys::from).collect(),
        }
    }
}
