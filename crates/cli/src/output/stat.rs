//! Lines of `hotset stat` on standard output.

use std::io::{self, IsTerminal};
use std::os::fd::BorrowedFd;

use anyhow::Result;
use hotset_view::live::stat::{self as view, Layout, Row};

use super::{RowStream, say, width_of};
use crate::args::StatArgs;

/// Lines that stay visible above a header that is printed again.
const KEPT_LINES: u16 = 1;

/// How lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Json,
    Csv,
}

/// Where lines go.
pub(crate) trait StatLines {
    /// Prints what comes before the first line; false where nobody reads it.
    fn begin(&mut self) -> bool;
    /// Prints a line; false where nobody reads it any more.
    fn row(&mut self, row: &Row<'_>) -> bool;
    /// Ends the line on which a terminal has shown `^C`.
    fn interrupted(&mut self);
}

/// Standard output for lines.
pub(crate) struct StatOutput {
    rows: RowStream,
    form: Form,
    time: bool,
    wide: bool,
    terminal: bool,
    /// Lines since the names of the columns; nothing before the first.
    since_header: Option<u16>,
    /// Columns that were left out when it was last said.
    hidden: usize,
}

impl StatOutput {
    /// As the arguments want it.
    pub(crate) fn new(args: &StatArgs) -> Self {
        let form = match (args.json, args.csv) {
            (true, _) => Form::Json,
            (false, true) => Form::Csv,
            (false, false) => Form::Text,
        };
        Self {
            rows: RowStream::new(None),
            form,
            time: args.timestamp,
            wide: args.wide,
            terminal: io::stdout().is_terminal(),
            since_header: None,
            hidden: 0,
        }
    }

    /// Whether everything was printed.
    ///
    /// # Errors
    /// The first that standard output gave, unless its reader went away.
    pub(crate) fn finish(self) -> Result<()> {
        self.rows.finish()
    }

    fn text_row(&mut self, row: &Row<'_>) -> bool {
        let layout = self.layout();
        // The header takes a line itself.
        let screenful = self.height().map(|height| height.saturating_sub(1 + KEPT_LINES).max(1));
        if screenful.is_some_and(|lines| self.since_header.is_none_or(|since| since >= lines))
            && !self.header(layout)
        {
            return false;
        }
        self.since_header = self.since_header.map(|since| since.saturating_add(1));
        let offset = if self.time { local_offset_s(row) } else { 0 };
        self.rows.rows(view::line(row, layout, offset).as_bytes())
    }

    fn header(&mut self, layout: Layout) -> bool {
        let hidden: Vec<_> = layout.hidden().collect();
        if hidden.len() > self.hidden {
            let names = hidden.join(", ");
            say(format_args!("this terminal is too narrow for {names}; -w prints them all"));
        }
        self.hidden = hidden.len();
        self.since_header = Some(0);
        self.rows.text(view::header(layout).as_bytes())
    }

    /// Asked before each line: terminals are resized.
    fn layout(&self) -> Layout {
        let fit = self.terminal && !self.wide;
        let width = fit.then(|| width_of(terminal_size::terminal_size_of(io::stdout())));
        Layout { time: self.time, width }
    }

    fn height(&self) -> Option<u16> {
        if !self.terminal {
            return None;
        }
        terminal_size::terminal_size_of(io::stdout()).map(|(_, height)| height.0)
    }
}

impl StatLines for StatOutput {
    fn begin(&mut self) -> bool {
        match self.form {
            Form::Text => self.header(self.layout()),
            Form::Json => true,
            Form::Csv => self.rows.text(view::csv_header().as_bytes()),
        }
    }

    fn row(&mut self, row: &Row<'_>) -> bool {
        match self.form {
            Form::Text => self.text_row(row),
            Form::Json => self.rows.rows(&view::json_line(row)),
            Form::Csv => self.rows.rows(view::csv_line(row).as_bytes()),
        }
    }

    fn interrupted(&mut self) {
        if self.terminal {
            self.rows.text(b"\n");
        }
    }
}

/// How far local time is ahead of UTC, in seconds.
fn local_offset_s(row: &Row<'_>) -> i32 {
    let timestamp = jiff::Timestamp::try_from(row.at).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    jiff::tz::TimeZone::system().to_offset(timestamp).seconds()
}

/// Standard output as a descriptor to wait on.
pub(crate) fn stdout_fd() -> BorrowedFd<'static> {
    rustix::stdio::stdout()
}
