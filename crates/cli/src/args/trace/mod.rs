//! `hotset trace`.

mod export;
mod import;

use std::path::PathBuf;

use clap::Subcommand;

use super::LookArgs;

pub(crate) use export::{ExportTo, TraceExportArgs};
pub(crate) use import::{ColumnArgs, ImportFrom, TraceImportArgs};

/// Arguments of `trace`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  hotset trace info app.parquet\n  \
                        hotset trace export app.parquet --to perfetto -o app.pftrace\n  \
                        hotset trace import --from strace app.strace -o app.parquet\n  \
                        hotset trace join app.parquet\n\n\
                        Exit status:\n  0      success\n  1      hotset failed\n  \
                        2      invalid arguments\n  128+N  signal N stopped an export (130 after Ctrl-C)")]
pub(crate) struct TraceArgs {
    #[command(subcommand)]
    pub(crate) what: TraceCommand,
}

/// What to do with traces.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Show what is in a trace, what it lacks, and what cost most
    Info(TraceInfoArgs),
    /// Convert a trace for another tool
    Export(TraceExportArgs),
    /// Make a trace of another tool's recording
    Import(TraceImportArgs),
    /// Make one trace of the parts that an interrupted recording left
    Join(TraceJoinArgs),
}

/// Arguments of `trace info`.
#[derive(Debug, clap::Args)]
pub(crate) struct TraceInfoArgs {
    /// Trace to read
    pub(crate) trace: PathBuf,
    /// Show N rows in each table
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Print JSON (hotset.trace-info/1) instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) look: LookArgs,
}

/// Arguments of `trace join`.
#[derive(Debug, clap::Args)]
pub(crate) struct TraceJoinArgs {
    /// Trace whose parts (TRACE.part-00000 and so on) are joined
    pub(crate) trace: PathBuf,
    /// Write to FILE instead of TRACE
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Keep the parts
    #[arg(long)]
    pub(crate) keep: bool,
}
