//! Who is watched: the host, a process with its children, or a control group.

use std::fs;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;

use anyhow::{Context, Result, bail};
use hotset_facts::Pid;
use hotset_observe::Scope;
use hotset_sys::cgroup::Group;
use hotset_sys::child;
use hotset_sys::proc::children;

use crate::who::Who;

/// Who is watched, held so that a PID that is reused is not taken for it.
#[derive(Debug)]
pub struct Scoped {
    /// For the sensor.
    pub scope: Scope,
    /// The process, where it is one.
    pub pid: Option<Pid>,
    /// Its end.
    pub pidfd: Option<OwnedFd>,
    /// The control group, where it is one.
    pub group: Option<Group>,
}

impl Scoped {
    /// A process with its children, a control group by its directory or path, or everybody.
    ///
    /// # Errors
    /// Names who can't be found or observed.
    pub fn new(who: &Who) -> Result<Self> {
        let (pid, cgroup) = (who.pid, who.cgroup.as_deref());
        // Opened before the sensor: a process that ends meanwhile still leaves its PID to nobody else.
        let pidfd = pid.map(open_process).transpose()?;
        let group = cgroup.map(Group::find).transpose()?;
        let scope = match (pid, &group) {
            (Some(pid), _) => Scope::Processes(family(pid)?),
            (None, Some(group)) => group_scope(group)?,
            (None, None) => Scope::System,
        };
        Ok(Self { scope, pid, pidfd, group })
    }
}

/// A descriptor of a program that runs; a kernel thread is refused.
fn open_process(pid: Pid) -> Result<OwnedFd> {
    let pidfd = child::pidfd(pid).with_context(|| format!("process {pid}"))?;
    if fs::read_link(format!("/proc/{pid}/exe"))
        .is_err_and(|error| error.kind() == ErrorKind::NotFound)
    {
        bail!("process {pid} has exited or is a kernel thread; pass the PID of a running program");
    }
    Ok(pidfd)
}

/// A process and all below it.
pub(crate) fn family(pid: Pid) -> Result<Vec<Pid>> {
    let below = children::descendants(pid)?;
    Ok(std::iter::once(pid).chain(below.into_iter().map(|stat| stat.pid)).collect())
}

/// A group of version 2 is matched in the kernel; the processes of a version 1 group are listed now and followed.
fn group_scope(group: &Group) -> Result<Scope> {
    if group.is_v2() {
        return Ok(Scope::Cgroup(group.dir().to_owned()));
    }
    let pids = group.processes()?;
    if pids.is_empty() {
        bail!(
            "control group {} has no processes; start one or choose another --cgroup",
            group.dir().display()
        );
    }
    Ok(Scope::Processes(pids))
}
