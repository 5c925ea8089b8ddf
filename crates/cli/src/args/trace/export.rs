//! `hotset trace export`.

use std::path::PathBuf;

use clap::ValueEnum;

/// A tool that a trace is converted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportTo {
    /// Directory of I/O logs, for fio 3.31 or later
    Fio,
    /// Perfetto trace, for ui.perfetto.dev
    Perfetto,
    /// pprof profile of call sites
    Pprof,
    /// Page requests as libCacheSim's oracleGeneral
    Oracle,
    /// Comma-separated values, all columns
    Csv,
}

/// Arguments of `trace export`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  hotset trace export app.parquet --to perfetto -o app.pftrace\n  \
                        hotset trace export app.parquet --to fio -o replay/\n  \
                        hotset trace export app.parquet --to csv -o - | head"
)]
pub(crate) struct TraceExportArgs {
    /// Trace to read
    pub(crate) trace: PathBuf,
    /// Tool to convert it for
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: ExportTo,
    /// Write to FILE, for fio a directory; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace FILE if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// perfetto: write all operations, not only slow ones, misses, major faults and syncs
    #[arg(long)]
    pub(crate) all: bool,
    /// fio: write one log for all threads instead of a log for each
    #[arg(long)]
    pub(crate) one_log: bool,
}
