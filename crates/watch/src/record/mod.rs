//! A recording: every request of a command, or of what already runs, in a file.

mod lacks;
mod place;
mod writing;

use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use hotset_facts::trace::{TraceHead, TraceSource};
use hotset_facts::{Command, ExitStatus, NotMeasured, Observed, Pid, Profile, Reason, Target};
use hotset_lab::Invocation;
use hotset_observe::{
    DRAIN_INTERVAL, Observation, ObserveError, Options, RecordLosses, Scope, Session,
};
use hotset_sys::cgroup::Group;
use hotset_sys::child::{Signals, supervise};
use hotset_sys::proc::cmdline;

use crate::attached::{exit_of, target};
use crate::children::start;
use crate::interval::{Ticker, Waiter, Waiting, wait_until_due};
use crate::recording::{Finished, Recorder, Whose};
use crate::run::{assemble, environment, observed_command};
use crate::scoped::{Scoped, family};
use crate::sites::Namer;
use crate::{RunError, Say, Who};

use writing::WrittenParts;

pub use place::{part_path, parts_of};
pub use writing::{JoinedTrace, WriteTraceError, Written, join_parts};

const NOT_ENDED: Reason = Reason::not_measured("the recording was stopped before it ended");
const NOT_OURS: Reason =
    Reason::not_measured("a recording of what already runs sees a part of the process's life");

/// How to record.
#[derive(Debug, Clone, Copy)]
pub struct RecordOptions<'a> {
    /// The file of the trace.
    pub trace: &'a Path,
    /// The version of hotset, for the trace.
    pub version: &'a str,
    /// What the sensor sends.
    pub records: hotset_observe::RecordOptions,
    /// Rows (a process and a file) that are counted apart.
    pub max_rows: u32,
    /// Hears what is to be told while it records.
    pub say: Say,
}

/// What came of a recording.
#[derive(Debug)]
pub struct Recorded {
    /// What was counted beside.
    pub profile: Profile,
    /// The trace, or why there is none, or not all of it.
    pub written: Result<Written, WriteTraceError>,
    /// What found no room.
    pub losses: RecordLosses,
}

/// Records a command from its first instant to its end.
///
/// # Errors
/// Where the command did not run, or ran without leaving counts. That the trace could not be written is no error here.
pub fn record(
    program: &Invocation,
    options: &RecordOptions<'_>,
) -> Result<(Recorded, ExitStatus), RunError> {
    let signals = Signals::hold().map_err(RunError::Signals)?;
    let session = session(Scope::Children, options).map_err(RunError::Sensor)?;
    if let Some(limited) = session.limited() {
        (options.say)(limited);
    }
    let started_at = SystemTime::now();
    let head =
        head(options.version, started_at, Some(unended(Target::Command, program.argv.clone())));
    let namer = Namer::new(session.chains().map_err(RunError::Sensor)?);
    let writing =
        writing::start(options.trace, head.clone(), namer, options.say).map_err(RunError::Trace)?;
    let mut recorder = Recorder::new(session, writing, Whose::Children, options.say);
    let started = recorder.session.following_children(|| start(program));
    let running = started.map_err(RunError::Sensor)?.map_err(RunError::Start)?;
    let ended = supervise(running, Some(&signals), DRAIN_INTERVAL, &mut recorder);
    let ended = ended.map_err(RunError::Wait)?;
    let exit = ended.exit;
    let command = |observation: &Observation| observed_command(program, &ended, observation);
    let finished = finish(recorder, head, command);
    let (observation, losses, written, command) =
        finished.map_err(|error| RunError::Report { exit, error })?;
    Ok((Recorded { profile: assemble(started_at, command, observation), written, losses }, exit))
}

