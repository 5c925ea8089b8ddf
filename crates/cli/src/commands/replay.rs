//! `hotset replay`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use hotset_analysis::replay::summarise_replay;
use hotset_facts::replay::{ReplayChange, ReplaySession, ReplayState};
use hotset_facts::trace::TraceHead;
use hotset_lab::Order;
use hotset_lab::experiment::{Place, Scratch, default_directories};
use hotset_lab::replay::{ReplayBench, ReplayProgress, ReplaySource, Replays, directory_for};
use hotset_replay::changes::{Applied, Changed, all, apply};
use hotset_replay::{PlanBuilder, ReplayPlan};
use hotset_trace::Columns;
use hotset_view::replay::{ChangeEntry, render_changes};

use super::trace_batches::each_batch;
use crate::args::ReplayArgs;
use crate::destination::check_destination;
use crate::exit::{Exit, OrExit, Stop};
use crate::lab::{REPLAY, native};
use crate::lock::lock;
use crate::output::StatusLine;
use crate::{interrupt, output};

/// The line on the terminal changes no more often than this.
const LINE_INTERVAL: Duration = Duration::from_millis(100);

/// Replays a recording.
pub(super) fn replay(args: &ReplayArgs) -> Result<Exit, Stop> {
    let Some(trace) = &args.trace else {
        output::print(change_list(args).as_bytes())?;
        return Ok(Exit::Success);
    };
    if let Some(json) = &args.json {
        check_destination(json).or_exit(Exit::Failure)?;
    }
    refuse_of_others(args, trace)?;
    let stop = interrupt::stop_flag();
    let Some(_lock) = lock(stop).or_exit(Exit::Failure)? else { return Ok(interrupt::exit()) };
    let summary = summarise_replay(session(args, trace, stop)?);
    let written = output::replay(&summary, args);
    Ok(match stop.load(Ordering::Relaxed) {
        true => interrupt::exit(),
        false if !written => Exit::Failure,
        false => Exit::Success,
    })
}

/// As root, a recording opens whatever it names: of somebody else's, that is asked for.
fn refuse_of_others(args: &ReplayArgs, trace: &Path) -> Result<(), Stop> {
    let own = rustix::process::geteuid().as_raw();
    let asked_by = std::env::var("SUDO_UID").ok().and_then(|uid| uid.parse().ok()).unwrap_or(own);
    let Ok(owner) = fs::metadata(trace).map(|there| there.uid()) else { return Ok(()) };
    let is_elsewhere = args.root.is_some() || args.scratch.is_some();
    if own != 0 || is_elsewhere || args.trust || owner == own || owner == asked_by {
        return Ok(());
    }
    Err(Stop::usage(format_args!(
        "{}: belongs to user {owner}; as root, a replay opens every file that it names: use --trust to replay it all the same, \
         --root to look its files up elsewhere, or --scratch to create them",
        trace.display()
    )))
}

/// The plan of a trace, what the trace says of itself, and its gaps.
fn plan_of(args: &ReplayArgs, path: &Path) -> Result<(ReplayPlan, TraceHead, u64)> {
    let reader = super::trace::open(path)?;
    let mut builder = PlanBuilder::new(reader.lists());
    if args.scratch.is_some() {
        builder = builder.all_on_copies();
    }
    each_batch(path, &reader, Columns::ALL, |batch| builder.add(batch))?;
    Ok((builder.finish(), reader.head().clone(), reader.lists().gaps.len() as u64))
}

fn session(args: &ReplayArgs, trace: &Path, stop: &AtomicBool) -> Result<ReplaySession, Stop> {
    let (plan, head, gaps) = plan_of(args, trace).or_exit(Exit::Failure)?;
    let changed = (!args.changes.is_empty()).then(|| apply(&plan, &args.changes)).transpose();
    let changed = changed
        .map_err(|error| Stop::new(Exit::Failure, format_args!("{}: {error}", trace.display())))?;
    let native = native()?;
    let words = |job: &str| -> Vec<OsString> {
        native.iter().cloned().chain([OsString::from(job)]).collect()
    };
    let dir = args
        .scratch
        .clone()
        .or(args.dir.clone())
        .or_else(|| directory_for(&plan, &default_directories()));
    let scratch = Scratch::make(dir.as_deref(), &words("sweep")).or_exit(Exit::Failure)?;
    let place = Place::look(scratch.directory()).or_exit(Exit::Failure)?;
    let mut line = StatusLine::new(!args.quiet, LINE_INTERVAL);
    let mut progress = |progress: ReplayProgress| {
        line.show(|| format!("replay {} of up to {}", progress.done, progress.all));
    };
    let bench = ReplayBench {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        trace: trace.to_owned(),
        memory_limit_bytes: limit_of(args, &head),
        head,
        gaps,
        program: words(REPLAY).into_iter().chain(args.root.clone().map(Into::into)).collect(),
        source: match (&args.scratch, &args.root) {
            (Some(_), _) => ReplaySource::Nowhere,
            (None, root) => ReplaySource::Below(root.clone().unwrap_or_else(|| "/".into())),
        },
        directory: scratch.directory(),
        free_bytes: place.free_bytes,
        states: match args.states.as_slice() {
            [] => vec![ReplayState::Recorded],
            states => states.to_vec(),
        },
        rounds: args.rounds,
        budget: args.budget,
        seed: args.seed.unwrap_or_else(|| Order::fresh_seed() >> 40),
        progress: &mut progress,
        stop,
    };
    let replays = Replays::new(bench).and_then(|mut replays| {
        replays.add(Vec::new(), plan)?;
        if let Some(changed) = changed {
            replays.add(made(&changed), changed.plan)?;
        }
        replays.run()
    });
    line.clear();
    replays.with_context(|| trace.display().to_string()).or_exit(Exit::Failure)
}

/// The limit that was around the recording, where it is not around this process too.
fn limit_of(args: &ReplayArgs, head: &TraceHead) -> Option<u64> {
    let recorded = head.environment.as_ref()?.memory_limit_bytes?;
    let has_it = hotset_sys::cgroup::memory_limit_bytes() == Some(recorded);
    (!args.no_limit && !has_it).then_some(recorded)
}

/// What changes were made, as a session keeps it.
fn made(changed: &Changed) -> Vec<ReplayChange> {
    let change = |applied: &Applied| ReplayChange {
        change: applied.what.clone(),
        affected_steps: applied.affected,
        steps_before: applied.steps_before,
        steps_after: applied.steps_after,
    };
    changed.applied.iter().map(change).collect()
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
