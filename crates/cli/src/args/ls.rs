//! `hotset ls`.

use std::path::PathBuf;

use hotset_analysis::listing::{Direction, Only, Order, SortKey};
use hotset_facts::units::number;

use super::choice::{Choice, choice};
use super::pid::pid;
use super::{LookArgs, SelectionArgs};

/// Arguments of `ls`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LsArgs {
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// List files that a process has open or mapped
    ///
    /// Paths are those of the process's mount namespace. Deleted files are included.
    #[arg(long, value_name = "PID", value_parser = pid, conflicts_with_all = ["paths", "files_from"])]
    #[arg(help_heading = "Which files")]
    pub(crate) pid: Option<u32>,
    /// List files that a control group's processes have open or mapped
    ///
    /// DIR is its directory or its path, for example /system.slice/nginx.service.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["paths", "files_from", "pid"])]
    #[arg(help_heading = "Which files")]
    pub(crate) cgroup: Option<PathBuf>,
    /// List the files that occupy the page cache of the whole host
    ///
    /// Includes files that no process has open: the 30 largest, or --top N; then what else is cached. Only root sees all files.
    #[arg(long, conflicts_with_all = NOT_WITH_SYSTEM)]
    #[arg(help_heading = "Which files")]
    pub(crate) system: bool,
    /// With --system: walk over the mounted file systems even where the kernel's own list can be read.
    #[arg(long, hide = true, requires = "system", conflicts_with_all = NOT_WITH_SYSTEM)]
    pub(crate) walk: bool,
    #[command(flatten)]
    pub(crate) rows: RowArgs,
    #[command(flatten)]
    pub(crate) form: FormArgs,
    /// Use N threads [default: the number of CPUs, up to 4]
    #[arg(long, value_name = "N", value_parser = number(1..=64_u16))]
    pub(crate) threads: Option<u16>,
}

/// What chooses among files that were named, or prints what a list of the whole machine doesn't have.
const NOT_WITH_SYSTEM: [&str; 18] = [
    "paths",
    "files_from",
    "pid",
    "cgroup",
    "null",
    "depth",
    "include",
    "exclude",
    "one_file_system",
    "follow",
    "only",
    "dirs",
    "summarize",
    "names",
    "map",
    "quiet",
    "cells",
    "threads",
];

/// Which rows, in which order.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which rows")]
pub(crate) struct RowArgs {
    /// Show only files in this state; the total counts all
    #[arg(long, value_parser = choice(&STATES), value_name = "STATE")]
    pub(crate) only: Option<Only>,
    /// Print one row per directory, with all files below it, as du(1) does
    ///
    /// --depth limits the levels that are printed, not those that are counted.
    #[arg(long)]
    pub(crate) dirs: bool,
    /// Print only the total
    #[arg(short, long, conflicts_with_all = ["dirs", "only", "top", "sort", "csv", "names", "map"])]
    pub(crate) summarize: bool,
    /// Sort rows: largest first, names from a to z [default: unsorted]
    #[arg(long, value_parser = choice(&SORT_KEYS), value_name = "KEY")]
    pub(crate) sort: Option<SortKey>,
    /// Reverse the order
    #[arg(short, long)]
    pub(crate) reverse: bool,
    /// Show only the first N rows [default order: cached]
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,
}

/// How it is printed.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct FormArgs {
    /// Print JSON (hotset.residency/1)
    #[arg(long, group = "form")]
    pub(crate) json: bool,
    /// Print CSV, starting with pcstat's columns
    ///
    /// These are Name, Size, Pages, Cached and Percent.
    #[arg(long, group = "form")]
    pub(crate) csv: bool,
    /// Print only names, one per line (with -0: separated by NUL)
    ///
    /// -0 without --files-from implies --names.
    #[arg(long, group = "form")]
    pub(crate) names: bool,
    /// Draw a map of each file: which parts of it are cached
    #[arg(long, group = "form", conflicts_with = "dirs")]
    pub(crate) map: bool,
    /// Print nothing; exit 0 if everything is cached, else 1
    ///
    /// The exit code is 1, too, if the state of a file is not known.
    #[arg(short, long, group = "form")]
    pub(crate) quiet: bool,
    /// Divide each --map into N cells; with --json, add cells to each file
    #[arg(long, value_name = "N", value_parser = number(1..=1_048_576_u32))]
    pub(crate) cells: Option<u32>,
    /// Print all columns, even on a narrow terminal
    #[arg(short = 'v', long)]
    pub(crate) all_columns: bool,
    #[command(flatten)]
    pub(crate) look: LookArgs,
}

/// The states that files are chosen by.
const STATES: [Choice<Only>; 3] = [
    (Only::Cached, "cached", "Every page is cached; empty files are"),
    (Only::Partial, "partial", "Some pages are"),
    (Only::Uncached, "uncached", "No page is"),
];

/// What rows can be sorted by.
const SORT_KEYS: [Choice<SortKey>; 6] = [
    (SortKey::Cached, "cached", "Memory in the cache"),
    (SortKey::Size, "size", "Size"),
    (SortKey::Name, "name", "Path"),
    (SortKey::Percent, "percent", "Share in the cache"),
    (SortKey::Dirty, "dirty", "Dirty memory"),
    (SortKey::Evicted, "evicted", "What was evicted lately"),
];

impl RowArgs {
    /// The order that was asked for; none where rows come as they are found.
    pub(crate) fn order(&self) -> Option<Order> {
        let key = match self.sort {
            Some(key) => key,
            None if self.top.is_some() || self.reverse => SortKey::Cached,
            None => return None,
        };
        let direction = if self.reverse { Direction::Reversed } else { Direction::Usual };
        Some(Order { key, direction })
    }
}

const EXAMPLES: &str = "\
Examples:
  hotset ls /var/lib/postgresql --top 20     the 20 files that take the most memory
  hotset ls --dirs --depth 1 /usr            what each directory right below /usr has in the cache
  sudo hotset ls --system                    which files occupy the cache of this machine
  hotset ls --map big.db                     which parts of one file are cached
  hotset ls -q model.bin || hotset warm model.bin
  hotset ls -0 --only uncached . | xargs -0 ls -l

Each file has one row; the last line is the total of all files. Cached is memory in whole pages; Percent is its share of \
the file's pages (- for an empty file, which -q and --only treat as cached). Where draws the file from start to end. Dirty \
and Writeback are pages not yet on the device. Evicted counts pages evicted so recently that reading them again would be a \
refault. A narrow terminal shows fewer columns; -v shows all.

Only root, the owner, and users who may write to a file can see its state; for others the kernel reports every page as \
cached, and hotset prints \"unknown: no write permission\". Hard links are counted once.

Exit status:
  0      every path was read; with -q, all files are fully cached
  1      a path could not be read (the rest is shown); with -q, something is not cached
  2      invalid arguments
  128+N  signal N ended the listing (130 after Ctrl-C); what was found so far is shown";
