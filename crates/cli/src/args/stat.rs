//! `hotset stat`.

use std::time::Duration;

use super::TargetArgs;
use super::interval::{parse_count, parse_interval};

/// Arguments of `stat`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  sudo hotset stat                       one line per second, until Ctrl-C\n  \
                  sudo hotset stat -T 5 12               twelve lines of five seconds each, with the time\n  \
                  sudo hotset stat --pid 1234 0.5        one process and its children\n  \
                  sudo hotset stat --json 10 >> log      one JSON object per line\n  \
                  sudo hotset stat 1 | awk 'NR > 1 { print $2 }'     misses per second\n\n\
                  Counts are of the interval, not per second; the first line appears when the first interval is over. \
                  The names of the columns are printed again each screenful, and only once into a pipe or a file. \
                  SIGINT (Ctrl-C), SIGTERM and SIGHUP print a summary on standard error. docs/live.md explains each column.\n\n\
                  Exit status:\n  \
                  0  after COUNT lines, when the observed process has ended, or after a signal\n  \
                  1  hotset failed\n  \
                  2  invalid arguments"
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
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Print all columns, even on a narrow terminal
    #[arg(short, long)]
    pub(crate) wide: bool,
}
