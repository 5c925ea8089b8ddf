//! `hotset.bench/1`: one session of `hotset bench`, in hyperfine's shape with our keys beside its own.
//!
//! hyperfine's keys are in `results`, an entry for each condition, and have its units: times in seconds. `times` hold the counted
//! runs of the condition in order of time, `mean`, `stddev` and the other figures are of these, and null where there is none.
//! The times of all other runs are in `times_excluded`. What was measured is in the other keys, in
//! nanoseconds, and is what we read back: what else is to be said of a run is in `runs`, by its `condition`.

mod results;

use std::io;

use hotset_analysis::bench::{
    BaselineComparison, BenchSummary, ColdWarm, Comparison, IoDifference, NoiseFloor, Warning,
};
use hotset_facts::{BenchSession, ConditionRole, StopReason};
use serde::Serialize;

use super::{Document, Envelope, ReadError};
pub(crate) use results::Hyperfine;
use results::ResultKeys;

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.bench/1";

/// Writes a session as one line of JSON, schema `hotset.bench/1`.
///
/// # Errors
/// As `out` gives them.
pub fn write_bench_json(summary: &BenchSummary, out: &mut dyn io::Write) -> io::Result<()> {
    let envelope = Envelope::of_version(SCHEMA, &summary.session.version, Whole::of(summary));
    out.write_all(&envelope.to_line())
}

/// What [`write_bench_json`] wrote.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_bench(document: &Document<'_>) -> Result<BenchSession, ReadError> {
    let mut session: BenchSession = document.read(SCHEMA)?;
    session.version = document.hotset.clone().into_owned();
    check(&session)?;
    Ok(session)
}

/// Indices must lead somewhere before anybody follows them.
fn check(session: &BenchSession) -> Result<(), ReadError> {
    let (commands, conditions) = (session.commands.len(), session.conditions.len());
    let wrong = |place: String, of: &str, number: usize| {
        Err(ReadError::at(place, format!("there are {number} {of}; expected a smaller number")))
    };
    for (key, found) in [("files", session.sets.len()), ("learned", session.learned.len())] {
        if found != commands {
            let text = format!("{found} entries for {commands} commands; expected one for each");
            return Err(ReadError::at(key, text));
        }
    }
    for (at, condition) in session.conditions.iter().enumerate() {
        if condition.command >= commands {
            return wrong(format!("conditions[{at}].command"), "commands", commands);
        }
        if matches!(condition.role, ConditionRole::NoiseFloor { twin_of } if twin_of >= conditions)
        {
            return wrong(format!("conditions[{at}].repeats"), "conditions", conditions);
        }
    }
    if matches!(session.stop, StopReason::Failed { condition, .. } if condition >= conditions) {
        return wrong("stop.condition".to_owned(), "conditions", conditions);
    }
    match session.runs.iter().position(|run| run.condition >= conditions) {
        Some(at) => wrong(format!("runs[{at}].condition"), "conditions", conditions),
        None => Ok(()),
    }
}

/// The session and what follows from it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Whole<'a> {
    #[serde(flatten)]
    session: &'a BenchSession,
    /// Rounds of measured conditions that were done.
    rounds: u32,
    /// Rounds beyond the planned ones, added after a look at the data.
    extended_rounds: u32,
    /// First rounds that were taken for a warm-up.
    warmup_rounds: u32,
    /// A result for each condition, in their order.
    results: Vec<ResultKeys<'a>>,
    /// Conditions against each other.
    comparisons: &'a [Comparison],
    /// Conditions against themselves.
    noise_floors: &'a [NoiseFloor],
    /// The largest effect that this session can't decide; null where no condition differs from itself.
    undecidable_below: Option<f64>,
    /// What cold runs paid for.
    cold_warm: &'a [ColdWarm],
    /// What one command did to files and another did not.
    io_differences: &'a [IoDifference],
    /// How the session compares with the baseline that was named; null where none was.
    baseline: Option<&'a BaselineComparison>,
    /// What a reader has to know before believing a number.
    warnings: Vec<Warning>,
}

impl<'a> Whole<'a> {
    fn of(summary: &'a BenchSummary) -> Self {
        Self {
            session: &summary.session,
            rounds: summary.rounds,
            extended_rounds: summary.extended_rounds,
            warmup_rounds: summary.warmup_rounds,
            results: ResultKeys::all(summary),
            comparisons: &summary.comparisons,
            noise_floors: &summary.noise_floors,
            undecidable_below: summary.undecidable_below,
            cold_warm: &summary.cold_warm,
            io_differences: &summary.io_differences,
            baseline: summary.baseline.as_ref(),
            warnings: summary.labelled_warnings(),
        }
    }
}
