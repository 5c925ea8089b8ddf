//! `hotset bench`. Options that hyperfine has too are named as it names them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use hotset_facts::WantedState;

use super::LookArgs;
use super::number::number;
use hotset_facts::units::parse_duration;

/// Arguments of `bench`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  hotset bench -- python3 app.py                       cold against warm\n  \
                        hotset bench --vs 'rg -j2 needle src' -- grep -r needle src\n  \
                        hotset bench --state cold,half,warm --export-json out.json -- ./server --check\n  \
                        hotset bench --show-files -- git status              the files, and no benchmark\n\n\
                        The summary goes to standard output. The exit code is 0, or that of a command that failed\n\
                        (128+n for a signal), or 130 after Ctrl-C; 125: hotset failed; 126: a command can't be\n\
                        executed; 127: it was not found."
)]
pub(crate) struct BenchArgs {
    /// Compare with this command, B, in each state; may be given more than once. It is split into words as a shell
    /// would, and run without one unless --shell names one.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) vs: Vec<String>,
    #[command(flatten)]
    pub(crate) states: StateArgs,
    #[command(flatten)]
    pub(crate) rounds: RoundArgs,
    #[command(flatten)]
    pub(crate) around: AroundArgs,
    #[command(flatten)]
    pub(crate) parameters: ParameterArgs,
    #[command(flatten)]
    pub(crate) exports: BenchOutput,
    /// The command and its arguments; one word with spaces is split as a shell would.
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

/// Which states, on which files.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "States and files")]
pub(crate) struct StateArgs {
    /// Cache states to start in, separated by commas: cold (the command's files evicted), cold-all (drop_caches too, with
    /// directory entries and inodes; root), warm, half or N% (pages spread evenly), as-is.
    #[arg(long, value_name = "STATE", value_delimiter = ',', default_value = "cold,warm", value_parser = parse_state)]
    pub(crate) state: Vec<WantedState>,
    /// Set the states on this file, or on all files below this directory, instead of on what a first run shows; may be given
    /// more than once.
    #[arg(long, value_name = "PATH")]
    pub(crate) files: Vec<PathBuf>,
    /// Print the files that the command reads or maps, and benchmark nothing.
    #[arg(long)]
    pub(crate) show_files: bool,
    /// Learn the files by tracing system calls, as where BPF is not allowed.
    #[arg(long)]
    pub(crate) no_bpf: bool,
}

/// How many rounds.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Rounds")]
pub(crate) struct RoundArgs {
    /// Exactly N rounds; each runs every command once in every state.
    #[arg(short, long, value_name = "N", conflicts_with_all = ["min_runs", "max_runs"], value_parser = number(1..=1_000_000_u32))]
    pub(crate) runs: Option<u32>,
    /// Rounds before the first look at the results; more come in blocks until the intervals are under 2 %.
    #[arg(short, long, value_name = "N", default_value_t = 15, value_parser = number(1..=1_000_000_u32))]
    pub(crate) min_runs: u32,
    /// The most rounds.
    #[arg(short = 'M', long, value_name = "N", default_value_t = 100, value_parser = number(1..=1_000_000_u32))]
    pub(crate) max_runs: u32,
    /// Begin no round that would end later than this: 90s, 5m. Not with --runs.
    #[arg(long, value_name = "TIME", default_value = "3m", value_parser = parse_duration)]
    pub(crate) max_time: Duration,
    /// Treat the first N rounds as a warm-up; 0 for none. Without this a warm-up is looked for in the series.
    #[arg(short, long, value_name = "N", value_parser = number(0..=1_000_000_u32))]
    pub(crate) warmup: Option<u32>,
    /// The seed of the random order within rounds.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Don't run the first command twice in each round to show this session's own noise.
    #[arg(long)]
    pub(crate) no_noise_floor: bool,
}

/// What surrounds the commands.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Around the commands")]
pub(crate) struct AroundArgs {
    /// Run COMMAND once before the first run of each command. Those around the commands are always run by a shell.
    #[arg(short, long, value_name = "COMMAND")]
    pub(crate) setup: Option<String>,
    /// Run COMMAND before each run, and before its state is set; once for all, or once for each command.
    #[arg(short, long, value_name = "COMMAND")]
    pub(crate) prepare: Vec<String>,
    /// Run COMMAND after each run; once for all, or once for each command.
    #[arg(short = 'C', long, value_name = "COMMAND")]
    pub(crate) conclude: Vec<String>,
    /// Run COMMAND once after the last run of each command.
    #[arg(short, long, value_name = "COMMAND")]
    pub(crate) cleanup: Option<String>,
    /// Run the commands by this shell (sh, 'bash --norc', default); none starts them directly.
    #[arg(short = 'S', long, value_name = "SHELL", default_value = "none")]
    pub(crate) shell: String,
    /// The same as --shell=none.
    #[arg(short = 'N', conflicts_with = "shell")]
    pub(crate) no_shell: bool,
    /// Count runs that fail, too; without this the first failure ends the session.
    #[arg(short, long)]
    pub(crate) ignore_failure: bool,
    /// Where commands read from: null, or a file.
    #[arg(long, value_name = "WHERE", default_value = "null")]
    pub(crate) input: PathBuf,
    /// Where commands write to: null (which grep and tar notice, and do less), pipe (a file in memory), inherit, or a file;
    /// once for all, or once for each command.
    #[arg(long, value_name = "WHERE", default_value = "null")]
    pub(crate) output: Vec<PathBuf>,
    /// The same as --output=inherit, and for standard error too.
    #[arg(long, conflicts_with = "output")]
    pub(crate) show_output: bool,
    /// What to call a command; once for each, in their order.
    #[arg(short = 'n', long, value_name = "NAME")]
    pub(crate) command_name: Vec<String>,
}

/// Parameters of the commands.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Parameters")]
pub(crate) struct ParameterArgs {
    /// Benchmark for each VAR from MIN to MAX, which takes the place of {VAR} in the commands.
    #[arg(short = 'P', long, num_args = 3, value_names = ["VAR", "MIN", "MAX"], allow_hyphen_values = true)]
    pub(crate) parameter_scan: Vec<String>,
    /// The step of --parameter-scan.
    #[arg(
        short = 'D',
        long,
        value_name = "DELTA",
        requires = "parameter_scan",
        allow_negative_numbers = true
    )]
    pub(crate) parameter_step_size: Option<String>,
    /// Benchmark for each of the comma-separated VALUES of VAR; all combinations where given more than once.
    #[arg(short = 'L', long, num_args = 2, value_names = ["VAR", "VALUES"], allow_hyphen_values = true)]
    pub(crate) parameter_list: Vec<String>,
}

