//! `hotset bench`. Options that hyperfine has too are named as it names them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueHint;
use hotset_facts::WantedState;
use hotset_lab::IgnoredFailures;
use hotset_view::bench::{BenchLook, TimeUnit};

use super::choice::{Choice, choice};
use super::{BaselineArgs, LookArgs};
use hotset_facts::units::{number, parse_duration};

/// Arguments of `bench`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  hotset bench -- python3 app.py                       cold against warm\n  \
                        hotset bench --vs 'rg -j2 needle src' -- grep -r needle src\n  \
                        hotset bench --state cold,half,warm --export-json o.json -- ./server -t\n  \
                        hotset bench --save-baseline main -- make check      and after a change:\n  \
                        hotset bench --baseline main --fail-above 5% -- make check\n  \
                        hotset bench --show-files -- git status              the files, and no benchmark\n\n\
                        The summary goes to standard output.\n\n\
                        Exit status:\n  \
                        0      all rounds were run\n  \
                        N      exit code of a command that failed\n  \
                        128+N  signal N killed a command, or stopped hotset (130 after Ctrl-C; results so far are written)\n  \
                        2      invalid arguments\n  \
                        123    a slow-down above --fail-above or --fail-cpu-above is shown\n  \
                        125    hotset failed, or --setup, --prepare, --conclude or --cleanup did\n  \
                        126    a command cannot be executed\n  \
                        127    a command was not found"
)]
pub(crate) struct BenchArgs {
    /// Compare with COMMAND in each state; repeatable
    ///
    /// COMMAND is split into words as a shell would, and run without a shell unless --shell names one.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) vs: Vec<String>,
    /// Compare all commands, CMD included, with COMMAND
    #[arg(long, value_name = "COMMAND")]
    pub(crate) reference: Option<String>,
    /// Name of the reference
    #[arg(long, value_name = "NAME", requires = "reference")]
    pub(crate) reference_name: Option<String>,
    #[command(flatten)]
    pub(crate) states: StateArgs,
    #[command(flatten)]
    pub(crate) rounds: RoundArgs,
    #[command(flatten)]
    pub(crate) around: AroundArgs,
    #[command(flatten)]
    pub(crate) parameters: ParameterArgs,
    #[command(flatten)]
    pub(crate) baselines: BaselineArgs,
    #[command(flatten)]
    pub(crate) exports: BenchOutput,
    /// Command to benchmark, with its arguments
    ///
    /// A single word with spaces is split as a shell would.
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}

/// Which states, on which files.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "States and files")]
pub(crate) struct StateArgs {
    /// Start from these cache states: cold, warm, half, N%, cold-all, as-is
    ///
    /// Separate several by commas. cold: the command's files are evicted. cold-all: dentries, inodes and all other clean page
    /// cache are dropped, too (drop_caches; requires root). half, N%: this share of the pages is cached, spread evenly. as-is:
    /// nothing is changed.
    #[arg(long, value_name = "STATE", value_delimiter = ',', default_value = "cold,warm", value_parser = parse_state)]
    pub(crate) state: Vec<WantedState>,
    /// Set the states on PATH instead of the files of a first run; repeatable
    ///
    /// PATH is a file, or a directory with all files below it.
    #[arg(long, value_name = "PATH")]
    pub(crate) files: Vec<PathBuf>,
    /// Print the files that the command reads or maps, then exit
    #[arg(long)]
    pub(crate) show_files: bool,
    /// Find the command's files by tracing system calls instead of BPF
    #[arg(long)]
    pub(crate) no_bpf: bool,
}

/// How many rounds.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Rounds")]
pub(crate) struct RoundArgs {
    /// Run exactly N rounds
    ///
    /// Each round runs every command once in every state.
    #[arg(short, long, value_name = "N", conflicts_with_all = ["min_runs", "max_runs"], value_parser = number(1..=1_000_000_u32))]
    pub(crate) runs: Option<u32>,
    /// Run at least N rounds [default: 15, or --max-runs if that is less]
    ///
    /// More follow, in blocks, until the 95 % confidence intervals are narrower than 2 %.
    #[arg(short, long, value_name = "N", value_parser = number(1..=1_000_000_u32))]
    pub(crate) min_runs: Option<u32>,
    /// Run at most N rounds
    #[arg(short = 'M', long, value_name = "N", default_value_t = 100, value_parser = number(1..=1_000_000_u32))]
    pub(crate) max_runs: u32,
    /// Start no round that would end later than TIME: 90s, 5m
    ///
    /// Ignored with --runs.
    #[arg(long, value_name = "TIME", default_value = "3m", value_parser = parse_duration)]
    pub(crate) max_time: Duration,
    /// Exclude the first N rounds as warm-up; 0 = none [default: detect]
    #[arg(short, long, value_name = "N", value_parser = number(0..=1_000_000_u32))]
    pub(crate) warmup: Option<u32>,
    /// Seed of the random order within rounds
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Do not measure the noise floor
    ///
    /// By default, the first command runs twice in each round, to show how much runs of the same command differ.
    #[arg(long)]
    pub(crate) no_noise_floor: bool,
}

