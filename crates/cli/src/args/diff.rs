//! Arguments of `diff`.

use std::path::PathBuf;

use super::LookArgs;

/// Arguments of `diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  hotset diff before.json after.json\n  \
                        hotset diff before.parquet after.parquet --html difference.html\n  \
                        hotset diff --strip /build/a --strip /build/b a.json b.json\n  \
                        hotset diff -q --exit-code main.json change.json\n\n\
                        Compares profiles (hotset run --json, hotset attach --json) or recordings (hotset record): counters, files, \
                        processes, paths of lookups, findings. Names that differ only in a hash, a version, a date, a PID or a part \
                        drawn for a temporary file are taken for one if no other row has the same name (docs/diff.md). \
                        Times and minor faults vary from run to run: they are shown, and make no difference.\n\n\
                        Exit status:\n  \
                        0  compared, whether they differ or not\n  \
                        1  hotset failed; with --exit-code: they differ\n  \
                        2  invalid arguments; with --exit-code: hotset failed")]
pub(crate) struct DiffArgs {
    /// Profile or recording of the first run; `-` is standard input
    ///
    /// A profile may be compressed with gzip. A recording must be a file: it is read in parts.
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,
    /// Profile or recording of the second run; `-` is standard input
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,
    /// Compare what is below DIR by its path below it; may be repeated
    ///
    /// For the directories of two builds or two versions. The words of commands lose these directories too.
    #[arg(long, value_name = "DIR")]
    pub(crate) strip: Vec<PathBuf>,
    /// Exit with 1 if they differ in anything that does not vary from run to run
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Write JSON (hotset.diff/1) to FILE; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write a self-contained HTML page to FILE; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Show N rows of each kind
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Do not print the differences
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) look: LookArgs,
    /// Show every row and counter that differs
    #[arg(short, long)]
    pub(crate) verbose: bool,
}
