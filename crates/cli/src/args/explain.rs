//! Arguments of `explain`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueHint;

use super::{LookArgs, ReplayHowArgs};

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  sudo hotset explain -- python3 app.py\n  \
                        sudo hotset explain app.parquet\n  \
                        sudo hotset explain app.parquet --html app.html\n  \
                        hotset explain app.parquet --no-proof\n\n\
                        Each finding names a change. The recording is replayed as it is and with each change in alternation, on \
                        copies of what it writes: only a gain that the replay shows is called proved (docs/replay.md).\n\n\
                        Exit status:\n  \
                        0      explained, whether something was found or not\n  \
                        1      hotset failed\n  \
                        2      invalid arguments\n  \
                        126    the command cannot be executed\n  \
                        127    the command was not found\n  \
                        128+N  ended by signal N; what was found so far is reported")]
pub(crate) struct ExplainArgs {
    /// Trace to explain, of `record` or `trace import`
    #[arg(value_name = "TRACE", required_unless_present = "command")]
    pub(crate) trace: Option<PathBuf>,
    /// Do not replay: print the findings with their estimates
    #[arg(long)]
    pub(crate) no_proof: bool,
    /// Record the command up to N times, until a replay takes as long as the recording
    ///
    /// On a busy host, a recording can be too slow to be compared with. Each attempt runs the command again, with what the one before
    /// left in the cache and in files.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100), conflicts_with = "trace")]
    pub(crate) attempts: u32,
    /// Keep the recording of the command as FILE
    #[arg(short, long, value_name = "FILE", conflicts_with = "trace")]
    pub(crate) output: Option<PathBuf>,
    /// Write what can be applied as it is to DIR, a new directory
    ///
    /// The findings as text. If a finding is about a cold start: a snapshot of the pages that the program reads, for `hotset restore`,
    /// and a systemd drop-in that restores it before a service starts. If a setting of a known program (sqlite3, PostgreSQL, MySQL,
    /// Redis, Git, dpkg) or of a disk answers a finding: that setting as a file, whose comments say what it risks and where it belongs.
    /// hotset applies no setting itself.
    #[arg(long, value_name = "DIR", conflicts_with = "no_proof")]
    pub(crate) emit: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) how: ReplayHowArgs,
    /// Write JSON (hotset.explanation/1) to FILE; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write a self-contained HTML page to FILE; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Do not print the findings and progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) look: LookArgs,
    /// Print every finding in full
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Command to record and explain, with its arguments, after `--`
    #[arg(last = true, value_name = "CMD", value_hint = ValueHint::CommandWithArguments, conflicts_with = "trace")]
    pub(crate) command: Vec<OsString>,
}
