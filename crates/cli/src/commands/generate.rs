//! Completions and man pages, from the same declarations as the arguments.

use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;

use crate::args::Cli;
use crate::exit::{Exit, Stop};
use crate::output;

/// Prints completions for a shell.
pub(super) fn completions(shell: clap_complete::Shell) -> Result<Exit, Stop> {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "hotset", &mut bytes);
    output::print(&bytes)?;
    Ok(Exit::Success)
}

/// Writes man pages into a directory.
pub(super) fn man(directory: &Path) -> Result<Exit, Stop> {
    clap_mangen::generate_to(Cli::command(), directory)
        .with_context(|| directory.display().to_string())?;
    Ok(Exit::Success)
}