/// What surrounds the commands.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Around the commands")]
pub(crate) struct AroundArgs {
    /// Run COMMAND in a shell once before the first run of each command
    #[arg(short, long, value_name = "COMMAND")]
    pub(crate) setup: Option<String>,
    /// Run COMMAND in a shell before each run
    ///
    /// It runs before the cache state is set. Give it once for all commands, or once for each.
    #[arg(short, long, value_name = "COMMAND")]
    pub(crate) prepare: Vec<String>,
    /// Run COMMAND in a shell after each run
    ///
    /// Give it once for all commands, or once for each.
    #[arg(short = 'C', long, value_name = "COMMAND")]
    pub(crate) conclude: Vec<String>,
    /// Run COMMAND in a shell once after the last run of each command
    #[arg(short, long, value_name = "COMMAND")]
    pub(crate) cleanup: Option<String>,
    /// Run the commands in SHELL: none, default, sh, 'bash --norc'
    #[arg(short = 'S', long, value_name = "SHELL", default_value = "none")]
    pub(crate) shell: String,
    /// Same as --shell=none
    #[arg(short = 'N', conflicts_with = "shell")]
    pub(crate) no_shell: bool,
    /// Accept runs that exit with CODES, e.g. 1,2; without a value: all-non-zero
    ///
    /// Without this option, the first failure ends the benchmark. all-non-zero includes runs that a signal killed.
    #[arg(
        short,
        long,
        value_name = "CODES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ALL_FAILURES,
        value_parser = parse_failures
    )]
    pub(crate) ignore_failure: Option<IgnoredFailures>,
    /// Connect standard input of the commands to WHERE: null or a file
    #[arg(long, value_name = "WHERE", default_value = "null")]
    pub(crate) input: PathBuf,
    /// Connect standard output to WHERE: null, pipe, inherit or a file, e.g. ./log
    ///
    /// grep and tar notice null, and do less work. pipe is a file in memory. Give it once for all commands, or once for each.
    #[arg(long, value_name = "WHERE", default_value = "null")]
    pub(crate) output: Vec<PathBuf>,
    /// Same as --output=inherit, and for standard error, too
    #[arg(long, conflicts_with = "output")]
    pub(crate) show_output: bool,
    /// Name of a command; give it once for each, in order
    #[arg(short = 'n', long, value_name = "NAME")]
    pub(crate) command_name: Vec<String>,
}

impl AroundArgs {
    /// Which failures are accepted.
    pub(crate) fn ignored_failures(&self) -> IgnoredFailures {
        self.ignore_failure.clone().unwrap_or_default()
    }
}

/// The value of --ignore-failure that stands for every failure.
const ALL_FAILURES: &str = "all-non-zero";

fn parse_failures(text: &str) -> Result<IgnoredFailures, String> {
    if text == ALL_FAILURES {
        return Ok(IgnoredFailures::All);
    }
    let code = |word: &str| word.trim().parse::<u8>().ok().filter(|&code| code > 0).map(i32::from);
    let codes: Option<Vec<i32>> = text.split(',').map(code).collect();
    codes
        .map(IgnoredFailures::Codes)
        .ok_or_else(|| format!("expected exit codes from 1 to 255, such as 1,2, or {ALL_FAILURES}"))
}

/// Parameters of the commands.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Parameters")]
pub(crate) struct ParameterArgs {
    /// Benchmark for each value of VAR from MIN to MAX
    ///
    /// The value replaces {VAR} in the commands.
    #[arg(short = 'P', long, num_args = 3, value_names = ["VAR", "MIN", "MAX"], allow_hyphen_values = true)]
    pub(crate) parameter_scan: Vec<String>,
    /// Step of --parameter-scan
    #[arg(
        short = 'D',
        long,
        value_name = "DELTA",
        requires = "parameter_scan",
        allow_negative_numbers = true
    )]
    pub(crate) parameter_step_size: Option<String>,
    /// Benchmark for each of the comma-separated VALUES of VAR
    ///
    /// Given more than once, all combinations are measured.
    #[arg(short = 'L', long, num_args = 2, value_names = ["VAR", "VALUES"], allow_hyphen_values = true)]
    pub(crate) parameter_list: Vec<String>,
}

/// What is written, and how it looks.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct BenchOutput {
    /// Write every run as JSON, extending hyperfine's (hotset.bench/1)
    ///
    /// `-` is standard output; the summary then goes to standard error.
    #[arg(long, value_name = "FILE")]
    pub(crate) export_json: Option<PathBuf>,
    /// Same as --export-json=-
    #[arg(long, conflicts_with = "export_json")]
    pub(crate) json: bool,
    /// Write CSV, one row per command and state
    #[arg(long, value_name = "FILE")]
    pub(crate) export_csv: Option<PathBuf>,
    /// Write a Markdown table
    #[arg(long, value_name = "FILE")]
    pub(crate) export_markdown: Option<PathBuf>,
    /// Write a self-contained HTML page with charts
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Show the times of the summary and the Markdown table in UNIT [default: a fitting unit for each]
    ///
    /// JSON and CSV are in seconds in any case.
    #[arg(short = 'u', long, value_name = "UNIT", value_parser = choice(TIME_UNITS))]
    pub(crate) time_unit: Option<TimeUnit>,
    /// Sort the rows of the summary and the Markdown table
    #[arg(long, value_name = "ORDER", action = clap::ArgAction::Set, default_value = "command", value_parser = choice(ORDERS))]
    pub(crate) sort: bool,
    /// Do not print the summary
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) look: LookArgs,
}

