//! Arguments of `report`.

use std::path::PathBuf;

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  hotset report lab.json -o lab.html\n  \
                        hotset report before.json after.json -o compared.html\n\n\
                        Runs of the same experiment stand beside each other: in one chart, and with their ratio.")]
pub(crate) struct ReportArgs {
    /// Results: JSON of `lab`, `bench` or `run`, one or many in a file; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Where the page goes: written beside, then renamed; `-` is standard output.
    #[arg(short, long, value_name = "OUT.html")]
    pub(crate) output: PathBuf,
}
