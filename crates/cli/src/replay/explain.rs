//! `hotset explain`: findings of a recording, each replayed with its change.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use hotset_analysis::explain::{
    Attempt, Explained, Explainer, Explanation, TraceFinding, explained,
};
use hotset_analysis::replay::{NoClaim, summarise_replay};
use hotset_facts::PageRange;
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
use crate::args::ExplainArgs;
use crate::commands::{each_batch_until, open_trace, record_quietly};
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
    let stop = interrupt::stop_flag();
    // A recording of the command is here, unless it is kept.
    let scratch = match &args.trace {
        Some(_) => None,
        None => {
            let sweeper = native()?.into_iter().chain(["sweep".into()]).collect::<Vec<_>>();
            Some(Scratch::make(args.how.dir.as_deref(), &sweeper).or_exit(Exit::Failure)?)
        }
    };
    let mut attempt = 1;
    let told = loop {
        let trace = match (&args.trace, &scratch) {
            (None, Some(scratch)) => {
                let kept = args.output.clone();
                let trace = kept.unwrap_or_else(|| scratch.directory().join("recording.parquet"));
                record_quietly(&trace, &["--sites"], attempt > 1, &args.command)?;
                trace
            }
            (trace, _) => trace.clone().unwrap_or_default(),
        };
        let Some(told) = tell(args, trace, stop)? else { return Ok(interrupt::exit()) };
        match told.disturbed() {
            Some(why) if attempt < args.attempts && !stop.load(Ordering::Relaxed) => {
                output::say(format_args!(
                    "attempt {attempt} of {}: {why}; recording again",
                    args.attempts
                ));
                attempt += 1;
            }
            _ => break told,
        }
    };
    let written = show(args, &told);
    Ok(match stop.load(Ordering::Relaxed) {
        true => interrupt::exit(),
        false if !written => Exit::Failure,
        false => Exit::Success,
    })
}

/// What there is to say of a recording.
struct Told {
    trace: PathBuf,
    head: TraceHead,
    lists: TraceLists,
    explained: Explained,
    pages: Vec<(PathBuf, Vec<PageRange>)>,
}

impl Told {
    /// Why another recording might be proved although this one is not.
    fn disturbed(&self) -> Option<&'static str> {
        let no_claim = self.explained.replays.as_ref()?.fidelity.no_claim;
        let is_disturbed = |why: &NoClaim| matches!(why, NoClaim::Faster | NoClaim::Slower);
        no_claim.filter(is_disturbed).map(NoClaim::as_str)
    }
}

/// Explains a recording; nothing where `stop` was set before there was anything to say.
fn tell(args: &ExplainArgs, trace: PathBuf, stop: &AtomicBool) -> Result<Option<Told>, Stop> {
    refuse_of_others(&args.how, &trace)?;
    let explaining = read(&trace, args, stop).or_exit(Exit::Failure)?;
    let Some(Explaining { head, lists, explanation, plan }) = explaining else { return Ok(None) };
    let gaps = lists.gaps.len() as u64;
    let pages = if args.emit.is_some() { emit::pages(&plan) } else { Vec::new() };
    let recording = Recording { plan, head: head.clone(), gaps };
    let explained = prove(args, &trace, explanation, recording, stop)?;
    Ok(Some(Told { trace, head, lists, explained, pages }))
}

/// Prints and writes what was asked for; false where something could not be written, which is said.
fn show(args: &ExplainArgs, told: &Told) -> bool {
    let is_kept = args.trace.is_some() || args.output.is_some();
    let kept = is_kept.then_some(told.trace.as_path());
    let Told { head, lists, explained, .. } = told;
    let shown = ExplainedTrace { path: kept, head, lists, explained };
    let mut written = output::explained(&shown, args);
    if let Some(directory) = &args.emit
        && let Err(error) = emit::emit(directory, &shown, &told.pages)
    {
        output::say(format_args!("{error:#}"));
        written = false;
    }
    written
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
