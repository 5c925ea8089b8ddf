//! `hotset attach`.

use clap::ArgGroup;
use hotset_facts::units::number;

use super::{OutputArgs, TargetArgs};

/// Arguments of `attach`.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("target").required(true).args(["pid", "name", "cgroup", "unit", "container", "system"]))]
#[command(after_help = "Examples:\n  hotset attach --pid 1234 --duration 10s\n  \
                        hotset attach --unit nginx --duration 1m\n  \
                        hotset attach --name postgres --html postgres.html\n  \
                        hotset attach --container shop-db -d 10s\n  \
                        hotset attach --system -d 5s --json -\n\n\
                        The report is printed after the duration, on SIGINT (Ctrl-C), SIGTERM or SIGHUP, or when the \
                        observed process ends.\n\n\
                        Exit status:\n  \
                        0  all reports were written\n  \
                        1  hotset failed\n  \
                        2  invalid arguments")]
pub(crate) struct AttachArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
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
    /// Find the functions that read, write and open files
    ///
    /// Findings and a table name them. Each request takes longer then. Node, Java and Python need options of their own to
    /// name their functions (docs/method.md).
    #[arg(long)]
    pub(crate) sites: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
