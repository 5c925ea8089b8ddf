//! Replays of a recording, as it is and with changes.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use hotset_facts::replay::{ReplayChange, ReplayPattern, ReplaySession, ReplayState};
use hotset_facts::trace::TraceHead;
use hotset_lab::Order;
use hotset_lab::experiment::{Place, Scratch, default_directories};
use hotset_lab::replay::{
    ReplayBench, ReplayProgress, ReplaySource, Replays, device_order, directory_for,
};
use hotset_replay::changes::{Applied, Asked, ChangeError, Changed, apply_ordered};
use hotset_replay::{PlanBuilder, ReplayPlan, pattern};
use hotset_trace::Columns;

use crate::args::ReplayHowArgs;
use crate::commands::{each_batch_until, open_trace};
use crate::exit::{Exit, OrExit, Stop};
use crate::lab::{REPLAY, native};
use crate::output::StatusLine;

/// The line on the terminal changes no more often than this.
const LINE_INTERVAL: Duration = Duration::from_millis(100);

/// A recording, ready to be replayed.
pub(super) struct Recording {
    pub(super) plan: ReplayPlan,
    pub(super) head: TraceHead,
    pub(super) gaps: u64,
}

/// A changed plan.
pub(super) struct Variant {
    changes: Vec<ReplayChange>,
    pattern: Option<ReplayPattern>,
    plan: ReplayPlan,
}

impl Variant {
    /// What changes made of the plan of the recording as it is.
    pub(super) fn of(recorded: &ReplayPlan, changed: Changed) -> Self {
        Self {
            changes: made(&changed),
            pattern: pattern(recorded, &changed.plan),
            plan: changed.plan,
        }
    }

    /// Whether these changes make it, in this order.
    pub(super) fn makes(&self, changes: &[String]) -> bool {
        self.changes.iter().map(|change| &change.change).eq(changes)
    }
}

/// As root, a recording opens whatever it names: of somebody else's, that is asked for.
pub(super) fn refuse_of_others(args: &ReplayHowArgs, trace: &Path) -> Result<(), Stop> {
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

/// A trace, and the plan of it; nothing where `stop` was set first.
pub(super) fn plan_of(
    args: &ReplayHowArgs,
    path: &Path,
    stop: &AtomicBool,
) -> Result<Option<Recording>> {
    let reader = open_trace(path)?;
    let mut builder = PlanBuilder::new(reader.lists());
    if args.scratch.is_some() {
        builder = builder.all_on_copies();
    }
    each_batch_until(stop, path, &reader, Columns::ALL, |batch| builder.add(batch))?;
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let gaps = reader.lists().gaps.len() as u64;
    Ok(Some(Recording { plan: builder.finish(), head: reader.head().clone(), gaps }))
}

/// Replays a recording as it is and changed, in rounds.
pub(super) fn replays(
    args: &ReplayHowArgs,
    trace: &Path,
    recording: Recording,
    changed: Vec<Variant>,
    states: Vec<ReplayState>,
    is_quiet: bool,
    stop: &AtomicBool,
) -> Result<ReplaySession, Stop> {
    let Recording { plan, head, gaps } = recording;
    let root = root(args).or_exit(Exit::Failure)?;
    let native = native()?;
    let words = |job: &str| -> Vec<OsString> {
        native.iter().cloned().chain([OsString::from(job)]).collect()
    };
    let named = args.scratch.clone().or(args.dir.clone());
    let dir = named.or_else(|| directory_for(&plan, &default_directories()));
    let scratch = Scratch::make(dir.as_deref(), &words("sweep")).or_exit(Exit::Failure)?;
    let place = Place::look(scratch.directory()).or_exit(Exit::Failure)?;
    let mut line = StatusLine::new(!is_quiet, LINE_INTERVAL);
    let mut progress = |progress: ReplayProgress| {
        line.show(|| format!("replay {} of up to {}", progress.done, progress.all));
    };
    let bench = ReplayBench {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        trace: trace.to_owned(),
        memory_limit_bytes: limit_of(args, &head),
        head,
        gaps,
        program: words(REPLAY).into_iter().chain(root.clone().map(Into::into)).collect(),
        source: source(args, root),
        directory: scratch.directory(),
        free_bytes: place.free_bytes,
        states,
        rounds: args.rounds,
        budget: args.budget,
        seed: args.seed.unwrap_or_else(|| Order::fresh_seed() >> 40),
        progress: &mut progress,
        stop,
    };
    let replays = Replays::new(bench).and_then(|mut replays| {
        replays.add(Vec::new(), None, plan)?;
        changed.into_iter().try_for_each(|one| replays.add(one.changes, one.pattern, one.plan))?;
        replays.run()
    });
    line.clear();
    replays.with_context(|| trace.display().to_string()).or_exit(Exit::Failure)
}

/// Where files are looked up. The process that replays has another working directory.
fn root(args: &ReplayHowArgs) -> io::Result<Option<PathBuf>> {
    args.root.as_ref().map(std::path::absolute).transpose()
}

fn source(args: &ReplayHowArgs, root: Option<PathBuf>) -> ReplaySource {
    match (&args.scratch, root) {
        (Some(_), _) => ReplaySource::Nowhere,
        (None, root) => ReplaySource::Below(root.unwrap_or_else(|| "/".into())),
    }
}

/// The plan with changes.
///
/// # Errors
/// Where a change finds nothing to change.
pub(super) fn change(
    args: &ReplayHowArgs,
    plan: &ReplayPlan,
    asked: &[Asked],
) -> Result<Variant, ChangeError> {
    // Without a root there is no file that has a place.
    let order = |plan: &ReplayPlan| match root(args) {
        Ok(root) => device_order(plan, &source(args, root)),
        Err(_) => Vec::new(),
    };
    let changed = apply_ordered(plan, asked, &order)?;
    Ok(Variant::of(plan, changed))
}

/// The limit that was around the recording, where it is not around this process too.
fn limit_of(args: &ReplayHowArgs, head: &TraceHead) -> Option<u64> {
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
