//! `hotset lab`, and the hidden command that its native probes are.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use hotset_experiments::{ALL, Options};
use hotset_facts::units::number;

use super::{BaselineArgs, LookArgs};

/// Arguments of `lab`.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help(), mut_args = with_experiments)]
pub(crate) struct LabArgs {
    #[arg(required = true, value_name = "EXPERIMENT", value_parser = PossibleValuesParser::new(values()), hide_possible_values = true, help = which())]
    pub(crate) experiments: Vec<String>,
    #[command(flatten)]
    pub(crate) amount: LabAmountArgs,
    #[command(flatten)]
    pub(crate) what: Options,
    #[command(flatten)]
    pub(crate) baselines: BaselineArgs,
    #[command(flatten)]
    pub(crate) output: LabOutput,
}

/// How much.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Amount")]
pub(crate) struct LabAmountArgs {
    /// Run six rounds of a subset; all experiments: 1 to 3 minutes
    ///
    /// On a quiet machine; requires 1 GiB of disk space.
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// Use the sizes of the articles; takes hours
    #[arg(long)]
    pub(crate) full: bool,
    /// Run exactly N rounds; at least 6 for confidence intervals
    ///
    /// Each round measures every cell once.
    #[arg(long, value_name = "N", value_parser = number(1..=100_000_u32))]
    pub(crate) rounds: Option<u32>,
    /// Create the files in a new directory below DIR, and measure that device
    ///
    /// The default is the first of the current directory, $TMPDIR and /var/tmp that is on a disk.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Keep the generated files, in DIR/EXPERIMENT; their device is measured
    ///
    /// What a sample writes while it is timed is removed all the same.
    #[arg(long, value_name = "DIR", conflicts_with = "dir")]
    pub(crate) keep: Option<PathBuf>,
    /// Set the seed of the random order within rounds
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Do not count system calls with the BPF sensor in separate runs
    #[arg(long)]
    pub(crate) no_bpf: bool,
}

/// Where results go.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct LabOutput {
    /// Write JSON (hotset.lab/1) to FILE, one line per experiment; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write a self-contained HTML page with charts
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Do not print tables and progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) look: LookArgs,
}

/// Arguments of a native probe: a job and its `key=value` words; or `sweep` and a directory.
#[derive(Debug, clap::Args)]
pub(crate) struct LabProbeArgs {
    /// Name of the job
    pub(crate) job: String,
    /// Its parameters
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<OsString>,
}

/// The experiments that know an option.
pub(crate) fn known_by(option: &str) -> impl Iterator<Item = &'static str> {
    ALL.iter().filter(move |one| one.options.contains(&option)).map(|one| one.name)
}

fn values() -> impl Iterator<Item = &'static str> {
    std::iter::once("all").chain(ALL.iter().map(|experiment| experiment.name))
}

fn which() -> String {
    format!("Experiments to run: {}, or all", hotset_experiments::names())
}

/// Says at each option which experiments have it.
fn with_experiments(arg: clap::Arg) -> clap::Arg {
    let option = arg.get_long().map(|long| format!("--{long}")).unwrap_or_default();
    let names: Vec<&str> = known_by(&option).collect();
    let Some(help) = arg.get_help().filter(|_| !names.is_empty()).map(ToString::to_string) else {
        return arg;
    };
    let with = format!("{help} ({})", names.join(", "));
    // The long help begins with the short one, and more is said below it.
    let long = arg.get_long_help().map(|long| long.to_string().replacen(&help, &with, 1));
    let arg = arg.help(with);
    match long {
        Some(long) => arg.long_help(long),
        None => arg,
    }
}

fn after_help() -> String {
    let width = ALL.iter().map(|one| one.name.len()).max().unwrap_or(0);
    let lines = ALL.iter().map(|one| {
        let mut question = one.question.to_owned();
        question.get_mut(..1).into_iter().for_each(str::make_ascii_lowercase);
        format!("  {:width$}  {question}\n", one.name)
    });
    let experiments: String = lines.collect();
    format!(
        "Examples:\n  \
         hotset lab all --quick --html lab.html       six rounds of each experiment, and a page\n  \
         hotset lab access                            one experiment, 1 to 25 minutes\n  \
         hotset lab access --methods pread,mmap --block 4K --size 1G --rounds 10\n  \
         hotset lab all --full --json lab.json        the articles' sizes; takes hours\n  \
         hotset lab access --save-baseline main       keep the times, and after a change of the host:\n  \
         hotset lab access --baseline main --fail-above 10%\n\n\
         Experiments:\n{experiments}\n\
         Files are created in a new directory, which is removed at the end unless --keep is given.\n\n\
         Exit status:\n  \
         0      all experiments were run\n  \
         1      hotset failed\n  \
         2      invalid arguments\n  \
         123    a cell is shown to be slower than --fail-above or --fail-cpu-above allows\n  \
         128+N  signal N stopped it (130 after Ctrl-C); what was measured so far is printed"
    )
}
