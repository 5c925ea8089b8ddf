//! `hotset run`.

use std::ffi::OsString;

use clap::ValueHint;
use hotset_facts::units::number;

use super::OutputArgs;

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  hotset run -- python3 app.py\n  \
                        hotset run --json profile.json -- make -j2\n  \
                        hotset run --html profile.html -- ./server --check\n  \
                        sudo hotset run --sites -- ./server --check\n\n\
                        The report goes to standard error. SIGINT, SIGTERM and SIGHUP are passed on to the command.\n\n\
                        Exit status:\n  \
                        N      exit code of the command\n  \
                        128+N  signal N killed the command\n  \
                        125    hotset failed, or could not write a report of a command that succeeded\n  \
                        126    the command cannot be executed\n  \
                        127    the command was not found")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Track up to N process-file pairs; sum the rest as "others"
    #[arg(long, value_name = "N", default_value_t = hotset_observe::DEFAULT_MAX_ROWS, value_parser = number(16..=4_194_304_u32))]
    pub(crate) max_rows: u32,
    /// Name the N most active files; sum the rest in one row
    #[arg(long, value_name = "N", default_value_t = hotset_observe::DEFAULT_FILES)]
    pub(crate) files: u32,
    /// Find the functions that read, write and open files
    ///
    /// Findings and a table name them. Each request takes longer then. Node, Java and Python need options of their own to
    /// name their functions (docs/method.md).
    #[arg(long, conflicts_with = "no_bpf")]
    pub(crate) sites: bool,
    /// Do not load BPF; report only /proc, rusage and residency
    #[arg(long)]
    pub(crate) no_bpf: bool,
    /// Use the sensor's build for kernels before 6.2, to compare the two
    #[arg(long, hide = true)]
    pub(crate) compat_sensor: bool,
    /// Command to run, with its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}