impl BenchOutput {
    /// How times and rows are shown.
    pub(crate) fn bench_look(&self) -> BenchLook {
        BenchLook { unit: self.time_unit, by_time: self.sort }
    }
}

const TIME_UNITS: &[Choice<TimeUnit>] = &[
    (TimeUnit::Microsecond, "microsecond", "µs"),
    (TimeUnit::Millisecond, "millisecond", "ms"),
    (TimeUnit::Second, "second", "s"),
];

const ORDERS: &[Choice<bool>] = &[
    (false, "command", "as the commands were given"),
    (true, "median-time", "by the median wall time, the shortest first"),
];

fn parse_state(text: &str) -> Result<WantedState, String> {
    WantedState::from_name(text.trim())
        .ok_or_else(|| "expected cold, cold-all, warm, half, 1% to 99%, or as-is".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::{Cli, Command};
    use super::*;

    fn parsed(words: &[&str]) -> Result<BenchArgs, clap::Error> {
        let cli = Cli::try_parse_from([&["hotset", "bench"], words].concat())?;
        let Command::Bench(args) = cli.command else { panic!("bench") };
        Ok(*args)
    }

    #[test]
    fn hyperfines_words_mean_what_they_mean_there() {
        let args = parsed(&[
            "-w", "3", "-M", "20", "-m", "5", "-p", "a", "-p", "b", "-C", "x", "-c", "y", "-s",
            "z", "-S", "bash", "-i", "-n", "one", "-P", "t", "-2", "8", "-D", "0.5", "-L", "c",
            "-O2,-O3", "--", "make", "-j2",
        ])
        .expect("arguments");
        assert_eq!(
            (args.rounds.warmup, args.rounds.max_runs, args.rounds.min_runs),
            (Some(3), 20, Some(5))
        );
        assert_eq!((args.around.prepare.len(), args.around.conclude.len()), (2, 1));
        assert_eq!(args.parameters.parameter_scan, ["t", "-2", "8"]);
        assert_eq!(args.parameters.parameter_list, ["c", "-O2,-O3"]);
        assert_eq!(args.around.shell, "bash");
        assert_eq!(args.around.ignored_failures(), IgnoredFailures::All);
        assert_eq!(args.command, ["make", "-j2"]);
    }

    #[test]
    fn states_are_a_list_and_wrong_ones_are_refused() {
        let args = parsed(&["--state", "cold-all,half,7%", "ls", "-l"]).expect("arguments");
        let names: Vec<String> = args.states.state.iter().map(ToString::to_string).collect();
        assert_eq!((names.join(" ").as_str(), args.command.len()), ("cold-all 50% 7%", 2));
        let names = parsed(&["ls"]).expect("arguments").states.state;
        assert_eq!(names, [WantedState::Cold, WantedState::Warm]);
        for wrong in ["hot", "0%", "100%", "cold,", ""] {
            let error = parsed(&["--state", wrong, "ls"]).expect_err(wrong).to_string();
            assert!(error.contains("cold-all"), "{error}");
        }
    }

    #[test]
    fn failures_are_ignored_by_their_codes() {
        let ignored = |word: &str| parsed(&[word, "ls"]).map(|args| args.around.ignored_failures());
        assert_eq!(ignored("-q").expect("none"), IgnoredFailures::None);
        for word in ["-i", "--ignore-failure", "--ignore-failure=all-non-zero"] {
            assert_eq!(ignored(word).expect(word), IgnoredFailures::All);
        }
        assert_eq!(
            ignored("--ignore-failure=1,3").expect("codes"),
            IgnoredFailures::Codes(vec![1, 3])
        );
        for wrong in ["0", "1,,2", "256", "none", "-1"] {
            assert!(ignored(&format!("--ignore-failure={wrong}")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn rows_and_times_are_shown_as_asked_for() {
        let look = |words: &[&str]| parsed(words).map(|args| args.exports.bench_look());
        assert_eq!(look(&["ls"]).expect("default"), BenchLook::default());
        let asked = look(&["-u", "second", "--sort", "median-time", "ls"]).expect("both");
        assert_eq!(asked, BenchLook { unit: Some(TimeUnit::Second), by_time: true });
        assert!(look(&["--sort", "name", "ls"]).is_err() && look(&["-u", "hour", "ls"]).is_err());
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        assert!(parsed(&["-r", "3", "-M", "9", "ls"]).is_err());
        assert!(parsed(&["-N", "-S", "sh", "ls"]).is_err());
        assert!(parsed(&["--json", "--export-json", "x", "ls"]).is_err());
        assert!(parsed(&["-D", "1", "ls"]).is_err());
        assert!(parsed(&[]).is_err());
    }
}
