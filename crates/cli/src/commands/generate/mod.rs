//! Completions and man pages, from the same declarations as the arguments.

mod man;

use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::exit::{Exit, Stop};
use crate::output;

/// Behind `--` the command that hotset runs is completed: the generated scripts know only hotset's own words. zsh does it by itself.
const BASH_COMMANDS: &str = include_str!("commands.bash");
const FISH_COMMANDS: &str = include_str!("commands.fish");

/// Prints completions for a shell.
pub(super) fn completions(shell: Shell) -> Result<Exit, Stop> {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "hotset", &mut bytes);
    match shell {
        Shell::Bash => bytes.extend_from_slice(BASH_COMMANDS.as_bytes()),
        Shell::Fish => bytes.extend_from_slice(fish_beside_generated().as_bytes()),
        _ => {}
    }
    output::print(&bytes)?;
    Ok(Exit::Success)
}

/// What fish's generator leaves out: values of arguments that are no options, and the command that hotset runs.
fn fish_beside_generated() -> String {
    let mut all = Cli::command();
    all.build();
    let mut text = String::new();
    for command in all.get_subcommands().filter(|command| !command.is_hide_set()) {
        let values = command.get_positionals().flat_map(clap::Arg::get_possible_values);
        let values: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
        if !values.is_empty() {
            let (name, values) = (command.get_name(), values.join(" "));
            text.push_str(&format!(
                "complete -c hotset -n \"__fish_hotset_using_subcommand {name}\" -f -a \"{values}\"\n"
            ));
        }
    }
    text + FISH_COMMANDS
}

/// Writes man pages into a directory: one for hotset, and one for each command that its help lists.
pub(super) fn man(directory: &Path) -> Result<Exit, Stop> {
    let mut all = Cli::command().disable_help_subcommand(true);
    all.build();
    let commands = all.get_subcommands().filter(|command| !command.is_hide_set());
    let commands =
        commands.flat_map(|command| std::iter::once(command).chain(command.get_subcommands()));
    for command in std::iter::once(&all).chain(commands) {
        let page = man::Page::of(command);
        let path = directory.join(page.file_name());
        let written = page.render().and_then(|bytes| std::fs::write(&path, bytes));
        written.with_context(|| path.display().to_string())?;
    }
    Ok(Exit::Success)
}
