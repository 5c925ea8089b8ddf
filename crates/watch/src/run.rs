//! A command under the sensor.

use std::time::{Instant, SystemTime};

use hotset_facts::{Command, Dev, Environment, ExitStatus, Observed, Profile, Reason, Target};
use hotset_lab::Invocation;
use hotset_observe::{Observation, ObserveError, Options, Scope, Session};
use hotset_sys::child::{Ended, Signals, Usage};

use crate::children::{observe, observe_sites, start};
use crate::fallback::run_with;
use crate::sites::counting;
use crate::{RunError, Say};

/// How a command is run under the sensor.
#[derive(Debug, Clone, Copy)]
pub struct RunOptions {
    /// Rows (a process and a file) that are counted apart.
    pub max_rows: u32,
    /// Files that keep a row of their own; the rest is summed up.
    pub files: u32,
    /// The sensor's build for older kernels.
    pub compat: bool,
    /// Find the code that asks.
    pub sites: bool,
    /// Tell what hotset itself does.
    pub verbose: bool,
    /// Hears what is to be told while the command runs.
    pub say: Say,
}

/// Runs a command under the sensor; without the sensor where it can't be had.
///
/// # Errors
/// Where the command did not run, or ran without leaving a report.
pub fn run(program: &Invocation, options: &RunOptions) -> Result<(Profile, ExitStatus), RunError> {
    let signals = Signals::hold().map_err(RunError::Signals)?;
    let &RunOptions { max_rows, files, compat, sites, verbose, say } = options;
    let files = files as usize;
    let begun = Instant::now();
    let session = match Session::start(Options {
        max_rows,
        files,
        compat,
        record: sites.then(counting::options),
        ..Options::new(Scope::Children)
    }) {
        Ok(session) => session,
        Err(error) => {
            if verbose {
                say(&hotset_observe::loader_words());
            }
            return run_with(program, &with_advice(&error), &signals);
        }
    };
    if verbose {
        let took_ms = begun.elapsed().as_millis();
        // Something, if a build was refused and a simpler one was not.
        let words = hotset_observe::loader_words();
        if !words.is_empty() {
            say(&words);
        }
        say(&format_args!("the sensor was loaded and attached in {took_ms} ms"));
    }
    let started_at = SystemTime::now();
    let begin = || start(program);
    let (ended, observation, asked) = if sites {
        observe_sites(session, Some(&signals), say, begin, &mut || false)?
    } else {
        let (ended, observation) = observe(session, Some(&signals), say, begin)?;
        (ended, observation, None)
    };
    let command = observed_command(program, &ended, &observation);
    let profile = Profile { sites: asked, ..assemble(started_at, command, observation) };
    Ok((profile, ended.exit))
}

/// The kernel takes the memory of whoever started a program for the program's first: a figure no larger than our own peak may
/// be ours.
fn own_rss_excluded(max_rss_bytes: u64) -> Observed<u64> {
    match hotset_sys::child::own_peak_rss_bytes() {
        Some(own) if max_rss_bytes <= own => Observed::Missing(Reason::not_measured(
            "no more than hotset's own memory, which the kernel counts in",
        )),
        _ => Observed::Value(max_rss_bytes),
    }
}

/// The command's own part of a profile.
pub(crate) fn command(program: &Invocation, ended: &Ended) -> Command {
    let Usage { user_ns, system_ns, max_rss_bytes, .. } = ended.usage;
    Command {
        target: Target::Command,
        argv: program.argv.clone(),
        exit: Observed::Value(ended.exit),
        wall_ns: hotset_facts::units::nanos(ended.wall),
        user_ns: Observed::Value(user_ns),
        system_ns: Observed::Value(system_ns),
        max_rss_bytes: own_rss_excluded(max_rss_bytes),
        still_running: 0,
    }
}

pub(crate) fn observed_command(
    program: &Invocation,
    ended: &Ended,
    observation: &Observation,
) -> Command {
    let processes = observation.processes.iter();
    let running = processes.filter(|process| process.exit.value().is_none()).count();
    Command { still_running: running.try_into().unwrap_or(u32::MAX), ..command(program, ended) }
}

/// Puts the parts of a profile together.
pub(crate) fn assemble(
    started_at: SystemTime,
    command: Command,
    observation: Observation,
) -> Profile {
    Profile {
        started_at,
        environment: environment(&observation),
        command,
        sensor: observation.sensor,
        totals: observation.totals,
        files: observation.files,
        processes: observation.processes,
        lookups: observation.lookups,
        sites: None,
    }
}

/// The host, with the file systems that were touched.
pub(crate) fn environment(observation: &Observation) -> Environment {
    let mut devices: Vec<Dev> = observation.files.iter().map(|file| file.id.dev).collect();
    devices.sort_unstable();
    devices.dedup();
    hotset_sys::environment(&devices, &observation.subvolumes)
}

fn with_advice(error: &ObserveError) -> String {
    let advice = if error.has_advice() { "" } else { "; `hotset doctor` says what would help" };
    format!("{error}{advice}")
}
