//! `hotset top`.

use std::path::PathBuf;
use std::time::Duration;

use hotset_analysis::top::{Column, Kind};
use hotset_facts::units::number;

use super::choice::choice;
use super::interval::parse_interval;
use super::{LookArgs, TargetArgs};

/// Arguments of `top`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  sudo hotset top                          the whole host; ? shows the keys\n  \
                  sudo hotset top --view files --sort misses 2\n  \
                  sudo hotset top --pid 1234               a process and its children\n  \
                  sudo hotset top --batch 3 -n 10          three samples as text, ten rows each\n  \
                  sudo hotset top --record night.jsonl 10  record\n  \
                  hotset top --replay night.jsonl          replay; the keys , . [ ] g move in time\n\n\
                  Where standard input or output is no terminal, or TERM is \"dumb\", samples are printed as text, without end. \
                  Counts are of the interval; the key c shows them per second, or since the start.\n\n\
                  Exit status:\n  \
                  0      after N samples, after the key q; as text, also after SIGINT, SIGTERM or SIGHUP\n  \
                  1      hotset failed\n  \
                  2      invalid arguments\n  \
                  128+N  signal N ended the full screen"
)]
pub(crate) struct TopArgs {
    /// Seconds per sample, 0.1 to 86400
    #[arg(value_name = "INTERVAL", default_value = "1", value_parser = parse_interval, allow_hyphen_values = true)]
    pub(crate) interval: Duration,
    /// View to start with
    #[arg(long, value_parser = choice(Kind::NAMED), default_value = "processes", value_name = "VIEW")]
    pub(crate) view: Kind,
    /// Sort by this column [default: hits]
    #[arg(long, value_parser = choice(Column::NAMED), value_name = "COLUMN")]
    pub(crate) sort: Option<Column>,
    /// Show only rows whose name contains TEXT (ignores case)
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) filter: String,
    /// Show N rows per sample [default: 20; 50 in a recording]
    #[arg(short = 'n', long, value_name = "N", value_parser = number(1..=100_000_u32))]
    pub(crate) top: Option<u32>,
    /// Print N samples as text, then exit; 0 = no limit
    #[arg(long, value_name = "N")]
    pub(crate) batch: Option<u64>,
    /// Sample pages, and show how much page cache each control group needs (`need`)
    ///
    /// One in 16 pages is sampled. The need is the page cache with 99 % of the hits that the group could have had since top began, by exact
    /// LRU; docs/metrics.md says how exact it is.
    #[arg(long, conflicts_with = "replay")]
    pub(crate) curves: bool,
    /// Record to a new FILE (JSON lines, hotset.top/1)
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,
    /// Replay a recording; requires no privileges
    #[arg(long, value_name = "FILE", conflicts_with = "one")]
    pub(crate) replay: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) look: LookArgs,
}
