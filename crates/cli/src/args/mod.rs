//! The arguments as typed. Nothing here is validated beyond its syntax; what a command can't do, it refuses itself.

mod attach;
mod baseline;
mod bench;
mod check;
mod choice;
mod control;
mod diff;
mod explain;
mod export;
mod interval;
mod lab;
mod ls;
mod pid;
mod record;
mod replay;
mod report;
mod run;
mod saved;
mod selection;
mod shared;
mod size;
mod size_emit;
mod stat;
mod target;
mod top;
mod trace;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub(crate) use attach::AttachArgs;
pub(crate) use baseline::BaselineArgs;
pub(crate) use bench::{AroundArgs, BenchArgs, BenchOutput, ParameterArgs, RoundArgs};
pub(crate) use check::CheckArgs;
pub(crate) use control::{ControlOutput, EvictArgs, PinArgs, WarmArgs};
pub(crate) use diff::DiffArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use export::{ExportArgs, FleetArgs};
pub(crate) use lab::{LabArgs, LabOutput, LabProbeArgs, known_by};
pub(crate) use ls::{FormArgs, LsArgs};
pub(crate) use record::RecordArgs;
pub(crate) use replay::{ReplayArgs, ReplayHowArgs};
pub(crate) use report::ReportArgs;
pub(crate) use run::RunArgs;
pub(crate) use saved::{RestoreArgs, SaveArgs};
pub(crate) use selection::SelectionArgs;
pub(crate) use shared::{Color, LookArgs, OutputArgs};
pub(crate) use size::SizeArgs;
pub(crate) use size_emit::EmitTo;
pub(crate) use stat::StatArgs;
pub(crate) use target::TargetArgs;
pub(crate) use top::TopArgs;
pub(crate) use trace::{
    ColumnArgs, ExportTo, ImportFrom, TraceArgs, TraceCommand, TraceExportArgs, TraceImportArgs,
    TraceInfoArgs, TraceJoinArgs,
};

/// Profile, measure and control the Linux page cache
#[derive(Debug, Parser)]
#[command(name = "hotset", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Examples:\n  hotset run -- python3 app.py        profile a command\n  \
                        hotset attach --pid 1234 -d 10s     profile a running process\n  \
                        hotset doctor                       check what hotset can measure here\n\n\
                        Each command's help lists its exit statuses.")]
pub(crate) struct Cli {
    /// Write hotset's own messages to FILE instead of standard error, which is the command's
    ///
    /// Programs that call hotset use it (`python/`). [`messages_file`] reads it, so that refused arguments go there, too.
    #[arg(long, hide = true, value_name = "FILE")]
    pub(crate) messages: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Profile a command's page cache use and file I/O
    Run(RunArgs),
    /// Profile a running process, control group or host
    Attach(AttachArgs),
    /// Record every request of a command or of running processes
    Record(RecordArgs),
    /// Inspect, convert and join recordings
    Trace(TraceArgs),
    /// Find what slows I/O down, and prove what a change gains
    Explain(Box<ExplainArgs>),
    /// Replay a recording's requests, and compare
    Replay(ReplayArgs),
    /// Predict how much memory a recorded program needs
    Size(SizeArgs),
    /// Compare two profiles or two recordings
    Diff(DiffArgs),
    /// Print page cache statistics at a fixed interval
    Stat(StatArgs),
    /// Show page cache activity by process, file and cgroup
    Top(TopArgs),
    /// Export page cache metrics to Prometheus or OTLP
    Export(ExportArgs),
    /// List how much of each file is cached
    Ls(LsArgs),
    /// Read missing pages into the page cache
    Warm(WarmArgs),
    /// Evict files from the page cache
    Evict(EvictArgs),
    /// Lock files in memory until stopped
    Pin(PinArgs),
    /// Save a snapshot of which pages are cached
    Save(SaveArgs),
    /// Restore cached pages from a snapshot
    Restore(RestoreArgs),
    /// Benchmark a command with cold and warm page cache
    Bench(Box<BenchArgs>),
    /// Check file I/O against a budget, hotset.toml
    Check(Box<CheckArgs>),
    /// Create an HTML report from saved results and recordings
    Report(ReportArgs),
    /// Run page cache experiments on this machine
    Lab(Box<LabArgs>),
    /// Check what hotset can measure on this host
    Doctor(DoctorArgs),
    /// Run one timed job of a lab experiment
    #[command(hide = true)]
    LabProbe(LabProbeArgs),
    /// Print shell completions
    #[command(hide = true)]
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
    /// Write man pages to a directory
    #[command(hide = true)]
    Man {
        /// Directory to write to
        directory: PathBuf,
    },
}

