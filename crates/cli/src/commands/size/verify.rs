//! `hotset size --verify`: runs under limits, beside what was predicted for them.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use hotset_analysis::size::{
    PAGE_BYTES, SizeAsked, SizeLimit, SizeSummary, VerifiedLimit, limits_to_verify, size_at,
};
use hotset_facts::trace::{TraceHead, TraceLists};
use hotset_facts::units::{bytes, duration};
use hotset_facts::{ExitStatus, FileKind, FileSet, LearnedBy, LimitedRun, WantedState};
use hotset_lab::shell::Shell;
use hotset_lab::{Candidate, Command, Invocation, Output, States, Streams, build, find_program};
use hotset_watch::{Limited, LimitedError, run_limited};

use super::{Read, read};
use crate::args::SizeArgs;
use crate::commands::{record_quietly, run};
use crate::exit::{Exit, OrExit, Stop};
use crate::lock::lock;
use crate::output;

/// Limits at most, where none is named.
const MOST_LIMITS: usize = 4;
/// A part of the recorded files' pages: with more cached, the recording does not tell what the device takes.
const CACHED: f64 = 0.01;
/// A run that takes longer than this, and than so many times the recording, is left out unless its limit is named.
const LONG_NS: u64 = 60_000_000_000;
const LONG_TIMES: u64 = 10;

/// What a run ends with that the user stops: SIGHUP, SIGINT and SIGTERM, and what a shell says of them.
const STOPPED: [ExitStatus; 6] = [
    ExitStatus::Signal(1),
    ExitStatus::Signal(2),
    ExitStatus::Signal(15),
    ExitStatus::Code(129),
    ExitStatus::Code(130),
    ExitStatus::Code(143),
];

/// What is verified.
pub(super) struct Sized<'a> {
    pub(super) trace: &'a Path,
    pub(super) lists: &'a TraceLists,
}

/// Says how often the command will run: what it changes, it changes each time.
pub(super) fn announce(args: &SizeArgs) {
    let limits = match args.limits.len() {
        0 => format!("each of at most {MOST_LIMITS} memory limits"),
        1 => "the memory limit".to_owned(),
        named => format!("each of {named} memory limits"),
    };
    output::say(format_args!(
        "the command will run once to be recorded, once more if its files are cached now, and once under {limits}"
    ));
}

/// Runs what is to run before each run.
pub(super) fn prepare(args: &SizeArgs) -> Result<(), Stop> {
    let Some(line) = &args.prepare else { return Ok(()) };
    let invocation = Shell::of_hooks().run(OsStr::new(line));
    let streams = Streams { output: Output::Tail, ..Streams::default() };
    let mut command = Command::new(&invocation, &streams).or_exit(Exit::Failure)?;
    let exit = command.run().or_exit(Exit::Failure)?.exit;
    if exit == ExitStatus::Code(0) {
        return Ok(());
    }
    let tail = command.tail();
    Err(Stop::new(
        Exit::Failure,
        format_args!(
            "--prepare {line}: failed; it must end with code 0: {}",
            String::from_utf8_lossy(&tail).trim()
        ),
    ))
}

/// Whether so much was cached when the recording began that it does not tell what the device takes.
pub(super) fn was_cached(lists: &TraceLists) -> bool {
    let files = lists.files.iter().filter(|file| file.kind == FileKind::Regular);
    let pages = |bytes: u64| bytes.div_ceil(PAGE_BYTES);
    let (cached, all) = files
        .filter_map(|file| Some((file.cached_pages?, pages(file.size_bytes?))))
        .fold((0, 0), |(cached, all), (more, pages)| (cached + more, all + pages));
    cached as f64 > all as f64 * CACHED
}

/// Evicts the files of a recording and records the command again; nothing where `stop` was set first.
pub(super) fn record_cold(
    args: &SizeArgs,
    trace: &Path,
    lists: &TraceLists,
    stop: &AtomicBool,
) -> Result<Option<Read>, Stop> {
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    if !args.quiet {
        output::say("its files were cached: recording it again from cold files");
    }
    prepare(args)?;
    let mut files = files(lists);
    States::default().reach(WantedState::Cold, &mut files, || ()).or_exit(Exit::Failure)?;
    record_quietly(trace, &[], true, &args.command)?;
    read(trace, args, &[], stop).or_exit(Exit::Failure)
}

