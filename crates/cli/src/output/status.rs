//! A line on the terminal that says how far something came.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use super::is_capable;

/// The line, where it is wanted and could be seen. Dropping it takes it away.
#[derive(Debug)]
pub(crate) struct StatusLine {
    is_seen: bool,
    interval: Duration,
    shown: Option<Instant>,
}

impl StatusLine {
    /// No line yet, and later no more than one change an interval.
    pub(crate) fn new(is_wanted: bool, interval: Duration) -> Self {
        let is_seen = is_wanted && io::stderr().is_terminal() && is_capable();
        Self { is_seen, interval, shown: None }
    }

    /// Whether somebody would see it.
    pub(crate) fn is_seen(&self) -> bool {
        self.is_seen
    }

    /// Puts `line` in the place of the last one, unless that is younger than the interval.
    pub(crate) fn show(&mut self, line: impl FnOnce() -> String) {
        if self.is_seen && self.shown.is_none_or(|shown| shown.elapsed() >= self.interval) {
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
