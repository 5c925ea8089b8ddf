//! `hotset stat`.

use std::path::PathBuf;
use std::time::Duration;

use super::interval::{parse_count, parse_interval};
use super::number::pid;

/// Arguments of `stat`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  sudo hotset stat                       one line per second, until Ctrl-C\n  \
                  sudo hotset stat -T 5 12               twelve lines of five seconds each, with the time\n  \
                  sudo hotset stat --pid 1234 0.5        one process and its children\n  \
                  sudo hotset stat --json 10 >> log      one JSON object per line\n  \
                  sudo hotset stat 1 | awk 'NR > 1 { print $2 }'     misses per second\n\n\
                  Counts are of the interval, not per second; the first line appears when the first interval is over.\n\
                  The names of the columns are printed again each screenful, and only once into a pipe or a file.\n\
                  Ctrl-C prints a summary on standard error. What each column counts: docs/live.md"
)]
pub(crate) struct StatArgs {
    /// Seconds per interval, 0.1 to 86400
    #[arg(value_name = "INTERVAL", default_value = "1", value_parser = parse_interval, allow_negative_numbers = true)]
    pub(crate) interval: Duration,
    /// Print COUNT lines [default: until Ctrl-C]
    #[arg(value_name = "COUNT", value_parser = parse_count, allow_negative_numbers = true)]
    pub(crate) count: Option<u64>,
    /// Print the time of day on each line
    #[arg(short = 'T', long)]
    pub(crate) timestamp: bool,
    /// Print JSON (hotset.stat/1), one object per line
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print CSV with exact bytes and ratios
    #[arg(long)]
    pub(crate) csv: bool,
    /// Observe only a process and its children, until it ends
    #[arg(long, value_name = "PID", value_parser = pid, conflicts_with = "cgroup")]
    pub(crate) pid: Option<u32>,
    /// Observe only a control group and the groups below it
    ///
    /// DIR is its directory or its path, for example /system.slice/nginx.service.
    #[arg(long, value_name = "DIR")]
    pub(crate) cgroup: Option<PathBuf>,
    /// Print all columns, even on a narrow terminal
    #[arg(short, long)]
    pub(crate) wide: bool,
}
