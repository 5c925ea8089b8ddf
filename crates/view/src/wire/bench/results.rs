//! A result for each condition: hyperfine's keys, then ours. All of it follows from the session.

use std::collections::BTreeMap;

use hotset_analysis::bench::{BenchSummary, JudgedRun, Spread, Times};
use hotset_facts::{BenchRun, ConditionRole, ExitStatus, WantedState};
use serde::Serialize;

/// The figures that hyperfine gives, of the counted runs, in seconds. `user` and `system` are means, as there.
#[derive(Serialize, Clone, Copy)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Hyperfine {
    pub(crate) mean: Option<f64>,
    pub(crate) stddev: Option<f64>,
    pub(crate) median: Option<f64>,
    pub(crate) user: Option<f64>,
    pub(crate) system: Option<f64>,
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
}

impl Hyperfine {
    pub(crate) fn of(times: Option<&Times>) -> Self {
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ResultKeys<'a> {
    command: &'a str,
    #[serde(flatten)]
    figures: Hyperfine,
    /// Wall times of the counted runs, in seconds and in order of time; `mean` and the other figures are of these.
    #[cfg_attr(test, schemars(with = "Vec<words::Seconds>"))]
    times: Vec<f64>,
    /// The same of runs that are not counted.
    #[cfg_attr(test, schemars(with = "Vec<words::Seconds>"))]
    times_excluded: Vec<f64>,
    memory_usage_byte: Vec<u64>,
    exit_codes: Vec<Option<i32>>,
    parameters: BTreeMap<&'a str, &'a str>,
    name: &'a str,
    command_index: usize,
    state: WantedState,
    repeats_result: Option<usize>,
    too_short: bool,
    #[cfg_attr(test, schemars(with = "words::Trend"))]
    trend: &'static str,
    valid_runs: usize,
    invalid_runs: usize,
    warmup_runs: usize,
    counted: Option<Times>,
    all: Option<Times>,
    /// Whether each run is counted: all runs of this condition, in the order of `runs`.
    valid: Vec<bool>,
    /// Why not, and what else casts doubt on each, in the order of `valid`.
    #[cfg_attr(test, schemars(with = "Vec<Vec<words::Reason>>"))]
    reasons: Vec<Vec<&'static str>>,
}

/// The code, where no signal ended the run.
fn exit_code(exit: ExitStatus) -> Option<i32> {
    match exit {
        ExitStatus::Code(code) => Some(code),
        ExitStatus::Signal(_) => None,
    }
}

impl<'a> ResultKeys<'a> {
    pub(super) fn all(summary: &'a BenchSummary) -> Vec<Self> {
        (0..summary.conditions.len()).filter_map(|index| Self::new(summary, index)).collect()
    }

    fn new(summary: &'a BenchSummary, index: usize) -> Option<Self> {
        let condition = summary.session.conditions.get(index)?;
        let numbers = summary.conditions.get(index)?;
        let command = summary.session.commands.get(condition.command);
        let parameters = command.map_or(&[][..], |command| &command.parameters);
        let own = |counted: bool| {
            let runs = summary.runs_of(index).filter(move |(_, judged)| judged.counted == counted);
            runs.map(|(run, _)| run)
        };
        let times = |counted: bool| own(counted).map(|run| run.wall_ns as f64 / 1e9).collect();
        let reasons = |(run, judged): (&BenchRun, &JudgedRun)| {
            let warmup = summary.is_warmup(run);
            let repeated = !judged.counted && judged.is_valid() && !warmup;
            let others = [warmup.then_some("warm-up"), repeated.then_some("repeated")];
            let doubts = judged.doubts.iter().map(|doubt| doubt.as_str());
            doubts.chain(others.into_iter().flatten()).collect()
        };
        Some(Self {
            command: &numbers.label,
            figures: Hyperfine::of(numbers.valid.as_ref()),
            times: times(true),
            times_excluded: times(false),
            memory_usage_byte: own(true).map(|run| run.max_rss_bytes).collect(),
            exit_codes: own(true).map(|run| exit_code(run.exit)).collect(),
            parameters: parameters.iter().map(|(name, of)| (name.as_str(), of.as_str())).collect(),
            name: command.map_or(&numbers.label, |command| &command.name),
            command_index: condition.command,
            state: condition.state,
            repeats_result: match condition.role {
                ConditionRole::Measured => None,
                ConditionRole::NoiseFloor { twin_of } => Some(twin_of),
            },
            too_short: numbers.too_short,
            trend: summary.trends.get(index).map_or("flat", |trend| trend.as_str()),
            valid_runs: numbers.valid_runs,
            invalid_runs: numbers.invalid_runs,
            warmup_runs: numbers.warmup_runs,
            counted: numbers.valid,
            all: numbers.all,
            valid: summary.runs_of(index).map(|(_, judged)| judged.counted).collect(),
            reasons: summary.runs_of(index).map(reasons).collect(),
        })
    }
}

/// Words and ranges, for the schema.
#[cfg(test)]
#[expect(dead_code, reason = "only their schemas are used")]
pub(super) mod words {
    use schemars::JsonSchema;

    /// A time.
    #[derive(JsonSchema)]
    pub(super) struct Seconds(#[schemars(range(min = 0.0))] f64);

    /// What rounds do over the session.
    #[derive(JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub(super) enum Trend {
        Flat,
        WarmUp,
        Slowdown,
        Unsettled,
    }

    /// Why a run doesn't count, or is doubtful.
    #[derive(JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub(super) enum Reason {
        Failed,
        StateNotReached,
        StateUnknown,
        FilesUnknown,
        DeviceRead,
        MajorFaults,
        DeviceReadTooLittle,
        DeviceUnknown,
        InvoluntarySwitches,
        Steal,
        CpuPressure,
        SlowPages,
        InputsChanged,
        WarmUp,
        /// Another run of its round is counted.
        Repeated,
    }
}
