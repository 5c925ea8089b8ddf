//! Completions and man pages, from the same declarations as the arguments.

mod man;

use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::exit::{Exit, Stop};
use crate::output;

/// Behind `--`, bash completes the command that hotset runs: the generated script knows only hotset's own words.
const BASH_COMMANDS: &str = include_str!("commands.bash");

/// Prints completions for a shell.
pub(super) fn completions(shell: Shell) -> Result<Exit, Stop> {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "hotset", &mut bytes);
    if shell == Shell::Bash {
        bytes.extend_from_slice(BASH_COMMANDS.as_bytes());
    }
    output::print(&bytes)?;
    Ok(Exit::Success)
}

/// Writes man pages into a directory: one for hotset, and one for each command that its help lists.
pub(super) fn man(directory: &Path) -> Result<Exit, Stop> {
    let mut all = Cli::command().disable_help_subcommand(true);
    all.build();
    let commands = all.get_subcommands().filter(|command| !command.is_hide_set());
    for command in std::iter::once(&all).chain(commands) {
        let page = man::Page::of(command);
        let path = directory.join(page.file_name());
        let written = page.render().and_then(|bytes| std::fs::write(&path, bytes));
        written.with_context(|| path.display().to_string())?;
    }
    Ok(Exit::Success)
}
