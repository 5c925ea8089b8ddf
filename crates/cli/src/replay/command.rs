//! `hotset replay`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use hotset_analysis::replay::summarise_replay;
use hotset_facts::replay::{ReplaySession, ReplayState};
use hotset_replay::changes::all;
use hotset_view::replay::{ChangeEntry, render_changes};

use super::session::{change, plan_of, refuse_of_others, replays};
use crate::args::ReplayArgs;
use crate::destination::check_destinations;
use crate::exit::{Exit, OrExit, Stop};
use crate::lock::lock;
use crate::{interrupt, output};

/// Replays a recording.
pub(crate) fn replay(args: &ReplayArgs) -> Result<Exit, Stop> {
    let Some(trace) = &args.trace else {
        output::print(change_list(args).as_bytes())?;
        return Ok(Exit::Success);
    };
    let files = [&args.json, &args.html].into_iter().flatten();
    check_destinations(files, "both --json and --html go to standard output", Exit::Failure)?;
    refuse_of_others(&args.how, trace)?;
    let stop = interrupt::stop_flag();
    let Some(_lock) = lock(stop).or_exit(Exit::Failure)? else { return Ok(interrupt::exit()) };
    let Some(session) = session(args, trace, stop)? else { return Ok(interrupt::exit()) };
    let summary = summarise_replay(session);
    let written = output::replay(&summary, args);
    Ok(match stop.load(Ordering::Relaxed) {
        true => interrupt::exit(),
        false if !written => Exit::Failure,
        false => Exit::Success,
    })
}

/// Nothing where `stop` was set before there was anything to replay.
fn session(
    args: &ReplayArgs,
    trace: &Path,
    stop: &AtomicBool,
) -> Result<Option<ReplaySession>, Stop> {
    let recording = plan_of(&args.how, trace, stop).or_exit(Exit::Failure)?;
    let Some(recording) = recording else { return Ok(None) };
    let changed = (!args.changes.is_empty())
        .then(|| change(&args.how, &recording.plan, &args.changes))
        .transpose()
        .map_err(|error| Stop::new(Exit::Failure, format_args!("{}: {error}", trace.display())))?;
    let states = match args.states.as_slice() {
        [] => vec![ReplayState::Recorded],
        states => states.to_vec(),
    };
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let changed = changed.into_iter().collect();
    replays(&args.how, trace, recording, changed, states, args.quiet, stop).map(Some)
}

/// All changes, each with what a programmer would do and risk.
fn change_list(args: &ReplayArgs) -> String {
    let options = output::stdout_options(args.look);
    let entries = all().iter().map(|change| ChangeEntry {
        name: change.to_string(),
        summary: change.summary,
        programmer: change.programmer,
        risks: change.risks,
    });
    render_changes(entries, &options)
}
