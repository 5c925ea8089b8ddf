//! Whom to observe, where it is not the whole host.

use std::ffi::OsString;
use std::path::PathBuf;

use hotset_watch::{Named, Who};

use super::pid::pid;

/// One process, or one control group.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(id = "one", multiple = false)]
pub(crate) struct TargetArgs {
    /// Observe a process and its children
    #[arg(long, value_name = "PID", value_parser = pid)]
    pub(crate) pid: Option<u32>,
    /// Observe the running program called NAME and its children
    ///
    /// NAME is the whole name of its executable, as in `pgrep -x`. If several programs have it, they are listed and nothing is
    /// observed.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<OsString>,
    /// Observe a control group and the groups below it
    ///
    /// DIR is its directory or its path, for example /system.slice/nginx.service.
    #[arg(long, value_name = "DIR")]
    pub(crate) cgroup: Option<PathBuf>,
    /// Observe a systemd unit, e.g. nginx or user-1000.slice
    #[arg(long, value_name = "UNIT")]
    pub(crate) unit: Option<String>,
    /// Observe a container, by its name or ID
    ///
    /// In Kubernetes: namespace/pod, or namespace/pod/container. An ID may be shortened to four characters.
    #[arg(long, value_name = "NAME")]
    pub(crate) container: Option<String>,
}

impl TargetArgs {
    /// Whether anybody is named.
    pub(crate) fn is_some(&self) -> bool {
        let Self { pid, name, cgroup, unit, container } = self;
        pid.is_some() || name.is_some() || cgroup.is_some() || unit.is_some() || container.is_some()
    }

    /// The process or the control group that is meant.
    ///
    /// # Errors
    /// As [`Who::find`].
    pub(crate) fn find(&self) -> anyhow::Result<Who> {
        Who::find(&Named {
            pid: self.pid,
            name: self.name.clone(),
            cgroup: self.cgroup.clone(),
            unit: self.unit.clone(),
            container: self.container.clone(),
        })
    }
}
