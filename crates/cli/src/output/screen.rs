//! Standard output as a screen.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result};

use super::use_color;
use crate::args::Color;

/// Whether there is a terminal to draw on and to read keys from. One that calls itself dumb can't be drawn on.
pub(crate) fn has_screen() -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
    io::stdout().is_terminal() && io::stdin().is_terminal() && !dumb
}

/// Whether a screen may have colours.
pub(crate) fn screen_color(wanted: Color) -> bool {
    use_color(wanted, true)
}

/// Where a screen is drawn.
pub(crate) fn screen_stream() -> io::Stdout {
    io::stdout()
}

/// Prints to standard output; false where nobody reads it any more.
///
/// # Errors
/// Where it can't be written for another reason.
pub(crate) fn print_while_read(bytes: &[u8]) -> Result<bool> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error).context("standard output"),
    }
}