/// What is written, and how it looks.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct BenchOutput {
    /// Write every run in hyperfine's shape with our keys added (hotset.bench/1); `-` is standard output, and the summary
    /// then goes to standard error.
    #[arg(long, value_name = "FILE")]
    pub(crate) export_json: Option<PathBuf>,
    /// The same as --export-json=-.
    #[arg(long, conflicts_with = "export_json")]
    pub(crate) json: bool,
    /// Write a row for each command and state as CSV.
    #[arg(long, value_name = "FILE")]
    pub(crate) export_csv: Option<PathBuf>,
    /// Write a Markdown table.
    #[arg(long, value_name = "FILE")]
    pub(crate) export_markdown: Option<PathBuf>,
    /// Write a page with charts that works offline: distributions, runs in order of time, cold against warm.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// No summary.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) look: LookArgs,
}

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
            (Some(3), 20, 5)
        );
        assert_eq!((args.around.prepare.len(), args.around.conclude.len()), (2, 1));
        assert_eq!(args.parameters.parameter_scan, ["t", "-2", "8"]);
        assert_eq!(args.parameters.parameter_list, ["c", "-O2,-O3"]);
        assert_eq!((args.around.shell.as_str(), args.around.ignore_failure), ("bash", true));
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
    fn what_contradicts_itself_is_refused() {
        assert!(parsed(&["-r", "3", "-M", "9", "ls"]).is_err());
        assert!(parsed(&["-N", "-S", "sh", "ls"]).is_err());
        assert!(parsed(&["--json", "--export-json", "x", "ls"]).is_err());
        assert!(parsed(&["-D", "1", "ls"]).is_err());
        assert!(parsed(&[]).is_err());
    }
}
