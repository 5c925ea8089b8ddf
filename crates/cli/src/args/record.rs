//! `hotset record`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, ValueHint};
use hotset_facts::units::{number, parse_duration, parse_size};

use super::TargetArgs;

/// Arguments of `record`.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("recorded").required(true).args(["pid", "name", "cgroup", "unit", "container", "system", "command"]))]
#[command(after_help = "Examples:\n  sudo hotset record -o app.parquet -- python3 app.py\n  \
                        sudo hotset record -o db.parquet --unit postgresql -d 30s\n  \
                        hotset trace info app.parquet\n  \
                        hotset report app.parquet -o app.html\n\n\
                        The trace is an Apache Parquet file (docs/trace-format.md): DuckDB, pandas and Spark read it.\n\n\
                        Exit status:\n  \
                        N      exit code of the command\n  \
                        128+N  signal N killed the command\n  \
                        125    hotset failed, or could not write the trace\n  \
                        126    the command cannot be executed\n  \
                        127    the command was not found\n\
                        Without a command:\n  \
                        0      the trace was written\n  \
                        1      hotset failed\n  \
                        2      invalid arguments")]
pub(crate) struct RecordArgs {
    /// Write the trace to FILE
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace FILE if it exists
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Record the whole host
    #[arg(long)]
    pub(crate) system: bool,
    /// Record for TIME, e.g. 10s, 2m [default: until Ctrl-C]
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration, conflicts_with = "command")]
    pub(crate) duration: Option<Duration>,
    /// Record pages that enter and leave the page cache, too
    #[arg(long)]
    pub(crate) pages: bool,
    /// Record the chain of functions that each request was made from
    ///
    /// Node, Java and Python need options of their own to name their functions (docs/method.md).
    #[arg(long)]
    pub(crate) sites: bool,
    /// Use SIZE of memory per CPU for records not yet written
    ///
    /// A power of two from 64K to 1G. Records that find no room are lost and counted.
    #[arg(long, value_name = "SIZE", default_value = "8M", value_parser = parse_size)]
    pub(crate) buffer: u64,
    /// Stop the command while its records are written, instead of losing some
    ///
    /// A process that fills its buffer is stopped (SIGSTOP) until the buffer is empty. Its parent can see that.
    #[arg(long)]
    pub(crate) lossless: bool,
    /// Track up to N process-file pairs; sum the rest as "others"
    #[arg(long, value_name = "N", default_value_t = hotset_observe::DEFAULT_MAX_ROWS, value_parser = number(16..=4_194_304_u32))]
    pub(crate) max_rows: u32,
    /// Write the profile of the same execution as JSON (hotset.profile/1) to FILE; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Do not print what was recorded
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Command to record, with its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}
