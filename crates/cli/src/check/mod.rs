//! `hotset check`: commands beside a budget.

mod attempts;
mod found;
mod init;
mod judged;
mod planned;
mod update;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use hotset_analysis::check::{CheckOutcome, CheckReport};
use hotset_facts::budget::Check;
use hotset_watch::Checker;

use crate::args::CheckArgs;
use crate::destination::check_destinations;
use crate::exit::{Exit, OrExit, Stop};
use crate::lock::lock;
use crate::{interrupt, output};

use attempts::{Ran, run_check};
use found::Found;

/// Files of a run that keep rows of their own: as many as a profile names.
const FILES: u32 = hotset_observe::DEFAULT_FILES;

/// Does what was asked.
pub(crate) fn check(args: &CheckArgs) -> Result<Exit, Stop> {
    if args.init.init {
        return init::init(args);
    }
    let found = found::find(args.file.as_deref())?;
    let checks = chosen(&found, &args.names)?;
    check_outputs(args, &found)?;
    let stop = interrupt::stop_flag();
    let Some(_lock) = lock(stop).or_exit(Exit::Own)? else { return Ok(interrupt::exit()) };
    let mut checker = checker(args);
    let (results, rans) = run_all(&found, &checks, args.retries, &mut checker, stop)?;
    let interrupted = stop.load(Ordering::Relaxed);
    let report = CheckReport {
        path: found.path.clone(),
        environment: hotset_sys::environment(&[], &[]),
        no_sensor: checker.refused().map(str::to_owned),
        no_trace: checker.untraceable().map(str::to_owned),
        interrupted,
        checks: results,
    };
    let written = output::check(&report, args);
    if args.update && !interrupted {
        update::update(&found, &report, &rans)?;
    }
    Ok(match (interrupted, written) {
        (true, _) => interrupt::exit(),
        (false, false) => Exit::Own,
        (false, true) if fails(&report, args.update) => Exit::Failure,
        (false, true) => Exit::Success,
    })
}

/// Limits that were just updated are no failure; a command that does not work is.
fn fails(report: &CheckReport, updated: bool) -> bool {
    report.count(|outcome| outcome.fails() && !(updated && outcome == CheckOutcome::Failed)) > 0
}

/// The sensor, once for all commands.
fn checker(args: &CheckArgs) -> Checker {
    let no_sensor = args.no_bpf.then(|| "--no-bpf was given".to_owned());
    Checker::start(no_sensor, FILES, args.sites, |message| output::say(message))
}

type All = (Vec<hotset_analysis::check::CheckResult>, Vec<Option<Ran>>);

fn run_all(
    found: &Found,
    checks: &[&Check],
    retries: u32,
    checker: &mut Checker,
    stop: &AtomicBool,
) -> Result<All, Stop> {
    let (mut results, mut rans) = (Vec::new(), Vec::new());
    for check in checks {
        let baseline = found::baseline(found, check)?;
        let (result, ran) = run_check(found, check, baseline.as_ref(), retries, checker, stop);
        if stop.load(Ordering::Relaxed) {
            break;
        }
        results.push(result);
        rans.push(ran);
    }
    Ok((results, rans))
}

/// The checks of these names, in the order of the budget; all without names.
fn chosen<'a>(found: &'a Found, names: &[String]) -> Result<Vec<&'a Check>, Stop> {
    let checks = &found.budget.checks;
    for name in names {
        if !checks.iter().any(|check| check.name == *name) {
            let all: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
            return Err(Stop::usage(format_args!(
                "{}: there is no check \"{name}\"; expected {}",
                found.path.display(),
                all.join(", ")
            )));
        }
    }
    let names: HashSet<&str> = names.iter().map(String::as_str).collect();
    let is_chosen = |check: &&Check| names.is_empty() || names.contains(check.name.as_str());
    Ok(checks.iter().filter(is_chosen).collect())
}

fn check_outputs(args: &CheckArgs, found: &Found) -> Result<(), Stop> {
    let stdout = PathBuf::from("-");
    let files = [&args.json, &args.junit, &args.tap].into_iter().flatten();
    let printed = args.github.then_some(&stdout);
    let twice = "more than one result goes to standard output";
    check_destinations(files.clone().chain(printed), twice, Exit::Own)?;
    let baselines = found.budget.checks.iter().filter_map(|check| check.baseline.as_deref());
    let baselines = baselines.map(|file| found.directory.join(file));
    for read in std::iter::once(found.path.clone()).chain(baselines) {
        not_read(files.clone(), &read)?;
    }
    Ok(())
}

fn not_read<'a>(mut files: impl Iterator<Item = &'a PathBuf>, read: &Path) -> Result<(), Stop> {
    let same = |file: &&PathBuf| {
        let real = std::fs::canonicalize(file);
        real.is_ok() && real.ok() == std::fs::canonicalize(read).ok()
    };
    match files.find(same) {
        None => Ok(()),
        Some(file) => Err(Stop::usage(format_args!(
            "{}: is read, and the result would replace it; give the result a file of its own",
            file.display()
        ))),
    }
}
