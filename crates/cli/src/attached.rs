//! Observing what already runs.

use std::fs;
use std::io::ErrorKind;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail};
use hotset_facts::{Command, ExitStatus, Observed, Pid, Profile, Reason, Target};
use hotset_observe::{DRAIN_INTERVAL, Options, Scope, Session};
use hotset_sys::child::{self, Signals};
use hotset_sys::proc::{children, cmdline};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::args::AttachArgs;
use crate::output;
use crate::runner;

/// statfs(2)'s number for control groups of version 2 (include/uapi/linux/magic.h).
const CGROUP2_SUPER_MAGIC: u64 = 0x6367_7270;
const NOT_OURS: Reason =
    Reason::not_measured("an attached session sees a part of the process's life");

/// Observes until the duration, Ctrl-C, or the end of the process.
pub(crate) fn observe(args: &AttachArgs) -> Result<Profile> {
    let signals = Signals::hold().context("signals can't be held back")?;
    let target = target(args);
    // Opened before the sensor: a process that ends meanwhile still leaves its number to nobody else.
    let pidfd = args.pid.map(open_process).transpose()?;
    let options = Options { max_rows: args.max_rows, ..Options::new(scope(args)?) };
    let mut session = Session::start(options)?;
    if let Some(pid) = args.pid {
        // Those that were forked while the sensor was being attached.
        session.add_processes(&family(pid)?)?;
    }
    if !args.output.quiet && args.duration.is_none() {
        output::say("observing; Ctrl-C ends it");
    }
    let started_at = SystemTime::now();
    let begun = Instant::now();
    let argv = args.pid.and_then(|pid| cmdline::of(pid).ok().flatten()).unwrap_or_default();
    watch(&mut session, &signals, pidfd.as_ref(), args.duration, begun)?;
    let wall_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
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
        (Some(pid), _) => Target::Pid(*pid),
        (None, Some(path)) => Target::Cgroup(path.clone()),
        (None, None) => Target::System,
    }
}

fn scope(args: &AttachArgs) -> Result<Scope> {
    match (&args.pid, &args.cgroup) {
        (Some(pid), _) => Ok(Scope::Processes(family(*pid)?)),
        (None, Some(path)) => cgroup_scope(path),
        (None, None) => Ok(Scope::System),
    }
}

/// A descriptor of a program that runs; a kernel thread is refused.
pub(crate) fn open_process(pid: Pid) -> Result<OwnedFd> {
    let pidfd = child::pidfd(pid).with_context(|| format!("process {pid}"))?;
    if fs::read_link(format!("/proc/{pid}/exe"))
        .is_err_and(|error| error.kind() == ErrorKind::NotFound)
    {
        bail!("process {pid}: is a kernel thread or has ended; hotset observes programs");
    }
    Ok(pidfd)
}

/// A process and all below it.
pub(crate) fn family(pid: Pid) -> Result<Vec<Pid>> {
    let below = children::descendants(pid)?;
    Ok(std::iter::once(pid).chain(below.into_iter().map(|stat| stat.pid)).collect())
}

/// A group of version 2 is matched in the kernel; the processes of a version 1 group are listed now and followed.
pub(crate) fn cgroup_scope(path: &Path) -> Result<Scope> {
    let stat =
        rustix::fs::statfs(path).with_context(|| format!("control group {}", path.display()))?;
    if u64::try_from(stat.f_type).is_ok_and(|magic| magic == CGROUP2_SUPER_MAGIC) {
        return Ok(Scope::Cgroup(path.to_path_buf()));
    }
    let mut pids = Vec::new();
    collect_processes(path, &mut pids)?;
    if pids.is_empty() {
        bail!("control group {}: there is no process in it", path.display());
    }
    Ok(Scope::Processes(pids))
}

fn collect_processes(path: &Path, pids: &mut Vec<Pid>) -> Result<()> {
    let list = path.join("cgroup.procs");
    let text = fs::read_to_string(&list)
        .with_context(|| format!("{}: not a control group, which has this file", list.display()))?;
    pids.extend(text.lines().filter_map(|line| line.parse::<Pid>().ok()));
    for entry in fs::read_dir(path).with_context(|| path.display().to_string())?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect_processes(&entry.path(), pids)?;
        }
    }
    Ok(())
}

fn watch(
    session: &mut Session,
    signals: &Signals,
    pidfd: Option<&OwnedFd>,
    duration: Option<Duration>,
    begun: Instant,
) -> Result<()> {
    loop {
        let left = duration.map(|duration| duration.saturating_sub(begun.elapsed()));
        if left == Some(Duration::ZERO) {
            return Ok(());
        }
        let sleep = left.map_or(DRAIN_INTERVAL, |left| left.min(DRAIN_INTERVAL));
        let ended = {
            let ring = session.readable();
            let mut fds =
                vec![PollFd::new(signals, PollFlags::IN), PollFd::new(&ring, PollFlags::IN)];
            if let Some(pidfd) = pidfd {
                fds.push(PollFd::from_borrowed_fd(pidfd.as_fd(), PollFlags::IN));
            }
            match poll(&mut fds, Timespec::try_from(sleep).ok().as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {
                    fds.get(2).is_some_and(|fd| !fd.revents().is_empty())
                }
                Err(error) => bail!("waiting: {error}"),
            }
        };
        session.drain()?;
        if ended || signals.next().is_some() {
            return Ok(());
        }
    }
}
