//! A line on the terminal that says how far something came.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use super::is_capable;

/// The line changes not more often than this.
const INTERVAL: Duration = Duration::from_millis(200);

/// The line, where it is wanted and could be seen. Dropping it takes it away.
#[derive(Debug)]
pub(crate) struct StatusLine {
    is_seen: bool,
    shown: Option<Instant>,
}

impl StatusLine {
    /// No line yet.
    pub(crate) fn new(is_wanted: bool) -> Self {
        Self { is_seen: is_wanted && io::stderr().is_terminal() && is_capable(), shown: None }
    }

    /// Whether it is.
    pub(crate) fn is_seen(&self) -> bool {
        self.is_seen
    }

    /// Puts `line` in the place of the last one, unless that is new.
    pub(crate) fn show(&mut self, line: impl FnOnce() -> String) {
        if self.is_seen && self.shown.is_none_or(|shown| shown.elapsed() >= INTERVAL) {
            self.shown = Some(Instant::now());
            let line = hotset_view::escape_text(&line());
            let _ = write!(io::stderr(), "\r\x1b[K{line}");
        }
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.clear();
    }
}