/// Runs the command under each limit, and puts what was predicted beside it. Ends early, with what there is, when it is to stop.
pub(super) fn verify(
    args: &SizeArgs,
    sized: &Sized<'_>,
    summary: &SizeSummary,
    asked: &SizeAsked,
    stop: &AtomicBool,
) -> Result<Vec<VerifiedLimit>, Stop> {
    let limits = limits(args, sized, summary, asked)?;
    let search = std::env::var_os("PATH");
    let program = find_program(&args.command, search.as_deref()).map_err(Stop::not_runnable)?;
    let Some(_lock) = lock(stop).or_exit(Exit::Failure)? else { return Ok(Vec::new()) };
    let mut files = files(sized.lists);
    let mut runs: Vec<LimitedRun> = Vec::new();
    let mut stuck = Vec::new();
    for (at, limit) in limits.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        if !args.quiet {
            output::say(format_args!(
                "running under {} ({} of {})",
                bytes(*limit),
                at + 1,
                limits.len()
            ));
        }
        prepare(args)?;
        let limited = limited(&program, &mut files, *limit)?;
        if at == 0 {
            stuck = limited.stuck;
        }
        let exit = limited.run.exit;
        runs.push(limited.run);
        // Who stops a run does not want the next.
        if STOPPED.contains(&exit) {
            break;
        }
    }
    let read = read(sized.trace, args, &stuck, &AtomicBool::new(false)).or_exit(Exit::Failure)?;
    let Some(Read { head, collected, .. }) = read else { return Ok(Vec::new()) };
    let limits: Vec<u64> = runs.iter().map(|run| run.limit_bytes).collect();
    let predicted = size_at(&head, &collected, asked, &limits);
    let pairs = predicted.into_iter().zip(runs);
    Ok(pairs.map(|(predicted, run)| VerifiedLimit { predicted, run }).collect())
}

/// How the user stopped the command while it was recorded, if so: who does that does not want it to run again.
pub(super) fn stopped(head: &TraceHead) -> Option<ExitStatus> {
    let exit = head.command.as_ref()?.exit.value()?;
    STOPPED.contains(&exit).then_some(exit)
}

/// How the user stopped the last run, if so.
pub(super) fn last_stopped(verified: &[VerifiedLimit]) -> Option<ExitStatus> {
    verified.last().map(|last| last.run.exit).filter(|exit| STOPPED.contains(exit))
}

fn limited(program: &Invocation, files: &mut FileSet, limit: u64) -> Result<Limited, Stop> {
    run_limited(program, files, limit, |message| output::say(message)).map_err(
        |error| match error {
            LimitedError::Run(error) => run::stop(program, error).of_hotset(),
            other => Stop::new(Exit::Failure, other),
        },
    )
}

/// Which limits are tried: those that are named, else those that are worth a run and don't take too long.
fn limits(
    args: &SizeArgs,
    sized: &Sized<'_>,
    summary: &SizeSummary,
    asked: &SizeAsked,
) -> Result<Vec<u64>, Stop> {
    if !args.limits.is_empty() {
        return Ok(args.limits.clone());
    }
    let mut limits = limits_to_verify(summary);
    if limits.is_empty() {
        return Err(Stop::new(
            Exit::Failure,
            "no limit can be chosen: what the program holds beside its file cache was not measured; --other SIZE tells it",
        ));
    }
    limits.truncate(MOST_LIMITS);
    let read = read(sized.trace, args, &[], &AtomicBool::new(false)).or_exit(Exit::Failure)?;
    let Some(Read { head, collected, .. }) = read else { return Ok(limits) };
    let predicted = size_at(&head, &collected, asked, &limits);
    let longest = LONG_NS.max(summary.seen.span_ns.saturating_mul(LONG_TIMES));
    let is_short = |predicted: &SizeLimit| predicted.run_ns.is_none_or(|ns| ns <= longest);
    let mut kept = Vec::new();
    for (limit, predicted) in limits.into_iter().zip(&predicted) {
        if is_short(predicted) {
            kept.push(limit);
        } else {
            output::say(format_args!(
                "not run under {}: it would take about {}; --limit {limit} does",
                bytes(limit),
                duration(predicted.run_ns.unwrap_or(0))
            ));
        }
    }
    Ok(kept)
}

/// The files of a recording that are there.
fn files(lists: &TraceLists) -> FileSet {
    let files = lists.files.iter().filter(|file| file.kind == FileKind::Regular);
    let candidates: Vec<Candidate> = files
        .filter_map(|file| file.path.clone())
        .filter(|path| path.exists())
        .map(|path| Candidate { path, read: true, mapped: true, written: false })
        .collect();
    build(LearnedBy::Sensor, &candidates, None)
}
