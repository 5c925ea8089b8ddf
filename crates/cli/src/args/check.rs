//! Arguments of `check`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueHint;
use hotset_facts::WantedState;
use hotset_facts::units::number;

use super::LookArgs;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  hotset check --init -- ./app --selftest > hotset.toml\n  \
                        hotset check                       run every check of hotset.toml\n  \
                        hotset check selftest --retries 2 --junit check.xml\n  \
                        hotset check --update              write limits that hold now, and show the change\n\n\
                        The report goes to standard output. docs/ci.md has the format of hotset.toml, and what CI systems need.\n\n\
                        Exit status:\n  \
                        0      every limit was held\n  \
                        1      a limit was broken, or a command failed or could not be run\n  \
                        2      invalid arguments, or a budget that can't be meant\n  \
                        125    hotset failed\n  \
                        128+N  ended by signal N")]
pub(crate) struct CheckArgs {
    /// Checks to run [default: all]
    #[arg(value_name = "CHECK", conflicts_with = "init")]
    pub(crate) names: Vec<String>,
    /// Read the budget from FILE [default: hotset.toml here, or in the nearest directory above]
    #[arg(short, long, value_name = "FILE", conflicts_with = "init")]
    pub(crate) file: Option<PathBuf>,
    /// Run a check that fails up to N more times before it fails; every run is reported
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = number(0..=100_u32), conflicts_with = "init")]
    pub(crate) retries: u32,
    /// Write limits that hold what the commands did now into the budget, and the profiles of their baselines
    ///
    /// Limits that were held stay, and so does all else in the file. The change is shown.
    #[arg(long, conflicts_with = "init")]
    pub(crate) update: bool,
    /// Write JSON (hotset.check/1) to FILE; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "init")]
    pub(crate) json: Option<PathBuf>,
    /// Write JUnit XML to FILE; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "init")]
    pub(crate) junit: Option<PathBuf>,
    /// Write TAP (version 14) to FILE; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "init")]
    pub(crate) tap: Option<PathBuf>,
    /// Annotate failures for GitHub Actions, and write the summary of the step
    ///
    /// Annotations are printed to standard output in place of the report; the summary is added to the file that $GITHUB_STEP_SUMMARY
    /// names.
    #[arg(long, conflicts_with = "init")]
    pub(crate) github: bool,
    /// Name the code behind the numbers of broken limits
    ///
    /// The sensor is loaded for each run anew, and records its stacks. With a baseline that was written with --sites, what changed
    /// is named.
    #[arg(long, conflicts_with_all = ["init", "no_bpf"])]
    pub(crate) sites: bool,
    /// Do not load BPF; count lookups, opens and processes by tracing
    ///
    /// Limits on what only the sensor counts are not measured, and fail. Users who may not load BPF get the same without this option.
    #[arg(long)]
    pub(crate) no_bpf: bool,
    /// Do not print the report
    #[arg(short, long, conflicts_with_all = ["verbose", "init"])]
    pub(crate) quiet: bool,
    /// Print limits that were held, too
    #[arg(short, long, conflicts_with = "init")]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) look: LookArgs,
    #[command(flatten)]
    pub(crate) init: InitArgs,
}

/// Arguments of `check --init`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "A new budget")]
pub(crate) struct InitArgs {
    /// Run a command several times, and print a check with limits that hold what it does
    ///
    /// What is the same in every run becomes a limit without room, what varies one with some. The command runs once more before, so that it
    /// finds what its first run makes.
    #[arg(long, requires = "command")]
    pub(crate) init: bool,
    /// Take the limits from N runs
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = number(2..=1_000_u32), requires = "init")]
    pub(crate) runs: u32,
    /// Begin each run from this cache state: cold, warm, half, N%, cold-all, as-is
    ///
    /// Only where a state is set can there be a limit on what is read from the device.
    #[arg(long, value_name = "STATE", default_value = "as-is", value_parser = state, requires = "init")]
    pub(crate) state: WantedState,
    /// Name the check NAME [default: the program]
    #[arg(long, value_name = "NAME", requires = "init")]
    pub(crate) name: Option<String>,
    /// Keep the profile of a run as FILE; failures then show what changed since
    #[arg(long, value_name = "FILE", requires = "init")]
    pub(crate) baseline: Option<PathBuf>,
    /// Command of the new check, with its arguments, after `--`
    #[arg(last = true, value_name = "CMD", value_hint = ValueHint::CommandWithArguments, requires = "init")]
    pub(crate) command: Vec<OsString>,
}

fn state(text: &str) -> Result<WantedState, String> {
    WantedState::from_name(text)
        .ok_or_else(|| "expected cold, warm, half, 1% to 99%, cold-all or as-is".to_owned())
}
