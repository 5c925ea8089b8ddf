//! `check --init`: a budget from what a command does now.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::Ordering;

use anyhow::Context;
use hotset_analysis::Summary;
use hotset_analysis::check::propose;
use hotset_analysis::diff::Side;
use hotset_budget::{NewCheck, write};
use hotset_facts::budget::{Check, Limits, Words};
use hotset_facts::units::plural;
use hotset_facts::{ExitStatus, WantedState};
use hotset_watch::{CheckOptions, CheckedRun, Checker};

use super::attempts::{TIMEOUT, files_of};
use super::checker;
use super::judged::summary_of;
use super::planned::planned;
use crate::args::CheckArgs;
use crate::destination::check_destination;
use crate::exit::{Exit, OrExit, Stop};
use crate::lock::lock;
use crate::{interrupt, output};

/// Runs the command, and prints a check for it.
pub(super) fn init(args: &CheckArgs) -> Result<Exit, Stop> {
    let asked = &args.init;
    let words = texts(&asked.command)?;
    if let Some(baseline) = &asked.baseline {
        make_directory_of(baseline).or_exit(Exit::Own)?;
        check_destination(baseline).or_exit(Exit::Own)?;
    }
    let name = asked.name.clone().unwrap_or_else(|| name_of(&words));
    let check = new_check(&name, &words, asked.state);
    let plan = planned(&check, Path::new(".")).map_err(Stop::not_runnable)?;
    let stop = interrupt::stop_flag();
    let Some(_lock) = lock(stop).or_exit(Exit::Own)? else { return Ok(interrupt::exit()) };
    let mut checker = checker(args);
    if let Some(why) = checker.refused() {
        output::say(format_args!(
            "without the sensor, only lookups, opens, processes, device bytes and residency can be limited: {why}"
        ));
    }
    let options = CheckOptions { state: asked.state, timeout: TIMEOUT, stop };
    // Also where no state is set: what its first run makes is there for those that count.
    let place = Path::new(".");
    let mut files = files_of(&plan, asked.state, &[], place, &mut checker, &options)
        .map_err(|error| Stop::new(Exit::Failure, error))?;
    if asked.state == WantedState::AsIs {
        one(&mut checker, |checker| checker.run(&plan, &mut files, &options))?;
    }
    let mut summaries: Vec<Summary> = Vec::new();
    for _ in 0..asked.runs {
        let run = one(&mut checker, |checker| checker.run(&plan, &mut files, &options))?;
        if stop.load(Ordering::Relaxed) {
            return Ok(interrupt::exit());
        }
        summaries.push(summary_of(&run, hotset_sys::costs::table()));
    }
    if let (Some(file), Some(last)) = (&asked.baseline, summaries.last()) {
        output::profile(last, file).or_exit(Exit::Own)?;
    }
    let sides: Vec<Side> = summaries.iter().map(Side::of_summary).collect();
    let proposal = propose(&sides, asked.state);
    let text = write(&NewCheck {
        name: &name,
        command: &words,
        state: asked.state,
        baseline: asked.baseline.as_deref(),
        runs: summaries.len(),
        proposal: &proposal,
        remarks: &remarks(&summaries, &checker),
    });
    output::print(text.as_bytes())?;
    Ok(Exit::Success)
}

/// Makes the directory that a file is to be in.
pub(super) fn make_directory_of(file: &Path) -> anyhow::Result<()> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let Some(parent) = parent else { return Ok(()) };
    std::fs::create_dir_all(parent).with_context(|| parent.display().to_string())
}

/// A run that a budget can be made of.
fn one(
    checker: &mut Checker,
    run: impl FnOnce(&mut Checker) -> Result<CheckedRun, hotset_watch::CheckError>,
) -> Result<CheckedRun, Stop> {
    let run = run(checker).map_err(|error| Stop::new(Exit::Failure, error))?;
    match (run.killed, run.exit) {
        (Some(hotset_watch::Killed::Interrupted), _) => {
            Err(Stop::new(interrupt::exit(), "interrupted"))
        }
        (Some(hotset_watch::Killed::TimedOut), _) => {
            Err(Stop::new(Exit::Failure, "the command did not end within ten minutes"))
        }
        (None, ExitStatus::Code(0)) => Ok(run),
        (None, exit) => {
            let words = hotset_view::bench::failure("the command", exit, &run.tail);
            Err(Stop::new(Exit::Failure, words.trim_end()))
        }
    }
}

fn new_check(name: &str, words: &[String], state: WantedState) -> Check {
    Check {
        name: name.to_owned(),
        command: Words::List(words.to_vec()),
        env: std::collections::BTreeMap::new(),
        directory: None,
        state,
        files: Vec::new(),
        prepare: None,
        output: None,
        timeout: None,
        retries: None,
        exit_code: 0,
        baseline: None,
        forbid: Vec::new(),
        limits: Limits::default(),
        file: Vec::new(),
        process: Vec::new(),
    }
}

/// TOML has no other words.
fn texts(words: &[OsString]) -> Result<Vec<String>, Stop> {
    let text = |word: &OsString| {
        word.clone().into_string().map_err(|word| {
            Stop::usage(format_args!("{}: is not UTF-8, which TOML needs", word.display()))
        })
    };
    words.iter().map(text).collect()
}

fn name_of(words: &[String]) -> String {
    let first = words.first().map(String::as_str).unwrap_or_default();
    let name = Path::new(first).file_name().and_then(|name| name.to_str());
    name.unwrap_or(first).to_owned()
}

/// What a reader should know of the runs.
fn remarks(summaries: &[Summary], checker: &Checker) -> Vec<String> {
    let mut remarks: Vec<String> = counted_by(checker).into_iter().collect();
    let left = summaries.iter().map(|run| run.profile.command.still_running).max().unwrap_or(0);
    let left = u64::from(left);
    if left > 0 {
        let processes = plural(left, "process");
        remarks.push(format!(
            "{processes} still ran when the command ended: what they did later is not counted"
        ));
    }
    remarks
}

/// By what the numbers were counted, where that was not the sensor.
fn counted_by(checker: &Checker) -> Option<String> {
    let why = checker.refused()?;
    Some(match checker.untraceable() {
        None => format!(
            "counted without the sensor ({why}): lookups, opens and processes by tracing, device bytes by rusage"
        ),
        Some(trace) => format!(
            "counted without the sensor ({why}) and without tracing ({trace}): device bytes by rusage, and no lookups"
        ),
    })
}
