//! A run under the sensor, to learn a command's files.

use hotset_facts::{LearnedIo, Observed, WantedState};
use hotset_lab::{CommandPlan, from_rows};
use hotset_observe::{ObserveError, Options, Scope, Session};

use super::{LearnError, Seen};
use crate::children::observe;
use crate::{RunError, Say};

/// Runs the command once. The inner error says that the sensor gave nothing: it could not be had, and the command did not run;
/// or the command ran, and what was counted could not be read.
pub(super) fn run(
    plan: &CommandPlan,
    say: Say,
    prepare: impl FnOnce() -> Result<WantedState, LearnError>,
) -> Result<Result<Seen, ObserveError>, LearnError> {
    let session = match Session::start(Options::new(Scope::Children)) {
        Ok(session) => session,
        Err(error) => return Ok(Err(error)),
    };
    let mut command = plan.ready()?;
    // The state is set last: loading the sensor takes longer than some hosts leave idle pages alone.
    let state = prepare()?;
    let (ended, observation) = match observe(session, None, say, || command.start()) {
        Ok(ran) => ran,
        Err(RunError::Sensor(error) | RunError::Report { error, .. }) => return Ok(Err(error)),
        Err(RunError::Start(error)) => return Err(plan.not_started(error).into()),
        Err(error) => return Err(error.into()),
    };
    let lost = observation.sensor.losses.events + observation.sensor.losses.of_counts();
    let name = &plan.command.name;
    let note =
        format!("the sensor lost {lost} events while learning {name}: --show-files may lack some");
    let candidates = from_rows(&observation.files);
    let learned = LearnedIo {
        state,
        wall_ns: hotset_facts::units::nanos(ended.wall),
        totals: observation.totals,
        files: observation.files,
    };
    Ok(Ok(Seen {
        candidates,
        io: Observed::Value(learned),
        exit: ended.exit,
        tail: command.tail(),
        wall: ended.wall,
        notes: if lost > 0 { vec![note] } else { Vec::new() },
    }))
}
