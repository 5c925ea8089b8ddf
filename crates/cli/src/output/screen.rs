//! Standard output as a screen.

use std::io::{self, IsTerminal};

use hotset_view::tui::Look;

use super::{is_capable, locale_is_utf8, use_color};
use crate::args::LookArgs;

/// Whether there is a terminal to draw on and to read keys from. One that is dumb, or has no name, can't be drawn on.
pub(crate) fn has_screen() -> bool {
    let has_name = std::env::var_os("TERM").is_some_and(|term| !term.is_empty());
    io::stdout().is_terminal() && io::stdin().is_terminal() && has_name && is_capable()
}

/// How a screen looks.
pub(crate) fn screen_look(look: LookArgs) -> Look {
    Look { color: use_color(look.color, true), ascii: look.ascii || !locale_is_utf8() }
}
