//! The arguments as typed. Nothing here is validated beyond its syntax; what a command can't do, it refuses itself.

mod attach;
mod bench;
mod choice;
mod control;
mod export;
mod interval;
mod lab;
mod ls;
mod number;
mod report;
mod run;
mod saved;
mod selection;
mod shared;
mod stat;
mod top;

use clap::{Parser, Subcommand};

pub(crate) use attach::AttachArgs;
pub(crate) use bench::{AroundArgs, BenchArgs, BenchOutput, ParameterArgs, RoundArgs};
pub(crate) use control::{ControlOutput, EvictArgs, PinArgs, WarmArgs};
pub(crate) use export::ExportArgs;
pub(crate) use lab::{LabArgs, LabOutput, LabProbeArgs, known_by};
pub(crate) use ls::{FormArgs, LsArgs};
pub(crate) use report::ReportArgs;
pub(crate) use run::RunArgs;
pub(crate) use saved::{RestoreArgs, SaveArgs};
pub(crate) use selection::SelectionArgs;
pub(crate) use shared::{Color, LookArgs, OutputArgs};
pub(crate) use stat::StatArgs;
pub(crate) use top::TopArgs;

/// What the page cache does for a program, what it is worth, and what to change.
#[derive(Debug, Parser)]
#[command(name = "hotset", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Examples:\n  hotset run -- python3 app.py        profile a command\n  \
                        hotset attach --pid 1234 -d 10s     profile what already runs\n  \
                        hotset doctor                       what this host lets hotset see")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Profile a command and its children: page cache, direct I/O, faults, lookups, time, and findings.
    Run(RunArgs),
    /// The same for what already runs: a process, a control group, or the whole host.
    Attach(AttachArgs),
    /// Watch the page cache work, a line an interval: hits, misses, dirtied, then read-ahead, direct, faults, evicted.
    Stat(StatArgs),
    /// Watch processes, files and control groups use the page cache, on a full screen; record it, and show it again.
    Top(TopArgs),
    /// Serve what the page cache does to Prometheus, or push it by OTLP: counters of the host, of control groups and programs.
    Export(ExportArgs),
    /// What is in the page cache of files, directories and processes: a row a file, then the total.
    Ls(LsArgs),
    /// Bring files into the page cache: fetch what is missing, and say what is cached then.
    Warm(WarmArgs),
    /// Take files out of the page cache, and say what stayed and why.
    Evict(EvictArgs),
    /// Hold files in memory until stopped, as they grow and are replaced.
    Pin(PinArgs),
    /// Save which pages of files are cached, so that `restore` can bring exactly these back.
    Save(SaveArgs),
    /// Read back the pages that `save` found cached, and no others; files that changed are left alone.
    Restore(RestoreArgs),
    /// Time a command from a cold and from a warm cache, or against another: states verified before each run.
    Bench(Box<BenchArgs>),
    /// A page out of saved results, which opens from disk without a network: several of a kind beside each other.
    Report(ReportArgs),
    /// Run experiments on this machine that explain the page cache, with verified states: tables, JSON, a page.
    Lab(Box<LabArgs>),
    /// What this host lets hotset see, what not, why, and what to do about it.
    Doctor(DoctorArgs),
    /// One timed job of an experiment; what `lab` runs.
    #[command(hide = true)]
    LabProbe(LabProbeArgs),
    /// Print shell completions.
    #[command(hide = true)]
    Completions {
        /// For which shell.
        shell: clap_complete::Shell,
    },
    /// Write man pages into a directory.
    #[command(hide = true)]
    Man {
        /// Where to.
        directory: std::path::PathBuf,
    },
}

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  sudo hotset doctor")]
pub(crate) struct DoctorArgs {
    /// Print JSON (hotset.doctor/1) instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// When to use colour.
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

    /// The commands in README's table: the first word of each code span of a row's first cell, without `hotset`.
    fn commands_of_readme() -> Vec<&'static str> {
        let readme = include_str!("../../../../README.md");
        let table = readme.split("| `hotset run").nth(1).expect("the table of commands");
        let table = table.split("\n\n").next().expect("the table");
        let first_cells = table.lines().enumerate().filter_map(|(row, line)| match row {
            0 => Some("`run`"),
            _ => line.split('|').nth(1),
        });
        let spans = first_cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
        let words = spans.map(|span| span.trim_start_matches("hotset ").split(' ').next());
        words.flatten().filter(|word| !word.starts_with('-')).collect()
    }

    #[test]
    fn readme_and_help_know_the_same_commands() {
        let cli = Cli::command();
        let shown = cli.get_subcommands().filter(|command| !command.is_hide_set());
        let mut shown: Vec<&str> = shown.map(clap::Command::get_name).collect();
        let help = Cli::command().render_long_help().to_string();
        for name in &shown {
            let line = help.lines().find(|line| line.trim_start().starts_with(&format!("{name} ")));
            assert!(line.is_some(), "{name} in --help");
        }
        let mut listed = commands_of_readme();
        listed.sort_unstable();
        shown.sort_unstable();
        assert_eq!(listed, shown);
    }
}
