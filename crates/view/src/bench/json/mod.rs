//! `hotset.bench/1`: hyperfine's JSON with our keys beside its own. The schema is `schema/bench-1.schema.json`.
//!
//! Times are in seconds, as hyperfine has them. `results` has an entry for each condition; its `times` hold every run
//! in order of time, counted or not, and `valid` says which of them count. `mean`, `stddev` and the other figures are
//! of the counted runs, and null where none counts. Mean and standard deviation are there for scripts that read
//! hyperfine's output; nothing of ours rests on them. A number that could not be measured is null, and no key is ever
//! left out.

mod comparisons;
mod files;
mod results;

use std::io;

use hotset_analysis::bench::BenchSummary;
use hotset_facts::{ExitStatus, Observed, StopReason};
use serde::Serialize;

use crate::json::{EnvironmentV1, rfc3339};
use comparisons::{ColdWarmV1, ComparisonV1, IoDifferenceV1, NoiseFloorV1};
use files::FilesV1;
pub(super) use results::HyperfineKeys;
use results::ResultV1;

/// Writes a session as one line of JSON, schema `hotset.bench/1`.
///
/// # Errors
/// As `out` gives them.
pub fn write_bench_json(summary: &BenchSummary, out: &mut dyn io::Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &BenchV1::from(summary))?;
    out.write_all(b"\n")
}

#[derive(Serialize)]
struct BenchV1<'a> {
    schema: &'static str,
    hotset: &'a str,
    started_at: String,
    environment: EnvironmentV1<'a>,
    timer: TimerV1,
    seed: u64,
    rounds: u32,
    planned_rounds: u32,
    extended_rounds: u32,
    warmup_rounds: u32,
    stop: StopV1,
    results: Vec<ResultV1<'a>>,
    comparisons: Vec<ComparisonV1>,
    noise_floor: NoiseFloorV1,
    cold_warm: Vec<ColdWarmV1>,
    io_differences: Vec<IoDifferenceV1<'a>>,
    files: Vec<FilesV1<'a>>,
    warnings: Vec<WarningV1<'a>>,
}

impl<'a> From<&'a BenchSummary> for BenchV1<'a> {
    fn from(summary: &'a BenchSummary) -> Self {
        let session = &summary.session;
        let sets = session.commands.iter().zip(&session.sets);
        let warning = |one: &'a hotset_analysis::bench::Warning| WarningV1 {
            kind: one.kind,
            text: &one.text,
            advice: &one.advice,
        };
        Self {
            schema: "hotset.bench/1",
            hotset: &session.version,
            started_at: rfc3339(session.started_at),
            environment: EnvironmentV1::from(&session.environment),
            timer: TimerV1 {
                resolution: seconds(session.timer.resolution_ns),
                spawn_noise: observed_seconds(session.timer.spawn_noise_ns),
            },
            seed: session.seed,
            rounds: summary.rounds,
            planned_rounds: session.planned_rounds,
            extended_rounds: summary.extended_rounds,
            warmup_rounds: summary.warmup_rounds,
            stop: StopV1::from(&session.stop),
            results: ResultV1::all(summary),
            comparisons: summary.comparisons.iter().map(ComparisonV1::from).collect(),
            noise_floor: NoiseFloorV1::from(summary),
            cold_warm: summary.cold_warm.iter().map(ColdWarmV1::from).collect(),
            io_differences: summary.io_differences.iter().map(IoDifferenceV1::from).collect(),
            files: sets.map(|(command, set)| FilesV1::new(&command.name, set)).collect(),
            warnings: summary.warnings.iter().map(warning).collect(),
        }
    }
}

#[derive(Serialize)]
struct TimerV1 {
    resolution: f64,
    spawn_noise: Option<f64>,
}

#[derive(Serialize)]
struct WarningV1<'a> {
    kind: &'static str,
    text: &'a str,
    advice: &'a str,
}

#[derive(Serialize)]
struct StopV1 {
    reason: &'static str,
    result: Option<usize>,
    exit_code: Option<i32>,
    signal: Option<i32>,
    output_tail: Option<String>,
}

impl From<&StopReason> for StopV1 {
    fn from(stop: &StopReason) -> Self {
        let reason = match stop {
            StopReason::PreciseEnough => "precise-enough",
            StopReason::RunsDone => "runs-done",
            StopReason::MaxTime => "max-time",
            StopReason::Interrupted => "interrupted",
            StopReason::Failed { .. } => "failed",
        };
        let none = Self { reason, result: None, exit_code: None, signal: None, output_tail: None };
        match stop {
            StopReason::Failed { condition, exit, output_tail } => Self {
                result: Some(*condition),
                exit_code: exit_code(*exit),
                signal: signal(*exit),
                output_tail: Some(String::from_utf8_lossy(output_tail).into_owned()),
                ..none
            },
            _ => none,
        }
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn observed_seconds(ns: Observed<u64>) -> Option<f64> {
    ns.value().map(seconds)
}

fn exit_code(exit: ExitStatus) -> Option<i32> {
    match exit {
        ExitStatus::Code(code) => Some(code),
        ExitStatus::Signal(_) => None,
    }
}

fn signal(exit: ExitStatus) -> Option<i32> {
    match exit {
        ExitStatus::Code(_) => None,
        ExitStatus::Signal(signal) => Some(signal),
    }
}
