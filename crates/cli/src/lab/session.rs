//! The experiments one after the other, each in a fresh directory.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hotset_experiments::{AfterRun, Experiment, plan_of, present};
use hotset_facts::units::nanos;
use hotset_facts::{LabSession, LabSize, OtherPrograms};
use hotset_lab::experiment::{
    Bench, CallCounter, ExperimentError, Place, Scratch, ScratchError, Sensor, require_room,
    run_experiment,
};
use hotset_lab::{Invocation, Order};
use hotset_sys::CpuUse;
use hotset_view::lab::LabResult;
use hotset_watch::LabSensor;

use super::asked::{check, experiments, request};
use super::baseline::Baselines;
use crate::args::LabArgs;
use crate::destination::check_destinations;
use crate::exit::{Exit, OrExit, Stop};
use crate::lock::lock;
use crate::output::StatusLine;
use crate::{interrupt, output};

/// The line on the terminal changes no more often than this.
const LINE_INTERVAL: Duration = Duration::from_millis(100);
/// How often a sample that doesn't count is made again in its round.
const MAX_REPEATS: u32 = 2;
/// On a busy host most samples may not count, and `--quick` is to be quick.
const QUICK_REPEATS: Duration = Duration::from_secs(20);

/// Does what was asked, and says how it ended.
pub(crate) fn lab(args: &LabArgs) -> Result<Exit, Stop> {
    let experiments = experiments(args);
    check(args, &experiments).or_exit(Exit::Usage)?;
    let files = [&args.output.json, &args.output.html].into_iter().flatten();
    check_destinations(files, "both --json and --html go to standard output", Exit::Failure)?;
    for experiment in &experiments {
        if let Some(kept) = kept(args, experiment).filter(|kept| kept.symlink_metadata().is_ok()) {
            let exists = std::io::ErrorKind::AlreadyExists.into();
            return Err(ScratchError::Keep { directory: kept, error: exists }).or_exit(Exit::Usage);
        }
    }
    let mut baselines = Baselines::prepare(args, &experiments).map_err(Stop::of_hotset)?;
    let stop = interrupt::stop_flag();
    let Some(_lock) = lock(stop).or_exit(Exit::Failure)? else { return Ok(interrupt::exit()) };
    let seed = args.amount.seed.unwrap_or_else(|| Order::fresh_seed() >> 40);
    let mut results: Vec<LabResult> = Vec::new();
    let mut failed = false;
    for experiment in experiments {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let done = one(args, experiment, seed, stop, &baselines)
            .and_then(|(session, others)| Ok((present(session).or_exit(Exit::Failure)?, others)));
        match done {
            Ok((mut result, others)) => {
                baselines.take(&mut result, others);
                failed |= !output::lab_table(&result, &args.output);
                results.push(result);
            }
            // The others may still be possible, and what was measured is not lost.
            Err(why) if results.is_empty() && is_one(args) => return Err(why),
            Err(why) => {
                output::say(why.message);
                failed = true;
            }
        }
    }
    let written = output::lab_files(&results, &args.output);
    if stop.load(Ordering::Relaxed) {
        baselines.say_not_saved("it was interrupted");
        return Ok(interrupt::exit());
    }
    if failed || !written {
        baselines.say_not_saved("something failed");
        return Ok(Exit::Failure);
    }
    baselines.finish(&results, args.output.quiet).map_err(Stop::of_hotset)
}

/// Where the files of an experiment are to stay, if they are.
fn kept(args: &LabArgs, experiment: &Experiment) -> Option<PathBuf> {
    args.amount.keep.as_ref().map(|directory| directory.join(experiment.name))
}

/// Whether one experiment was asked for, by its name.
fn is_one(args: &LabArgs) -> bool {
    matches!(args.experiments.as_slice(), [name] if name != "all")
}

/// The words that run a native probe, before its job. The binary that runs now, whatever its name points to meanwhile.
pub(crate) fn native() -> Result<Vec<OsString>, Stop> {
    let own = std::env::current_exe().map_err(|error| {
        Stop::new(Exit::Failure, format_args!("can't find this program itself: {error}"))
    })?;
    Ok(vec![own.into_os_string(), "lab-probe".into()])
}

fn one(
    args: &LabArgs,
    experiment: &Experiment,
    seed: u64,
    stop: &AtomicBool,
    baselines: &Baselines<'_>,
) -> Result<(LabSession, OtherPrograms), Stop> {
    let began = Instant::now();
    let native = native()?;
    let mut sweeper = native.clone();
    sweeper.push("sweep".into());
    let scratch = match kept(args, experiment) {
        Some(directory) => Scratch::keep(&directory),
        None => Scratch::make(args.amount.dir.as_deref(), &sweeper),
    };
    let scratch = scratch.or_exit(Exit::Failure)?;
    let place = Place::look(scratch.directory()).or_exit(Exit::Failure)?;
    baselines.check_place(experiment.name, &place.filesystem).map_err(Stop::of_hotset)?;
    let free = place.free_bytes;
    let request = request(args, place.clone());
    let plan = plan_of(experiment, &request).map_err(Stop::usage)?;
    require_room(scratch.directory(), plan.needs_bytes(), free).or_exit(Exit::Failure)?;
    let counts = !args.amount.no_bpf && request.size != LabSize::Quick;
    let mut sensor = LabSensor { say: |message| output::say(message) };
    let mut count = |invocation: &Invocation, files: &[PathBuf]| {
        (experiment.count_calls)(&mut sensor, invocation, files)
    };
    let mut line = StatusLine::new(!args.output.quiet, LINE_INTERVAL);
    let bench = Bench {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        place,
        native: native.clone(),
        seed,
        max_repeats: MAX_REPEATS,
        repeats_for: if request.size == LabSize::Quick { QUICK_REPEATS } else { Duration::MAX },
        counter: counts.then_some(&mut count as &mut CallCounter<'_>),
        watcher: &mut line,
        stop,
    };
    let started = CpuUse::now();
    let ran = run_experiment(plan, bench);
    let others = started.others();
    line.clear();
    let mut session = ran.map_err(|error: ExperimentError| {
        Stop::new(Exit::Failure, format_args!("lab {}: {error}", experiment.name))
    })?;
    let sensor = (!args.amount.no_bpf).then_some(&mut sensor as &mut dyn Sensor);
    if let Some(after) = experiment.after {
        let mut run = AfterRun { request: &request, native: &native, sensor, stop };
        after(&mut session, &mut run);
    }
    // With what goes before the rounds, such as compilers, and after them.
    session.took_ns = nanos(began.elapsed());
    if args.amount.keep.is_some() && !args.output.quiet {
        let directory = scratch.directory().display();
        output::say(format_args!("lab {}: its files are in {directory}", experiment.name));
    }
    Ok((session, others))
}
