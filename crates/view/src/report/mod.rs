//! The terminal report: one screen for a common program.

pub(crate) mod cache;
pub(crate) mod caveats;
pub(crate) mod files;
pub(crate) mod findings;
pub(crate) mod header;
mod lookups;
pub(crate) mod processes;
pub(crate) mod screen;
pub(crate) mod sites;
pub(crate) mod text;
pub(crate) mod time;

use hotset_analysis::Summary;
use hotset_facts::SensorLevel;

use screen::Screen;

/// How a report should look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Columns of the terminal; less than 72 is taken as 72, more than 200 as 200.
    pub width: usize,
    /// Colours and bold. No meaning rests on them.
    pub color: bool,
    /// Rows of a table at most.
    pub top: usize,
    /// ASCII only, for terminals that aren't UTF-8.
    pub ascii: bool,
    /// Everything rather than one screen: the evidence and advice of every finding, all kinds of I/O, `top` rows even
    /// where fewer tell the story, and the directories of failed lookups.
    pub all: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { width: 80, color: false, top: 10, ascii: false, all: false }
    }
}

/// The report of a run, ready for a terminal.
pub fn render(summary: &Summary, options: &Options) -> String {
    let mut screen = Screen::new(options);
    header::push(&mut screen, summary);
    if summary.profile.sensor.level == SensorLevel::Unprivileged {
        cache::push(&mut screen, summary);
        processes::push_faults(&mut screen, summary);
        files::push_residency(&mut screen, summary);
        findings::push_if_any(&mut screen, summary);
        caveats::push_unprivileged(&mut screen, summary);
    } else {
        time::push(&mut screen, summary);
        cache::push(&mut screen, summary);
        files::push(&mut screen, summary);
        processes::push(&mut screen, summary);
        sites::push(&mut screen, summary);
        lookups::push(&mut screen, summary);
        findings::push(&mut screen, summary);
        caveats::push(&mut screen, summary);
    }
    screen.finish()
}

#[cfg(test)]
mod tests;
