//! A traced run, to learn a command's files where there is no sensor.

use std::time::Instant;

use hotset_facts::{Observed, Reason, WantedState};
use hotset_lab::{CommandPlan, from_traced};
use hotset_sys::trace::{TraceError, files_opened};

use super::{LearnError, Seen};

/// Runs the command once. The inner error says that tracing is refused; the command did not run then.
pub(super) fn run(
    plan: &CommandPlan,
    prepare: impl FnOnce() -> Result<WantedState, LearnError>,
) -> Result<Result<Seen, TraceError>, LearnError> {
    prepare()?;
    let started = Instant::now();
    let (launch, tail) = plan.ready()?.into_launch();
    let ran = files_opened(launch);
    let wall = started.elapsed();
    let traced = match ran {
        Ok(traced) => traced,
        Err(TraceError::Execute(error)) => return Err(plan.not_started(error).into()),
        Err(refused) => return Ok(Err(refused)),
    };
    let mut notes = Vec::new();
    let name = &plan.command.name;
    if traced.files_left_out > 0 {
        notes.push(format!(
            "{name}: {} files beyond the first ones are left out",
            traced.files_left_out
        ));
    }
    if traced.still_running > 0 {
        notes.push(format!(
            "{name} left {} processes behind, which are traced until hotset ends and may disturb the runs; end them in the \
             command, or name its files with --files",
            traced.still_running
        ));
    }
    let unknown = Reason::denied("learned by tracing, which does not see how much is read");
    Ok(Ok(Seen {
        candidates: from_traced(&traced),
        io: Observed::Missing(unknown),
        exit: traced.exit,
        tail: tail.bytes(),
        wall,
        notes,
    }))
}
