//! A traced run, to learn a command's files where there is no sensor.

use hotset_facts::{Observed, Reason, WantedState};
use hotset_lab::{CommandPlan, LabError, from_traced};
use hotset_sys::trace::{TraceError, Traced, files_opened};

use super::Seen;

/// Runs the command once; where it is `enough`, it is killed. The inner error says that tracing is refused; the command did not run then.
pub(super) fn run<E: From<LabError>>(
    plan: &CommandPlan,
    prepare: impl FnOnce() -> Result<WantedState, E>,
    enough: &mut dyn FnMut() -> bool,
) -> Result<Result<Seen, TraceError>, E> {
    prepare()?;
    let (launch, tail) = plan.ready()?.into_launch();
    let ran = files_opened(launch, enough);
    let traced = match ran {
        Ok(traced) => traced,
        Err(TraceError::Execute(error)) => return Err(plan.not_started(error).into()),
        Err(refused) => return Ok(Err(refused)),
    };
    let unknown = Reason::denied("learned by tracing, which does not see how much is read");
    Ok(Ok(Seen {
        candidates: from_traced(&traced),
        io: Observed::Missing(unknown),
        exit: traced.exit,
        tail: tail.bytes(),
        wall: traced.wall,
        notes: notes(&plan.command.name, &traced),
    }))
}

/// What may be missing or in the way.
fn notes(name: &str, traced: &Traced) -> Vec<String> {
    let mut notes = Vec::new();
    if traced.files_left_out > 0 {
        notes.push(format!(
            "{name}: {} files beyond the first ones are left out",
            traced.files_left_out
        ));
    }
    if traced.still_running > 0 {
        notes.push(format!(
            "{name} left {} processes behind, which are traced until hotset ends and may disturb the runs; end them in the \
             command, or name its files",
            traced.still_running
        ));
    }
    notes
}
