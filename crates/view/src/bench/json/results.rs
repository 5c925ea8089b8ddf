//! A result for each condition: hyperfine's keys, then ours.

use std::collections::BTreeMap;

use hotset_analysis::bench::{BenchSummary, Interval, JudgedRun, Spread, Times};
use hotset_facts::{BenchRun, ConditionRole};
use serde::Serialize;

use super::{exit_code, observed_seconds, seconds, signal};

/// The figures that hyperfine gives, of the counted runs, in seconds. `user` and `system` are means, as there.
#[derive(Serialize, Clone, Copy)]
pub(in crate::bench) struct HyperfineKeys {
    pub(in crate::bench) mean: Option<f64>,
    pub(in crate::bench) stddev: Option<f64>,
    pub(in crate::bench) median: Option<f64>,
    pub(in crate::bench) user: Option<f64>,
    pub(in crate::bench) system: Option<f64>,
    pub(in crate::bench) min: Option<f64>,
    pub(in crate::bench) max: Option<f64>,
}

impl HyperfineKeys {
    pub(in crate::bench) fn of(times: Option<&Times>) -> Self {
        let wall = |of: fn(&Spread) -> f64| times.map(|times| of(&times.wall_ns) / 1e9);
        Self {
            mean: wall(|wall| wall.mean),
            stddev: times.and_then(|times| times.wall_ns.standard_deviation).map(|ns| ns / 1e9),
            median: wall(|wall| wall.median),
            user: times.map(|times| times.user_ns.mean / 1e9),
            system: times.map(|times| times.system_ns.mean / 1e9),
            min: wall(|wall| wall.min),
            max: wall(|wall| wall.max),
        }
    }
}

#[derive(Serialize)]
struct SpreadV1 {
    median: f64,
    min: f64,
    max: f64,
    lower_quartile: f64,
    upper_quartile: f64,
}

impl SpreadV1 {
    fn new(spread: &Spread, unit: f64) -> Self {
        Self {
            median: spread.median / unit,
            min: spread.min / unit,
            max: spread.max / unit,
            lower_quartile: spread.lower_quartile / unit,
            upper_quartile: spread.upper_quartile / unit,
        }
    }
}

/// The spreads of some runs: times in seconds.
#[derive(Serialize)]
struct TimesV1 {
    runs: usize,
    wall: SpreadV1,
    wall_low: Option<f64>,
    wall_high: Option<f64>,
    cpu: SpreadV1,
    device_bytes: Option<SpreadV1>,
    major_faults: SpreadV1,
    minor_faults: SpreadV1,
}

impl From<Times> for TimesV1 {
    fn from(times: Times) -> Self {
        let end = |of: fn(Interval) -> f64| times.wall_interval.map(|interval| of(interval) / 1e9);
        Self {
            runs: times.runs,
            wall: SpreadV1::new(&times.wall_ns, 1e9),
            wall_low: end(|interval| interval.low),
            wall_high: end(|interval| interval.high),
            cpu: SpreadV1::new(&times.cpu_ns, 1e9),
            device_bytes: times.device_bytes.map(|device| SpreadV1::new(&device, 1.0)),
            major_faults: SpreadV1::new(&times.major_faults, 1.0),
            minor_faults: SpreadV1::new(&times.minor_faults, 1.0),
        }
    }
}

#[derive(Serialize)]
pub(super) struct ResultV1<'a> {
    command: &'a str,
    #[serde(flatten)]
    figures: HyperfineKeys,
    times: Vec<f64>,
    memory_usage_byte: Vec<u64>,
    exit_codes: Vec<Option<i32>>,
    parameters: BTreeMap<&'a str, &'a str>,
    name: &'a str,
    command_index: usize,
    state: String,
    repeats_result: Option<usize>,
    too_short: bool,
    trend: &'static str,
    valid_runs: usize,
    invalid_runs: usize,
    warmup_runs: usize,
    counted: Option<TimesV1>,
    all: Option<TimesV1>,
    #[serde(flatten)]
    runs: RunsV1,
}

