//! A run under the sensor, to learn a command's files.

use std::time::Instant;

use hotset_facts::{ExitStatus, LearnedIo, Observed, WantedState};
use hotset_lab::{Command, from_rows};
use hotset_observe::{ObserveError, Options, Scope, Session};
use hotset_sys::child::Running;

use super::commands::Planned;
use super::learn::Seen;
use crate::exit::Stop;
use crate::supervise::stay_observed;

/// Runs the command once. The inner error says that there is no sensor; the command did not run then.
pub(super) fn run(
    planned: &Planned,
    prepare: impl FnOnce() -> Result<WantedState, Stop>,
) -> Result<Result<Seen, ObserveError>, Stop> {
    let mut session = match Session::start(Options::new(Scope::Children)) {
        Ok(session) => session,
        Err(error) => return Ok(Err(error)),
    };
    let mut command = Command::new(&planned.invocation, &planned.streams).map_err(Stop::own)?;
    // The state is set last: loading the sensor takes longer than some hosts leave idle pages alone.
    let state = prepare()?;
    let started = Instant::now();
    let pid = match session.following_children(|| command.start()) {
        Ok(started) => started.map_err(|error| super::learn::not_started(planned, &error))?,
        Err(error) => return Ok(Err(error)),
    };
    let ended = stay_observed(&mut session, Running { pid, started }, None)
        .map_err(|error| Stop::own(format_args!("waiting for the command: {error}")))?;
    let observation = match session.finish() {
        Ok(observation) => observation,
        Err(error) => return Ok(Err(error)),
    };
    let lost = observation.sensor.events_lost + observation.sensor.entries_lost;
    let notes = (lost > 0).then(|| {
        format!(
            "the sensor lost {lost} events while learning {}: --show-files may lack some",
            planned.command.name
        )
    });
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
        exit: ExitStatus::from_wait_status(ended.usage.wait_status),
        tail: command.tail(),
        wall: ended.wall,
        notes: notes.into_iter().collect(),
    }))
}
