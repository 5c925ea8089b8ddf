//! A line on standard error that says how far something came.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use super::is_capable;

/// Where nobody can see a line change, such as in the log of a build, a new one comes no more often than this.
const LOG_INTERVAL: Duration = Duration::from_secs(30);

/// How the line is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Not at all.
    Hidden,
    /// On a terminal, in the place of the last one.
    InPlace,
    /// Each below the last one. What is over before the first is due has none.
    Log,
}

/// The line, where it is wanted. Dropping it takes it away from a terminal.
#[derive(Debug)]
pub(crate) struct StatusLine {
    way: Way,
    interval: Duration,
    began: Instant,
    shown: Option<Instant>,
}

impl StatusLine {
    /// No line yet, and later no more than one change an interval.
    pub(crate) fn new(is_wanted: bool, interval: Duration) -> Self {
        let way = match is_wanted {
            false => Way::Hidden,
            true if io::stderr().is_terminal() && is_capable() => Way::InPlace,
            true => Way::Log,
        };
        Self { way, interval, began: Instant::now(), shown: None }
    }

    /// Whether somebody would see it.
    pub(crate) fn is_seen(&self) -> bool {
        self.way != Way::Hidden
    }

    /// Puts `line` in the place of the last one, or below it, unless that is younger than the interval.
    pub(crate) fn show(&mut self, line: impl FnOnce() -> String) {
        let now = Instant::now();
        if !self.is_due(now) {
            return;
        }
        self.shown = Some(now);
        let line = hotset_view::escape_text(&line());
        let _ = match self.way {
            Way::Log => writeln!(io::stderr(), "hotset: {line}"),
            _ => write!(io::stderr(), "\r\x1b[K{line}"),
        };
    }

    fn is_due(&self, now: Instant) -> bool {
        match self.way {
            Way::Hidden => false,
            Way::InPlace => self.shown.is_none_or(|shown| now - shown >= self.interval),
            Way::Log => now - self.shown.unwrap_or(self.began) >= LOG_INTERVAL,
        }
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if self.way == Way::InPlace && self.shown.take().is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_a_line_in_half_a_minute_and_none_of_what_is_over_sooner() {
        let began = Instant::now();
        let after = |seconds: u64| began + Duration::from_secs(seconds);
        let line = |way, shown| StatusLine { way, interval: Duration::from_secs(1), began, shown };
        let due = |way, shown: Option<u64>, now| line(way, shown.map(after)).is_due(after(now));
        assert_eq!([0, 29, 30].map(|now| due(Way::Log, None, now)), [false, false, true]);
        assert_eq!([59, 60].map(|now| due(Way::Log, Some(30), now)), [false, true]);
        assert_eq!([0, 1].map(|now| due(Way::InPlace, Some(0), now)), [false, true]);
        assert!(due(Way::InPlace, None, 0) && !due(Way::Hidden, None, 99));
    }
}
