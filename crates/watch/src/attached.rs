//! Observing what already runs.

use std::os::fd::BorrowedFd;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use hotset_facts::{Command, ExitStatus, NotMeasured, Observed, Pid, Profile, Reason, Target};
use hotset_observe::{DRAIN_INTERVAL, Options, Session};
use hotset_sys::child::Signals;
use hotset_sys::proc::cmdline;

use crate::Say;
use crate::interval::{Drained, Ticker, Waiter, Waiting, wait_until_due};
use crate::run::assemble;
use crate::scoped::{Scoped, family};
use crate::sites::counting;
use crate::who::Who;

const NOT_OURS: Reason =
    Reason::not_measured("an attached session sees a part of the process's life");

/// What is observed, and for how long.
#[derive(Debug, Clone)]
pub struct AttachOptions {
    /// A process with its children, a control group, or the host.
    pub who: Who,
    /// Without it, until a signal or the end of the process.
    pub duration: Option<Duration>,
    /// Rows (a process and a file) that are counted apart.
    pub max_rows: u32,
    /// Files that keep a row of their own; the rest is summed up.
    pub files: u32,
    /// Find the code that asks.
    pub sites: bool,
    /// Hears what is to be told while it observes.
    pub say: Say,
}

/// Observes until the duration is over, a signal comes, or the process ends; calls `begun` once it observes,
/// with what its own memory disturbs.
///
/// # Errors
/// Where who is to be observed can't be found, or the sensor can't be had.
pub fn attach(
    options: &AttachOptions,
    begun: impl FnOnce(Option<&NotMeasured>),
) -> Result<Profile> {
    let signals = Signals::hold().context("signals can't be held back")?;
    let &AttachOptions { duration, max_rows, files, sites, say, .. } = options;
    let pid = options.who.pid;
    let files = files as usize;
    let scoped = Scoped::new(&options.who)?;
    let record = sites.then(counting::options);
    let mut session =
        Session::start(Options { max_rows, files, record, ..Options::new(scoped.scope) })?;
    if let Some(pid) = pid {
        // Those that were forked while the sensor was being attached.
        session.add_processes(&family(pid)?)?;
    }
    begun(session.limited());
    let started_at = SystemTime::now();
    let mut waiter = Waiting::new(&signals).until_end_of(scoped.pidfd.as_ref());
    let argv = pid.and_then(|pid| cmdline::of(pid).ok().flatten()).unwrap_or_default();
    let end = Ticker::new(waiter.now(), duration.unwrap_or(Duration::MAX));
    let (wall_ns, observation, asked) = if sites {
        let mut recorder = counting::start(session, say)?;
        wait_until_due(&mut recorder, &mut waiter, &end)?;
        let wall_ns = hotset_facts::units::nanos(waiter.now());
        let (observation, asked) = counting::finish(recorder)?;
        (wall_ns, observation, asked)
    } else {
        wait_until_due(&mut session, &mut waiter, &end)?;
        (hotset_facts::units::nanos(waiter.now()), session.finish()?, None)
    };
    let exit = exit_of(pid, &observation.processes);
    let command = Command {
        target: target(&options.who),
        argv,
        exit,
        wall_ns,
        user_ns: Observed::Missing(NOT_OURS),
        system_ns: Observed::Missing(NOT_OURS),
        max_rss_bytes: Observed::Missing(NOT_OURS),
        still_running: 0,
    };
    Ok(Profile { sites: asked, ..assemble(started_at, command, observation) })
}

pub(crate) fn exit_of(
    pid: Option<Pid>,
    processes: &[hotset_facts::ProcessRow],
) -> Observed<ExitStatus> {
    processes
        .iter()
        .find(|process| Some(process.pid) == pid)
        .map_or(Observed::Missing(NOT_OURS), |process| process.exit)
}

pub(crate) fn target(who: &Who) -> Target {
    match (who.pid, &who.cgroup) {
        (Some(pid), _) => Target::Pid { pid },
        (None, Some(path)) => Target::Cgroup { path: path.clone() },
        (None, None) => Target::System,
    }
}

impl Drained for Session {
    fn readable(&self) -> Option<BorrowedFd<'_>> {
        Some(self.readable())
    }

    fn drain_interval(&self) -> Duration {
        DRAIN_INTERVAL
    }

    fn drain(&mut self) -> Result<()> {
        Ok(self.drain()?)
    }
}
