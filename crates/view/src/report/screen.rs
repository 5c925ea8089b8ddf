//! The page that sections write to.

use std::path::Path;

use anstyle::{AnsiColor, Color, Style};
use hotset_analysis::Rest;
use hotset_facts::Observed;

use super::Options;
use super::text::{ascii, name_for, paint, wrap, wrap_by};
use crate::escape::{columns, shorten_end};
use crate::table::{INDENT, Table};
use crate::units::{bytes, count, duration};

/// What a piece of text is, for its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Heading,
    Quiet,
    Good,
    Slow,
    Info,
    Warning,
    Critical,
}

impl Tone {
    fn style(self) -> Style {
        let colored = |color: AnsiColor| Style::new().fg_color(Some(Color::Ansi(color)));
        match self {
            Self::Heading => Style::new().bold(),
            Self::Quiet => Style::new().dimmed(),
            Self::Good => colored(AnsiColor::Green),
            Self::Slow | Self::Warning => colored(AnsiColor::Yellow),
            Self::Info => colored(AnsiColor::Cyan),
            Self::Critical => colored(AnsiColor::Red).bold(),
        }
    }
}

/// Columns that the eye follows from line to line.
const READABLE: usize = 100;

/// A report in the making.
pub(crate) struct Screen {
    out: String,
    pub(crate) width: usize,
    pub(crate) top: usize,
    pub(crate) all: bool,
    color: bool,
    ascii: bool,
}

impl Screen {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            out: String::new(),
            width: options.width.clamp(72, 200),
            top: options.top,
            all: options.all,
            color: options.color,
            ascii: options.ascii,
        }
    }

    pub(crate) fn finish(self) -> String {
        if self.ascii { ascii(&self.out) } else { self.out }
    }

    /// A section: a blank line, its title, and a note beside it.
    pub(crate) fn heading(&mut self, title: &str, note: &str) {
        self.out.push('\n');
        let mut lines = wrap(title, self.width);
        let title = lines.pop().unwrap_or_default();
        for line in lines {
            let line = self.paint(&line, Tone::Heading);
            self.line(&line);
        }
        let note = shorten_end(note, self.width.saturating_sub(columns(&title) + 4));
        let title = self.paint(&title, Tone::Heading);
        let note = if note.is_empty() { String::new() } else { format!("  ({note})") };
        let note = self.paint(&note, Tone::Quiet);
        self.line(&format!("{title}{note}"));
    }

    pub(crate) fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    /// A line in bold.
    pub(crate) fn title(&mut self, text: &str) {
        for line in wrap(text, self.width) {
            let line = self.paint(&line, Tone::Heading);
            self.line(&line);
        }
    }

    /// A table: its title over the names, the titles of its columns quiet; with a blank line before it unless it is the
    /// first thing.
    pub(crate) fn table(&mut self, title: &str, table: &Table, names: &[String]) {
        let room = table.room_for_names(self.width) + INDENT;
        let title = shorten_end(title, room);
        if !self.out.is_empty() {
            self.line("");
        }
        for (i, line) in table.lines(columns(&title), names).iter().enumerate() {
            if i > 0 {
                self.line(line);
            } else {
                let title = self.paint(&title, Tone::Heading);
                let line = self.paint(line, Tone::Quiet);
                self.line(&format!("{title}{line}"));
            }
        }
    }

    /// A quiet line below a table.
    pub(crate) fn below_table(&mut self, text: &str) {
        self.quiet(text, self.width);
    }

    /// Quiet words by themselves: no wider than the eye follows.
    pub(crate) fn note(&mut self, text: &str) {
        self.quiet(text, self.width.min(READABLE));
    }

    fn quiet(&mut self, text: &str, width: usize) {
        for text in wrap(text, width - INDENT) {
            let line = format!("{:INDENT$}{}", "", self.paint(&text, Tone::Quiet));
            self.line(&line);
        }
    }

    /// A quiet line about the rows beyond the shown ones: how many, and what they add up to; zeros say nothing to a person.
    pub(crate) fn rest(&mut self, rest: &Rest, noun: &str) {
        if rest.rows == 0 {
            return;
        }
        let known = |value: Observed<u64>| value.value().filter(|&value| value > 0);
        let words = [
            Some(format!("{} more{noun}", count(rest.rows as u64))),
            known(rest.io_time_ns).map(|ns| format!("{} of I/O", duration(ns))),
            known(rest.read_bytes).map(|read| format!("{} read", bytes(read))),
            known(rest.brought_in_bytes).map(|read| format!("{} from the device", bytes(read))),
        ];
        self.below_table(&words.into_iter().flatten().collect::<Vec<_>>().join(", "));
    }

    /// Words after a label, wrapped below each other: no wider than the eye follows.
    pub(crate) fn paragraph(&mut self, label: &str, separator: &str, text: &str, indent: usize) {
        let width = self.width.min(READABLE).saturating_sub(indent + columns(label)).max(20);
        for (i, line) in wrap_by(text, separator, width).iter().enumerate() {
            let shown = if i == 0 { label.to_owned() } else { " ".repeat(columns(label)) };
            let line = format!("{:indent$}{shown}{line}", "");
            self.line(&line);
        }
    }

    pub(crate) fn paint(&self, text: &str, tone: Tone) -> String {
        paint(text, tone.style(), self.color)
    }

    /// A name, safe for this terminal.
    pub(crate) fn name(&self, bytes: &[u8]) -> String {
        name_for(bytes, self.ascii)
    }

    pub(crate) fn path(&self, path: &Path) -> String {
        self.name(path.as_os_str().as_encoded_bytes())
    }
}

/// A value as a cell; a dash where there is none (the reasons stand at the end of the report).
pub(crate) fn cell<T>(value: Observed<T>, format: impl FnOnce(T) -> String) -> String {
    value.value().map_or_else(|| "-".to_owned(), format)
}
