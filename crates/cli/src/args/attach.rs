//! `hotset attach`.

use std::path::PathBuf;

use clap::ArgGroup;

use super::OutputArgs;
use super::number::{number, pid};

/// Arguments of `attach`.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("target").required(true).args(["pid", "cgroup", "system"]))]
#[command(after_help = "Examples:\n  hotset attach --pid 1234 --duration 10s\n  \
                        hotset attach --cgroup /sys/fs/cgroup/system.slice/nginx.service\n  \
                        hotset attach --system -d 5s --json -\n\nEnds at the duration, at Ctrl-C, or when the process ends.")]
pub(crate) struct AttachArgs {
    /// Observe a process and its children
    #[arg(long, value_name = "PID", value_parser = pid)]
    pub(crate) pid: Option<u32>,
    /// Observe a control group: its directory or its path
    ///
    /// For example /system.slice/nginx.service.
    #[arg(long, value_name = "DIR")]
    pub(crate) cgroup: Option<PathBuf>,
    /// Observe the whole host
    #[arg(long)]
    pub(crate) system: bool,
    /// Observe for TIME, e.g. 10s, 2m [default: until Ctrl-C]
    ///
    /// Units are ms, s, m and h; a number without a unit is in seconds.
    #[arg(short, long, value_name = "TIME", value_parser = hotset_facts::units::parse_duration)]
    pub(crate) duration: Option<std::time::Duration>,
    /// Track up to N process-file pairs; sum the rest as "others"
    #[arg(long, value_name = "N", default_value_t = hotset_observe::DEFAULT_MAX_ROWS, value_parser = number(16..=4_194_304_u32))]
    pub(crate) max_rows: u32,
    /// Name the N most active files; sum the rest in one row
    #[arg(long, value_name = "N", default_value_t = hotset_observe::DEFAULT_FILES)]
    pub(crate) files: u32,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
