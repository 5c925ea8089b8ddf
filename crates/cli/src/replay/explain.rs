//! `hotset explain`: findings of a recording, each replayed with its change.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use clap::Parser;
use hotset_analysis::explain::{
    Attempt, Explained, Explainer, Explanation, TraceFinding, explained,
};
use hotset_analysis::replay::summarise_replay;
use hotset_facts::replay::{ReplayPlan, ReplayState};
use hotset_facts::trace::{TraceHead, TraceLists};
use hotset_lab::experiment::Scratch;
use hotset_replay::PlanBuilder;
use hotset_replay::changes::{Asked, parse};
use hotset_trace::Columns;
use hotset_view::explain::ExplainedTrace;

use super::emit;
use super::room::Room;
use super::session::{Recording, Variant, change, refuse_of_others, replays};
use crate::args::{Cli, Command, ExplainArgs};
use crate::commands::{each_batch_until, open_trace, record};
use crate::destination::check_destinations;
use crate::exit::{Exit, OrExit, Stop};
use crate::lab::native;
use crate::lock::lock;
use crate::{interrupt, output};

/// What is explained.
struct Explaining {
    head: TraceHead,
    lists: TraceLists,
    explanation: Explanation,
    plan: ReplayPlan,
}

/// Explains a recording, or a command that is recorded first.
pub(crate) fn explain(args: &ExplainArgs) -> Result<Exit, Stop> {
    let files = [&args.json, &args.html].into_iter().flatten();
    check_destinations(files, "both --json and --html go to standard output", Exit::Failure)?;
    if let Some(directory) = &args.emit {
        emit::check(directory).or_exit(Exit::Usage)?;
    }
    let scratch;
    let trace = match &args.trace {
        Some(trace) => trace.clone(),
        None => {
            let sweeper = native()?.into_iter().chain(["sweep".into()]).collect::<Vec<_>>();
            scratch = Scratch::make(args.how.dir.as_deref(), &sweeper).or_exit(Exit::Failure)?;
            let kept = args.output.clone();
            let trace = kept.unwrap_or_else(|| scratch.directory().join("recording.parquet"));
            record_to(&trace, args)?;
            trace
        }
    };
    refuse_of_others(&args.how, &trace)?;
    let stop = interrupt::stop_flag();
    let explaining = read(&trace, args, stop).or_exit(Exit::Failure)?;
    let Some(explaining) = explaining else { return Ok(interrupt::exit()) };
    let Explaining { head, lists, explanation, plan } = explaining;
    let gaps = lists.gaps.len() as u64;
    let pages = if args.emit.is_some() { emit::pages(&plan) } else { Vec::new() };
    let recording = Recording { plan, head: head.clone(), gaps };
    let explained = prove(args, &trace, explanation, recording, stop)?;
    let is_kept = args.trace.is_some() || args.output.is_some();
    let kept = is_kept.then_some(trace.as_path());
    let shown = ExplainedTrace { path: kept, head: &head, lists: &lists, explained: &explained };
    let mut written = output::explained(&shown, args);
    if let Some(directory) = &args.emit
        && let Err(error) = emit::emit(directory, &shown, &pages)
    {
        output::say(format_args!("{error:#}"));
        written = false;
    }
    Ok(match stop.load(Ordering::Relaxed) {
        true => interrupt::exit(),
        false if !written => Exit::Failure,
        false => Exit::Success,
    })
}

/// Records the command, with call sites.
fn record_to(trace: &Path, args: &ExplainArgs) -> Result<(), Stop> {
    let options =
        ["hotset", "record", "-q", "--sites", "--lossless", "-o"].map(std::ffi::OsString::from);
    let words = options.into_iter().chain([trace.into(), "--".into()]);
    let words = words.chain(args.command.iter().cloned());
    let Command::Record(record_args) = Cli::try_parse_from(words).or_exit(Exit::Usage)?.command
    else {
        return Err(Stop::usage("the command cannot be recorded"));
    };
    match record(&record_args)? {
        Exit::Own => Err(Stop::new(Exit::Failure, "the recording was not written")),
        // How the command ended is its own matter: what it did until then is explained.
        _ => Ok(()),
    }
}

/// Reads a trace once, for the findings and for the plan; nothing where `stop` was set first.
fn read(trace: &Path, args: &ExplainArgs, stop: &AtomicBool) -> Result<Option<Explaining>> {
    let reader = open_trace(trace)?;
    let costs = hotset_sys::costs::table();
    let mut explainer = Explainer::new(reader.head(), reader.lists(), costs.as_value());
    let mut builder = PlanBuilder::new(reader.lists());
    if args.how.scratch.is_some() {
        builder = builder.all_on_copies();
    }
    each_batch_until(stop, trace, &reader, Columns::ALL, |batch| {
        explainer.add(batch);
        if !args.no_proof {
            builder.add(batch);
        }
    })?;
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    Ok(Some(Explaining {
        explanation: explainer.finish(),
        plan: builder.finish(),
        head: reader.head().clone(),
        lists: reader.lists().clone(),
    }))
}

/// Replays the recording with the changes of its findings, as far as the budget goes.
fn prove(
    args: &ExplainArgs,
    trace: &Path,
    explanation: Explanation,
    recording: Recording,
    stop: &AtomicBool,
) -> Result<Explained, Stop> {
    let mut variants = Vec::new();
    let mut room = Room::beside(&recording.plan, args.how.budget);
    let attempts = explanation.findings.iter();
    let attempts: Vec<Attempt> = attempts
        .map(|finding| attempt(args, finding, &recording.plan, &mut variants, &mut room))
        .collect();
    if variants.is_empty() {
        return Ok(explained(explanation, attempts, None));
    }
    let Some(_lock) = lock(stop).or_exit(Exit::Failure)? else {
        return Ok(explained(explanation, attempts, None));
    };
    let states = vec![ReplayState::Recorded];
    match replays(&args.how, trace, recording, variants, states, args.quiet, stop) {
        Ok(session) => Ok(explained(explanation, attempts, Some(summarise_replay(session)))),
        // The findings are worth having without proofs.
        Err(why) => {
            let failed = |attempt| match attempt {
                Attempt::Variant(_) => Attempt::Not(format!("the replay failed: {}", why.message)),
                not => not,
            };
            Ok(explained(explanation, attempts.into_iter().map(failed).collect(), None))
        }
    }
}

/// Makes the plan of a finding, where it has one.
fn attempt(
    args: &ExplainArgs,
    finding: &TraceFinding,
    plan: &ReplayPlan,
    variants: &mut Vec<Variant>,
    room: &mut Room,
) -> Attempt {
    if args.no_proof {
        return Attempt::Not("--no-proof was given".to_owned());
    }
    if let Some(why) = finding.unproved {
        return Attempt::Not(why.to_owned());
    }
    // Findings that one change answers are proved by one replay.
    let same = variants.iter().position(|variant| variant.makes(&finding.changes));
    if let Some(at) = same {
        return Attempt::Variant(at + 1);
    }
    let before = room.clone();
    if let Err(why) = room.take(finding.saving.low_ns) {
        return Attempt::Not(why.to_owned());
    }
    let asked: Result<Vec<Asked>, _> = finding.changes.iter().map(|change| parse(change)).collect();
    match asked.and_then(|asked| change(&args.how, plan, &asked)) {
        Ok(variant) => {
            variants.push(variant);
            Attempt::Variant(variants.len())
        }
        Err(error) => {
            *room = before;
            Attempt::Not(error.to_string())
        }
    }
}
