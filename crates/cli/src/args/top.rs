//! `hotset top`.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use hotset_analysis::top::{Column, Kind};

use super::Color;
use super::interval::parse_interval;

/// What to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum TopView {
    /// Processes.
    #[default]
    Processes,
    /// Files.
    Files,
    /// Control groups and containers.
    Cgroups,
}

impl From<TopView> for Kind {
    fn from(view: TopView) -> Self {
        match view {
            TopView::Processes => Self::Processes,
            TopView::Files => Self::Files,
            TopView::Cgroups => Self::Groups,
        }
    }
}

/// What lines are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TopSort {
    /// The process's number.
    Pid,
    /// The user's name.
    User,
    /// The command, the path, or the control group.
    Name,
    /// Requested pages that were cached.
    Hits,
    /// Requested pages that were not.
    Misses,
    /// Pages that turned dirty.
    Dirties,
    /// Hits by requested pages.
    ReadHit,
    /// Written pages that were cached already, by written pages.
    WriteHit,
    /// Pages that had to be read, by requested pages.
    Device,
    /// Bytes past the cache.
    Direct,
    /// Page faults on file mappings.
    Faults,
    /// Pages read ahead.
    ReadAhead,
    /// Bytes read from the device.
    DeviceRead,
    /// Bytes written to the device.
    DeviceWrite,
}

impl From<TopSort> for Column {
    fn from(sort: TopSort) -> Self {
        match sort {
            TopSort::Pid => Self::Pid,
            TopSort::User => Self::User,
            TopSort::Name => Self::Name,
            TopSort::Hits => Self::Hits,
            TopSort::Misses => Self::Misses,
            TopSort::Dirties => Self::Dirties,
            TopSort::ReadHit => Self::ReadHit,
            TopSort::WriteHit => Self::WriteHit,
            TopSort::Device => Self::Device,
            TopSort::Direct => Self::Direct,
            TopSort::Faults => Self::Faults,
            TopSort::ReadAhead => Self::ReadAhead,
            TopSort::DeviceRead => Self::DeviceRead,
            TopSort::DeviceWrite => Self::DeviceWrite,
        }
    }
}

/// Arguments of `top`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  sudo hotset top                          the whole host; ? shows the keys\n  \
                  sudo hotset top --view files --sort misses 2\n  \
                  sudo hotset top --pid 1234               a process and its children\n  \
                  sudo hotset top --batch 3 -n 10          three samples as text, ten lines each\n  \
                  sudo hotset top --record night.jsonl 10  keep what is shown\n  \
                  hotset top --replay night.jsonl          show it again; , . [ ] g move in time\n\n\
                  Where standard input or output is no terminal, or TERM is \"dumb\", samples are printed as text, without end.\n\
                  Counts are of the interval; the key c shows them per second, or since the start."
)]
pub(crate) struct TopArgs {
    /// Seconds between samples, 0.1 to 86400.
    #[arg(value_name = "INTERVAL", default_value = "1", value_parser = parse_interval, allow_hyphen_values = true)]
    pub(crate) interval: Duration,
    /// What to begin with.
    #[arg(long, value_enum, default_value_t, value_name = "VIEW")]
    pub(crate) view: TopView,
    /// What lines are sorted by; without it: hits.
    #[arg(long, value_enum, value_name = "COLUMN")]
    pub(crate) sort: Option<TopSort>,
    /// Only lines with this text in a name, in any case.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) filter: String,
    /// Lines of a text sample, and lines of each view in a recording; without it: 20, and 50.
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) top: Option<u32>,
    /// Print N samples as text, 0: until interrupted.
    #[arg(long, value_name = "N")]
    pub(crate) batch: Option<u64>,
    /// Keep what is shown in FILE (JSON lines, hotset.top/1), which must not exist yet.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,
    /// Show a recording again; needs no privilege.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pid", "cgroup"])]
    pub(crate) replay: Option<PathBuf>,
    /// Only a process and its children.
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "cgroup")]
    pub(crate) pid: Option<u32>,
    /// Only a control group and those below it: its directory, or its path, such as /system.slice/nginx.service.
    #[arg(long, value_name = "DIR")]
    pub(crate) cgroup: Option<PathBuf>,
    /// When to use colour.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Plain ASCII bars and signs.
    #[arg(long)]
    pub(crate) ascii: bool,
}
