//! The experiments one after the other, each in a fresh directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use hotset_experiments::{AfterRun, Experiment, plan_of, present};
use hotset_facts::{LabSession, LabSize};
use hotset_lab::experiment::{
    Bench, CallCounter, ExperimentError, Place, Scratch, require_room, run_experiment,
};
use hotset_lab::{Invocation, Order, SessionLock, Waiting};
use hotset_view::lab::LabResult;

use super::asked::{check, experiments, request};
use super::sensor::Sensor;
use super::watcher::Line;
use crate::args::LabArgs;
use crate::exit::Exit;
use crate::plan::check_destination;
use crate::{interrupt, output};

/// How often a sample that doesn't count is made again in its round.
const MAX_REPEATS: u32 = 2;

/// Why there is no result.
struct Failure(Exit, String);

impl Failure {
    fn own(why: impl std::fmt::Display) -> Self {
        Self(Exit::Failure, why.to_string())
    }
}

/// Does what was asked, and says how it ended.
pub(crate) fn lab(args: &LabArgs) -> Exit {
    match measured(args) {
        Ok(exit) => exit,
        Err(Failure(exit, why)) => {
            output::say(why);
            exit
        }
    }
}

fn measured(args: &LabArgs) -> Result<Exit, Failure> {
    let experiments = experiments(args);
    check(args, &experiments).map_err(|why| Failure(Exit::Usage, why))?;
    check_outputs(args)?;
    let stop = interrupt::stop_flag();
    let Some(_lock) = lock(stop)? else { return Ok(interrupt::exit()) };
    let seed = args.amount.seed.unwrap_or_else(|| Order::fresh_seed() >> 40);
    let mut results: Vec<LabResult> = Vec::new();
    let mut failed = false;
    for experiment in experiments {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        match one(args, experiment, seed, stop)
            .and_then(|session| present(session).map_err(Failure::own))
        {
            Ok(result) => {
                output::lab_table(&result, &args.output);
                results.push(result);
            }
            // The others may still be possible, and what was measured is not lost.
            Err(Failure(exit, why)) if results.is_empty() && args.experiments.len() == 1 => {
                if args.experiments.first().is_none_or(|name| name != "all") {
                    return Err(Failure(exit, why));
                }
                output::say(why);
                failed = true;
            }
            Err(Failure(_, why)) => {
                output::say(why);
                failed = true;
            }
        }
    }
    let written = output::lab_files(&results, &args.output);
    Ok(match stop.load(Ordering::Relaxed) {
        true => interrupt::exit(),
        false if failed || !written => Exit::Failure,
        false => Exit::Success,
    })
}

fn check_outputs(args: &LabArgs) -> Result<(), Failure> {
    let named = [&args.output.json, &args.output.html].into_iter().flatten();
    let named: Vec<&Path> = named.map(|path| path.as_path()).collect();
    if named.iter().filter(|path| **path == Path::new("-")).count() > 1 {
        let why = "both --json and --html go to standard output".to_owned();
        return Err(Failure(Exit::Usage, why));
    }
    for path in named {
        check_destination(path).map_err(|error| Failure::own(format_args!("{error:#}")))?;
    }
    Ok(())
}

fn lock(stop: &AtomicBool) -> Result<Option<SessionLock>, Failure> {
    let mut waits = |waiting: Waiting| {
        let who = waiting.pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
        output::say(format_args!("waiting for another bench or lab of this user to end{who}"));
    };
    SessionLock::take(stop, &mut waits).map_err(Failure::own)
}

/// The words that run a native probe, before its job. The binary that runs now, whatever its name points to meanwhile.
fn native() -> Result<Vec<OsString>, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::own(format_args!("can't find this program itself: {error}")))?;
    Ok(vec![own.into_os_string(), "lab-probe".into()])
}

fn one(
    args: &LabArgs,
    experiment: &dyn Experiment,
    seed: u64,
    stop: &AtomicBool,
) -> Result<LabSession, Failure> {
    let native = native()?;
    let mut sweeper = native.clone();
    sweeper.push("sweep".into());
    let scratch = Scratch::make(args.amount.dir.as_deref(), &sweeper).map_err(Failure::own)?;
    let place = Place::look(scratch.directory()).map_err(Failure::own)?;
    let free = place.free_bytes;
    let request = request(args, place.clone());
    let plan = plan_of(experiment, &request).map_err(|error| Failure(Exit::Usage, error.0))?;
    require_room(scratch.directory(), plan.needs_bytes(), free).map_err(Failure::own)?;
    let counts = !args.amount.no_bpf && request.size != LabSize::Quick;
    let mut count = |invocation: &Invocation, files: &[PathBuf]| {
        experiment.count_calls(&mut Sensor, invocation, files)
    };
    let mut line = Line::new(args.output.quiet);
    let bench = Bench {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        place,
        native: native.clone(),
        seed,
        max_repeats: MAX_REPEATS,
        counter: counts.then_some(&mut count as &mut CallCounter<'_>),
        watcher: &mut line,
        stop,
    };
    let ran = run_experiment(plan, bench);
    line.clear();
    let mut session = ran.map_err(|error: ExperimentError| {
        Failure::own(format_args!("lab {}: {error}", experiment.name()))
    })?;
    let mut sensor = Sensor;
    let sensor =
        (!args.amount.no_bpf).then_some(&mut sensor as &mut dyn hotset_lab::experiment::Sensor);
    experiment
        .after(&mut session, &mut AfterRun { request: &request, native: &native, sensor, stop });
    Ok(session)
}
