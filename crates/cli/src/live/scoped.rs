//! Who is watched: the host, a process with its children, or a control group.

use std::os::fd::OwnedFd;
use std::path::Path;

use anyhow::Result;
use hotset_facts::Pid;
use hotset_observe::Scope;

use crate::attached;

/// Who is watched, held so that a number that is used again is not taken for it.
#[derive(Debug)]
pub(crate) struct Scoped {
    /// For the sensor.
    pub(crate) scope: Scope,
    /// The process, where it is one.
    pub(crate) pid: Option<Pid>,
    /// Its end.
    pub(crate) pidfd: Option<OwnedFd>,
}

impl Scoped {
    /// A process with its children, a control group by its directory, or everybody.
    pub(crate) fn new(pid: Option<Pid>, cgroup: Option<&Path>) -> Result<Self> {
        let pidfd = pid.map(attached::open_process).transpose()?;
        let scope = match (pid, cgroup) {
            (Some(pid), _) => Scope::Processes(attached::family(pid)?),
            (None, Some(path)) => attached::cgroup_scope(path)?,
            (None, None) => Scope::System,
        };
        Ok(Self { scope, pid, pidfd })
    }
}
