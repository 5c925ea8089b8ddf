//! `hotset stat`.

use std::path::PathBuf;
use std::time::Duration;

use super::interval::{parse_count, parse_interval};
use super::number::pid;

/// Arguments of `stat`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  sudo hotset stat                       a line a second, until Ctrl-C\n  \
                  sudo hotset stat -T 5 12               twelve lines, five seconds each, with the time\n  \
                  sudo hotset stat --pid 1234 0.5        one process and its children\n  \
                  sudo hotset stat --json 10 >> log      one object a line\n  \
                  sudo hotset stat 1 | awk 'NR > 1 { print $2 }'     misses a second\n\n\
                  Counts are of the interval, not per second; the first line appears when the first interval is over.\n\
                  The names of the columns are printed again each screenful, and only once into a pipe or a file.\n\
                  Ctrl-C prints a summary on standard error. What each column counts: docs/live.md"
)]
pub(crate) struct StatArgs {
    /// Seconds between lines, 0.1 to 86400.
    #[arg(value_name = "INTERVAL", default_value = "1", value_parser = parse_interval, allow_negative_numbers = true)]
    pub(crate) interval: Duration,
    /// Lines to print; without it: until Ctrl-C.
    #[arg(value_name = "COUNT", value_parser = parse_count, allow_negative_numbers = true)]
    pub(crate) count: Option<u64>,
    /// The time of day before each line.
    #[arg(short = 'T', long)]
    pub(crate) timestamp: bool,
    /// Print JSON (hotset.stat/1), one object a line.
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print CSV, with exact bytes and shares.
    #[arg(long)]
    pub(crate) csv: bool,
    /// Only a process and its children; ends when it does.
    #[arg(long, value_name = "PID", value_parser = pid, conflicts_with = "cgroup")]
    pub(crate) pid: Option<u32>,
    /// Only a control group and those below it: its directory, or its path, such as /system.slice/nginx.service.
    #[arg(long, value_name = "DIR")]
    pub(crate) cgroup: Option<PathBuf>,
    /// All columns, also where the terminal is too narrow for them.
    #[arg(short, long)]
    pub(crate) wide: bool,
}
