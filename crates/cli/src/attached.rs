//! Observing what already runs.

use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use hotset_facts::{Command, ExitStatus, Observed, Pid, Profile, Reason, Target};
use hotset_observe::{DRAIN_INTERVAL, Options, Session};
use hotset_sys::child::Signals;
use hotset_sys::proc::cmdline;

use crate::args::AttachArgs;
use crate::live::{Waiter, Waiting, Woken};
use crate::output;
use crate::runner;
use crate::scoped::{Scoped, family};

const NOT_OURS: Reason =
    Reason::not_measured("an attached session sees a part of the process's life");

/// Observes until the duration, Ctrl-C, or the end of the process.
pub(crate) fn observe(args: &AttachArgs) -> Result<Profile> {
    let signals = Signals::hold().context("signals can't be held back")?;
    let target = target(args);
    let scoped = Scoped::new(args.pid, args.cgroup.as_deref())?;
    let options = Options { max_rows: args.max_rows, ..Options::new(scoped.scope) };
    let mut session = Session::start(options)?;
    if let Some(pid) = args.pid {
        // Those that were forked while the sensor was being attached.
        session.add_processes(&family(pid)?)?;
    }
    if !args.output.quiet && args.duration.is_none() {
        output::say("observing; Ctrl-C ends it");
    }
    let started_at = SystemTime::now();
    let mut waiter = Waiting::new(&signals).until_end_of(scoped.pidfd.as_ref());
    let argv = args.pid.and_then(|pid| cmdline::of(pid).ok().flatten()).unwrap_or_default();
    watch(&mut session, &mut waiter, args.duration)?;
    let wall_ns = hotset_facts::units::nanos(waiter.now());
    let observation = session.finish()?;
    let exit = exit_of(args.pid, &observation.processes);
    let command = Command {
        target,
        argv,
        exit,
        wall_ns,
        user_ns: Observed::Missing(NOT_OURS),
        system_ns: Observed::Missing(NOT_OURS),
        max_rss_bytes: Observed::Missing(NOT_OURS),
        still_running: 0,
    };
    Ok(runner::assemble(started_at, command, observation))
}

fn exit_of(pid: Option<Pid>, processes: &[hotset_facts::ProcessRow]) -> Observed<ExitStatus> {
    processes
        .iter()
        .find(|process| Some(process.pid) == pid)
        .map_or(Observed::Missing(NOT_OURS), |process| process.exit)
}

fn target(args: &AttachArgs) -> Target {
    match (&args.pid, &args.cgroup) {
        (Some(pid), _) => Target::Pid { pid: *pid },
        (None, Some(path)) => Target::Cgroup { path: path.clone() },
        (None, None) => Target::System,
    }
}

/// Drains until the duration is over, the process has ended, or a signal comes.
fn watch(
    session: &mut Session,
    waiter: &mut Waiting<'_>,
    duration: Option<Duration>,
) -> Result<()> {
    loop {
        let left = duration.map(|duration| duration.saturating_sub(waiter.now()));
        if left == Some(Duration::ZERO) {
            return Ok(());
        }
        let at_most = left.map_or(DRAIN_INTERVAL, |left| left.min(DRAIN_INTERVAL));
        let woken = waiter.wait(at_most, Some(session.readable()))?;
        session.drain()?;
        if let Woken::End(_) = woken {
            return Ok(());
        }
    }
}
