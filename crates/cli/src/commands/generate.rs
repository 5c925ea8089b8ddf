//! Completions and man pages, from the same declarations as the arguments.

use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::args::Cli;
use crate::exit::Exit;
use crate::output;

/// Prints completions for a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> Exit {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "hotset", &mut bytes);
    finish(output::print(&bytes))
}

/// Writes man pages into a directory.
pub(crate) fn man(directory: &Path) -> Exit {
    finish(
        clap_mangen::generate_to(Cli::command(), directory)
            .with_context(|| directory.display().to_string()),
    )
}

fn finish(result: Result<()>) -> Exit {
    match result {
        Ok(()) => Exit::Success,
        Err(error) => {
            output::say(format_args!("{error:#}"));
            Exit::Failure
        }
    }
}
