//! Arguments of `report`.

use std::path::PathBuf;

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  hotset report lab.json -o lab.html\n  \
                        hotset report before.json after.json -o compared.html\n  \
                        hotset report app.parquet -o app.html\n\n\
                        Reads what hotset writes: JSON of run, attach, bench and lab (also baselines), ls (also with --system), \
                        warm, evict, pin, save, restore, stat, doctor, replay, explain, size and diff, recordings of top, and \
                        what python -m hotset.fleet found. Runs of the same experiment share charts, with their ratio; profiles, \
                        benchmarks and needs of memory are compared in a table. A trace (Parquet, of record or trace import) is \
                        drawn: where in which file and when, from cache or device, and what each thread waited for.\n\n\
                        Exit status:\n  \
                        0  the page was written\n  \
                        1  a file cannot be read or is not a result; nothing was written\n  \
                        2  invalid arguments")]
pub(crate) struct ReportArgs {
    /// Results written by hotset, in any format; `-` is standard input
    ///
    /// A file may contain one or many. A trace must be a file: it is read in parts.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Write the page to OUT.html atomically; `-` is standard output
    #[arg(short, long, value_name = "OUT.html")]
    pub(crate) output: PathBuf,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::super::Cli;

    #[test]
    fn the_help_names_each_command_that_writes_a_format() {
        let formats = include_str!("../../../../docs/formats.md");
        let rows = formats.lines().filter(|line| line.starts_with("| `hotset."));
        // What came of checks is for other programs.
        let rows = rows.filter(|row| !row.starts_with("| `hotset.check/"));
        let writers: Vec<&str> = rows.filter_map(|row| row.split('|').nth(2)).collect();
        assert_eq!(writers.len(), 18);
        let mut cli = Cli::command();
        let report = cli.find_subcommand_mut("report").expect("report");
        let help = report.render_long_help().to_string();
        let (_, reads) = help.split_once("Reads what hotset writes").expect("a list");
        let reads: Vec<&str> = reads.split(|c: char| !c.is_ascii_lowercase()).collect();
        let spans = writers.iter().flat_map(|cell| cell.split('`').skip(1).step_by(2));
        for command in spans.filter(|span| !span.starts_with('-')) {
            let name = command.split(' ').next().expect("a command");
            assert!(reads.contains(&name), "{name} in {help}");
        }
    }
}
