//! Everything that a view of a session shows.

use hotset_facts::{BenchRun, BenchSession};
use serde::Serialize;

use super::baseline::BaselineComparison;
use super::compare::{Comparison, NoiseFloor};
use super::condition::ConditionNumbers;
use super::explain::ColdWarm;
use super::files::IoDifference;
use super::gates::JudgedRun;
use super::order::median;
use super::warmup::Trend;
use super::warnings::{BenchWarning, grouped};

/// A session in numbers. Lists are in the order of the session's own.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchSummary {
    /// What was measured.
    pub session: BenchSession,
    /// Each run's verdict.
    pub runs: Vec<JudgedRun>,
    /// Each condition in numbers.
    pub conditions: Vec<ConditionNumbers>,
    /// The trend of each condition over the rounds.
    pub trends: Vec<Trend>,
    /// Rounds that were run, those of a warm-up included.
    pub rounds: u32,
    /// Rounds at the start that are kept out of the estimates.
    pub warmup_rounds: u32,
    /// Rounds beyond those that were planned.
    pub extended_rounds: u32,
    /// All comparisons that were asked for.
    pub comparisons: Vec<Comparison>,
    /// A/A comparisons.
    pub noise_floors: Vec<NoiseFloor>,
    /// The largest effect that this session can't decide; none where no A/A interval excludes 1.
    pub undecidable_below: Option<f64>,
    /// Times below this are short, and differences between short times are told from this on, in nanoseconds: five times how much
    /// the time of a command that does nothing varied (its inter-quartile range).
    pub told_apart_ns: f64,
    /// What cold starts pay for.
    pub cold_warm: Vec<ColdWarm>,
    /// How the I/O of each command differs from the first one's, where both were learned under the sensor.
    pub io_differences: Vec<IoDifference>,
    /// How the session compares with a baseline, where one was named; it does not follow from the session.
    pub baseline: Option<BaselineComparison>,
    /// Doubts and advice, the gravest first, each about one condition or command.
    pub warnings: Vec<BenchWarning>,
}

impl BenchSummary {
    /// The runs of one condition with their verdicts, in order of time.
    pub fn runs_of(&self, condition: usize) -> impl Iterator<Item = (&BenchRun, &JudgedRun)> {
        let runs = self.session.runs.iter().zip(&self.runs);
        runs.filter(move |(run, _)| run.condition == condition)
    }

    /// True if the run belongs to a warm-up round.
    pub fn is_warmup(&self, run: &BenchRun) -> bool {
        run.round < self.warmup_rounds
    }

    /// The warnings for a reader: what says the same of several conditions or commands comes once.
    pub fn grouped_warnings(&self) -> Vec<BenchWarning> {
        grouped(&self.warnings)
    }

    /// The warnings for a script: one for each condition or command, with its label.
    pub fn labelled_warnings(&self) -> Vec<Warning> {
        self.warnings.iter().map(|warning| warning.alone(self)).collect()
    }

    /// The median of all runs' wall times of a condition, valid or not, for messages.
    pub(crate) fn any_median_ns(&self, condition: usize) -> Option<f64> {
        median(self.runs_of(condition).map(|(run, _)| run.wall_ns as f64))
    }
}

/// One doubt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// The word for scripts.
    pub kind: &'static str,
    /// What is doubtful.
    pub text: String,
    /// What to do about it; may be empty.
    pub advice: String,
}