/// The file of `--messages`, which must be the first argument.
pub(crate) fn messages_file(mut arguments: impl Iterator<Item = OsString>) -> Option<PathBuf> {
    let option = arguments.nth(1)?;
    arguments.next().filter(|_| option == "--messages").map(PathBuf::from)
}

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  sudo hotset doctor\n\n\
                        Exit status:\n  0  the report was printed, whatever it says\n  1  hotset failed\n  2  invalid arguments")]
pub(crate) struct DoctorArgs {
    /// Print JSON (hotset.doctor/1) instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// When to use color
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_declarations_hold_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_commands_own_flags_are_its_own() {
        let cli = Cli::try_parse_from(["hotset", "run", "-q", "--", "ls", "--json", "-v"]).unwrap();
        let Command::Run(run) = cli.command else { panic!("run") };
        assert_eq!(run.command, ["ls", "--json", "-v"]);
        assert!(run.output.json.is_none() && run.output.quiet);
        let cli = Cli::try_parse_from(["hotset", "run", "ls", "-l"]).unwrap();
        let Command::Run(run) = cli.command else { panic!("run") };
        assert_eq!(run.command, ["ls", "-l"]);
    }

    #[test]
    fn messages_go_to_a_file_that_is_named_first() {
        let file = |words: &[&str]| messages_file(words.iter().map(OsString::from));
        let named = ["hotset", "--messages", "f", "run", "--top", "x"];
        assert_eq!(file(&named), Some(PathBuf::from("f")), "also where the rest is refused");
        assert_eq!(file(&["hotset", "run", "--messages", "f"]), None);
        assert_eq!((file(&["hotset", "--messages"]), file(&["hotset"])), (None, None));
        let cli = Cli::try_parse_from(&named[..4]).unwrap_err();
        assert!(cli.to_string().contains("<CMD>"), "{cli}");
        assert!(Cli::try_parse_from(["hotset", "run", "--messages", "f", "ls"]).is_err());
    }

    #[test]
    fn json_needs_a_file_and_takes_no_command_for_one() {
        for words in
            [&["run", "--json", "--", "ls"][..], &["run", "--json"], &["run", "--json", "ls"]]
        {
            let refused = Cli::try_parse_from([&["hotset"], words].concat()).unwrap_err();
            assert!(refused.use_stderr(), "{words:?}");
        }
        for words in [["--json", "-"].as_slice(), &["--json=-"]] {
            let cli = Cli::try_parse_from([&["hotset", "run"], words, &["ls"]].concat()).unwrap();
            let Command::Run(run) = cli.command else { panic!("run") };
            assert_eq!(run.output.json.as_deref(), Some(std::path::Path::new("-")));
            assert_eq!(run.command, ["ls"]);
        }
    }

    /// Every command with its subcommands.
    fn all(command: clap::Command) -> Vec<clap::Command> {
        let below: Vec<_> = command.get_subcommands().cloned().flat_map(all).collect();
        [vec![command], below].concat()
    }

    #[test]
    fn a_paragraph_of_help_is_one_line_for_the_terminal_to_break() {
        let prose = |line: &str| !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
        let broken = all(Cli::command()).into_iter().flat_map(|command| {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> = help.lines().collect();
            let pairs = lines.windows(2).filter(|pair| prose(pair[0]) && prose(pair[1]));
            let name = command.get_name();
            pairs.map(|pair| format!("{name}: ends a line here: {}", pair[0])).collect::<Vec<_>>()
        });
        assert_eq!(broken.collect::<Vec<_>>(), [""; 0]);
    }

    /// The commands that README's table has, each a link to its section.
    fn commands_of_readme() -> Vec<&'static str> {
        let readme = include_str!("../../../../README.md");
        let links = readme.split("](docs/commands.md#hotset-").skip(1);
        links.filter_map(|link| link.split(')').next()).collect()
    }

    /// The commands that have a section in the reference.
    fn commands_of_reference() -> Vec<&'static str> {
        let reference = include_str!("../../../../docs/commands.md");
        let sections = reference.lines().filter_map(|line| line.strip_prefix("## `hotset "));
        sections.filter_map(|rest| rest.strip_suffix('`')).collect()
    }

    #[test]
    fn readme_reference_and_help_know_the_same_commands() {
        let cli = Cli::command();
        let shown = cli.get_subcommands().filter(|command| !command.is_hide_set());
        let mut shown: Vec<&str> = shown.map(clap::Command::get_name).collect();
        let help = Cli::command().render_long_help().to_string();
        for name in &shown {
            let line = help.lines().find(|line| line.trim_start().starts_with(&format!("{name} ")));
            assert!(line.is_some(), "{name} in --help");
        }
        shown.sort_unstable();
        for mut listed in [commands_of_readme(), commands_of_reference()] {
            listed.sort_unstable();
            assert_eq!(listed, shown);
        }
    }
}