/// Records who runs already until the duration is over, a signal comes, or the process ends; calls `begun` once it records, with
/// what its own memory disturbs.
///
/// # Errors
/// Where who is to be recorded can't be found, or the sensor or the trace can't be had.
pub fn record_running(
    who: &Who,
    duration: Option<Duration>,
    options: &RecordOptions<'_>,
    begun: impl FnOnce(Option<&NotMeasured>),
) -> Result<Recorded> {
    let signals = Signals::hold().context("signals can't be held back")?;
    let scoped = Scoped::new(who)?;
    let mut session = session(scoped.scope, options)?;
    if let Some(pid) = who.pid {
        // Those that were forked while the sensor was being attached.
        session.add_processes(&family(pid)?)?;
    }
    let argv = argv_of(who.pid);
    let started_at = SystemTime::now();
    let head = head(options.version, started_at, Some(unended(target(who), argv.clone())));
    let namer = Namer::new(session.chains()?);
    let writing = writing::start(options.trace, head.clone(), namer, options.say)?;
    begun(session.limited());
    let whose = whose(scoped.pid, scoped.group.as_ref());
    let mut recorder = Recorder::new(session, writing, whose, options.say);
    let mut waiter = Waiting::new(&signals).until_end_of(scoped.pidfd.as_ref());
    let end = Ticker::new(waiter.now(), duration.unwrap_or(Duration::MAX));
    wait_until_due(&mut recorder, &mut waiter, &end)?;
    let wall_ns = hotset_facts::units::nanos(waiter.now());
    let finished = finish(recorder, head, |observation| Command {
        exit: exit_of(who.pid, &observation.processes),
        wall_ns,
        ..unended(target(who), argv)
    });
    let (observation, losses, written, command) = finished?;
    Ok(Recorded { profile: assemble(started_at, command, observation), written, losses })
}

/// Whose memory is looked at.
pub(crate) fn whose(pid: Option<Pid>, group: Option<&Group>) -> Whose {
    match (pid, group) {
        (Some(pid), _) => Whose::Family(pid),
        (None, Some(group)) => Whose::Group(group.clone()),
        (None, None) => Whose::Nobody,
    }
}

/// The head of what is seen of who runs already, in another way than by records.
pub(crate) fn running_head(who: &Who, version: &str, started_at: SystemTime) -> TraceHead {
    head(version, started_at, Some(unended(target(who), argv_of(who.pid))))
}

fn argv_of(pid: Option<Pid>) -> Vec<std::ffi::OsString> {
    pid.and_then(|pid| cmdline::of(pid).ok().flatten()).unwrap_or_default()
}

fn session(scope: Scope, options: &RecordOptions<'_>) -> Result<Session, ObserveError> {
    let record = Some(options.records);
    Session::start(Options { max_rows: options.max_rows, record, ..Options::new(scope) })
}

fn head(version: &str, started_at: SystemTime, command: Option<Command>) -> TraceHead {
    TraceHead {
        hotset: version.to_owned(),
        source: TraceSource::Recorded,
        started_at: Some(started_at),
        environment: Some(hotset_sys::environment(&[], &[])),
        command,
        cost: None,
        memory: None,
        memory_steps: Vec::new(),
        reclaim: Some(hotset_sys::reclaim()),
        not_measured: Vec::new(),
        lacks: Vec::new(),
    }
}

fn unended(target: Target, argv: Vec<std::ffi::OsString>) -> Command {
    Command {
        target,
        argv,
        exit: Observed::Missing(NOT_ENDED),
        wall_ns: 0,
        user_ns: Observed::Missing(NOT_OURS),
        system_ns: Observed::Missing(NOT_OURS),
        max_rss_bytes: Observed::Missing(NOT_OURS),
        still_running: 0,
    }
}

type Ended = (Observation, RecordLosses, Result<Written, WriteTraceError>, Command);

/// Ends a recording, and its trace.
fn finish(
    recorder: Recorder<WrittenParts>,
    mut head: TraceHead,
    command: impl FnOnce(&Observation) -> Command,
) -> Result<Ended, ObserveError> {
    let Finished { observation, losses, cost, memory, memory_steps, pipe, last } =
        recorder.finish()?;
    (head.cost, head.memory, head.memory_steps) = (cost, memory, memory_steps);
    head.environment = Some(environment(&observation));
    let command = command(&observation);
    head.command = Some(command.clone());
    head.not_measured.clone_from(&observation.sensor.not_measured);
    head.lacks = lacks::of_sensor(&observation.sensor.losses);
    let written = writing::finish(pipe, last, head, losses, command.wall_ns);
    Ok((observation, losses, written, command))
}
