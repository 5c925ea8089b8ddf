//! A command under the sensor.

use std::time::{Instant, SystemTime};

use hotset_facts::{Command, Dev, ExitStatus, Observed, Profile, Reason, Target};
use hotset_lab::Invocation;
use hotset_observe::{Observation, Options, Scope, Session};
use hotset_sys::child::{Ended, Signals, Usage};

use crate::exit::{Exit, OrExit, Stop};
use crate::{fallback, output, supervise};

/// A profile and the exit code.
pub(crate) type Finished = Result<(Profile, Exit), Stop>;

/// Runs a command under the sensor; without the sensor where it can't be had.
pub(crate) fn run(program: &Invocation, max_rows: u32, compat: bool, verbose: bool) -> Finished {
    let signals = hold_signals()?;
    let begun = Instant::now();
    let options = Options { max_rows, compat, ..Options::new(Scope::Children) };
    let mut session = match Session::start(options) {
        Ok(session) => session,
        Err(error) => {
            if verbose {
                output::say(hotset_observe::loader_words());
            }
            return fallback::run_with(program, &error.to_string(), error.is_denied(), &signals);
        }
    };
    if verbose {
        output::say(format_args!(
            "the sensor was loaded and attached in {} ms",
            begun.elapsed().as_millis()
        ));
    }
    let started_at = SystemTime::now();
    let running = session.following_children(|| supervise::start(program)).or_exit(Exit::Own)??;
    let ended = supervise::stay_observed(&mut session, running, Some(&signals))
        .map_err(|error| Stop::own(format_args!("waiting for the command: {error}")))?;
    let exit = ExitStatus::from_wait_status(ended.usage.wait_status);
    match session.finish() {
        Ok(observation) => {
            Ok((profile(program, started_at, &ended, observation), Exit::Command(exit)))
        }
        Err(error) => {
            output::say(format_args!("there is no report: {error}"));
            Err(Stop::new(Exit::Command(exit), "the command itself ended as its exit code says"))
        }
    }
}

/// Holds back the signals that are to reach the command.
pub(crate) fn hold_signals() -> Result<Signals, Stop> {
    Signals::hold().map_err(|error| Stop::own(format_args!("signals can't be held back: {error}")))
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
    let Usage { wait_status, user_ns, system_ns, max_rss_bytes, .. } = ended.usage;
    Command {
        target: Target::Command,
        argv: program.argv.clone(),
        exit: Observed::Value(ExitStatus::from_wait_status(wait_status)),
        wall_ns: hotset_facts::units::nanos(ended.wall),
        user_ns: Observed::Value(user_ns),
        system_ns: Observed::Value(system_ns),
        max_rss_bytes: own_rss_excluded(max_rss_bytes),
        still_running: 0,
    }
}

fn profile(
    program: &Invocation,
    started_at: SystemTime,
    ended: &Ended,
    observation: Observation,
) -> Profile {
    let mut command = command(program, ended);
    command.still_running = observation
        .processes
        .iter()
        .filter(|process| process.exit.value().is_none())
        .count()
        .try_into()
        .unwrap_or(u32::MAX);
    assemble(started_at, command, observation)
}

/// Puts the parts of a profile together.
pub(crate) fn assemble(
    started_at: SystemTime,
    command: Command,
    observation: Observation,
) -> Profile {
    let mut devices: Vec<Dev> = observation.files.iter().map(|file| file.id.dev).collect();
    devices.sort_unstable();
    devices.dedup();
    Profile {
        started_at,
        environment: hotset_sys::environment(&devices),
        command,
        sensor: observation.sensor,
        totals: observation.totals,
        files: observation.files,
        processes: observation.processes,
        lookups: observation.lookups,
    }
}
