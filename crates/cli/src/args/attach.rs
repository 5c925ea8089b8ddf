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
    /// A process, with its children.
    #[arg(long, value_name = "PID", value_parser = pid)]
    pub(crate) pid: Option<u32>,
    /// A control group: its directory, or its path, such as /system.slice/nginx.service.
    #[arg(long, value_name = "DIR")]
    pub(crate) cgroup: Option<PathBuf>,
    /// The whole host.
    #[arg(long)]
    pub(crate) system: bool,
    /// How long: 10s, 500ms, 2m, 1h; a bare number is seconds. Without it: until Ctrl-C.
    #[arg(short, long, value_name = "TIME", value_parser = hotset_facts::units::parse_duration)]
    pub(crate) duration: Option<std::time::Duration>,
    /// Rows (a process and a file) that are counted apart; beyond, they are summed up as others.
    #[arg(long, value_name = "N", default_value_t = hotset_observe::DEFAULT_MAX_ROWS, value_parser = number(16..=4_194_304_u32))]
    pub(crate) max_rows: u32,
    /// Files that the report and its JSON name, those that matter most by some counter; the rest is one row with their sums.
    #[arg(long, value_name = "N", default_value_t = hotset_observe::DEFAULT_FILES)]
    pub(crate) files: u32,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