/// A value a run, in the order of `times`.
#[derive(Serialize, Default)]
struct RunsV1 {
    valid: Vec<bool>,
    reasons: Vec<Vec<&'static str>>,
    rounds: Vec<u32>,
    order: Vec<u32>,
    repeats: Vec<u32>,
    started_after: Vec<f64>,
    user_times: Vec<f64>,
    system_times: Vec<f64>,
    signals: Vec<Option<i32>>,
    reached_before: Vec<Option<f64>>,
    reached_after: Vec<Option<f64>>,
    device_bytes: Vec<Option<u64>>,
    newly_cached_bytes: Vec<Option<u64>>,
    major_faults: Vec<u64>,
    minor_faults: Vec<u64>,
    voluntary_switches: Vec<u64>,
    involuntary_switches: Vec<u64>,
    steal: Vec<Option<f64>>,
    cpu_pressure: Vec<Option<f64>>,
    io_pressure: Vec<Option<f64>>,
    inputs_changed: Vec<Vec<usize>>,
}

impl RunsV1 {
    fn push(&mut self, run: &BenchRun, judged: &JudgedRun, is_warmup: bool) {
        let warmup = is_warmup.then_some("warm-up");
        self.valid.push(judged.is_valid() && !is_warmup);
        self.reasons.push(judged.doubts.iter().map(|doubt| doubt.as_str()).chain(warmup).collect());
        self.rounds.push(run.round);
        self.order.push(run.position);
        self.repeats.push(run.repeat);
        self.started_after.push(seconds(run.started_after_ns));
        self.user_times.push(seconds(run.user_ns));
        self.system_times.push(seconds(run.system_ns));
        self.signals.push(signal(run.exit));
        self.reached_before.push(judged.share_before);
        self.reached_after.push(judged.share_after);
        self.device_bytes.push(run.device_read_bytes.value());
        self.newly_cached_bytes.push(judged.newly_cached_bytes);
        self.major_faults.push(run.major_faults);
        self.minor_faults.push(run.minor_faults);
        self.voluntary_switches.push(run.voluntary_switches);
        self.involuntary_switches.push(run.involuntary_switches);
        self.steal.push(observed_seconds(run.steal_ns));
        self.cpu_pressure.push(observed_seconds(run.cpu_pressure_ns));
        self.io_pressure.push(observed_seconds(run.io_pressure_ns));
        self.inputs_changed.push(run.inputs_changed.clone());
    }
}

impl<'a> ResultV1<'a> {
    pub(super) fn all(summary: &'a BenchSummary) -> Vec<Self> {
        (0..summary.conditions.len()).filter_map(|index| Self::new(summary, index)).collect()
    }

    fn new(summary: &'a BenchSummary, index: usize) -> Option<Self> {
        let condition = summary.session.conditions.get(index)?;
        let numbers = summary.conditions.get(index)?;
        let command = summary.session.commands.get(condition.command);
        let parameters = command.map_or(&[][..], |command| &command.parameters);
        let mut runs = RunsV1::default();
        let own = || summary.runs_of(index).map(|(run, _)| run);
        for (run, judged) in summary.runs_of(index) {
            runs.push(run, judged, summary.is_warmup(run));
        }
        Some(Self {
            command: &numbers.label,
            figures: HyperfineKeys::of(numbers.valid.as_ref()),
            times: own().map(|run| seconds(run.wall_ns)).collect(),
            memory_usage_byte: own().map(|run| run.max_rss_bytes).collect(),
            exit_codes: own().map(|run| exit_code(run.exit)).collect(),
            parameters: parameters.iter().map(|(name, of)| (name.as_str(), of.as_str())).collect(),
            name: command.map_or(&numbers.label, |command| &command.name),
            command_index: condition.command,
            state: condition.state.to_string(),
            repeats_result: match condition.role {
                ConditionRole::Measured => None,
                ConditionRole::NoiseFloor { twin_of } => Some(twin_of),
            },
            too_short: numbers.too_short,
            trend: summary.trends.get(index).map_or("flat", |trend| trend.as_str()),
            valid_runs: numbers.valid_runs,
            invalid_runs: numbers.invalid_runs,
            warmup_runs: numbers.warmup_runs,
            counted: numbers.valid.map(TimesV1::from),
            all: numbers.all.map(TimesV1::from),
            runs,
        })
    }
}
