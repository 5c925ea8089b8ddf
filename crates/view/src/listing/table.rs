//! The table: numbers first, in columns of fixed widths because rows are printed as they are found; names last, because
//! that is where they may be long.

use anstyle::{AnsiColor, Style};
use hotset_analysis::listing::RowNumbers;
use hotset_facts::Observed;

use super::glyphs::bar_of;
use super::{ListRow, ListStyle, shown_path};
use crate::escape::{columns, shorten_end, shorten_path};
use crate::report::screen::cell;
use crate::report::text::{ascii, paint};
use crate::table::{Align, pad};
use crate::units::{bytes, count, percent};

/// What the rows stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Files, with a bar that shows where in the file the cached pages lie.
    Files,
    /// Directories, with a number of files.
    Directories,
}

/// From this width on, dirty memory has a column.
const DIRTY_FROM: usize = 100;
/// From this width on, all have.
const ALL_FROM: usize = 140;
/// Below this width there is no bar.
const BAR_FROM: usize = 60;
const GAP: usize = 2;
const NARROW_BAR: usize = 10;
const WIDE_BAR: usize = 20;
const MIN_NAME: usize = 12;

/// When a column is shown.
#[derive(Debug, Clone, Copy)]
enum Shown {
    Always,
    OfDirectories,
    From(usize),
}

/// Its title, its width, whether it is known where the state of the cache isn't, when it is shown, and what a row says.
type Column = (&'static str, usize, bool, Shown, fn(&RowNumbers) -> String);

const PERCENT: &str = "Percent";
const COLUMNS: [Column; 8] = [
    ("Size", 8, true, Shown::Always, |row| bytes(row.size_bytes)),
    ("Files", 9, true, Shown::OfDirectories, |row| count(row.files)),
    // As wide as 10 TiB in pages of 4 KiB.
    ("Pages", 13, true, Shown::From(ALL_FROM), |row| count(row.pages)),
    ("Cached", 8, false, Shown::Always, |row| cell(row.cached_bytes, bytes)),
    (PERCENT, 7, false, Shown::Always, |row| row.share.map_or_else(|| "-".to_owned(), percent)),
    ("Dirty", 8, false, Shown::From(DIRTY_FROM), |row| cell(row.dirty_bytes, bytes)),
    ("Writeback", 9, false, Shown::From(ALL_FROM), |row| cell(row.writeback_bytes, bytes)),
    ("Evicted", 8, false, Shown::From(ALL_FROM), |row| cell(row.recently_evicted_bytes, bytes)),
];

/// A table of a listing, printed row by row.
#[derive(Debug)]
pub struct ListTable {
    columns: Vec<Column>,
    /// Columns of the terminal for the bar behind the numbers; 0 where there is none.
    bar: usize,
    name_width: Option<usize>,
    style: ListStyle,
}

impl ListTable {
    /// Chooses the columns that fit.
    pub fn new(rows: Rows, style: ListStyle) -> Self {
        let width = style.width.unwrap_or(ALL_FROM);
        let has_room = |from: usize| style.all_columns || width >= from;
        let wanted = |(.., shown, _): &Column| match shown {
            Shown::Always => true,
            Shown::OfDirectories => rows == Rows::Directories,
            Shown::From(from) => has_room(*from),
        };
        let columns: Vec<Column> = COLUMNS.into_iter().filter(wanted).collect();
        let bar = match rows {
            Rows::Files if width >= ALL_FROM => WIDE_BAR,
            Rows::Files if has_room(BAR_FROM) => NARROW_BAR,
            _ => 0,
        };
        let taken = width_of(&columns) + with_gap(bar);
        let name_width = style.width.map(|width| width.saturating_sub(taken).max(MIN_NAME));
        Self { columns, bar, name_width, style }
    }

    /// Cells that a bar of this table can show; 0 where it has none.
    pub fn bar_cells(&self) -> usize {
        self.bar
    }

    /// The line of titles.
    pub fn head(&self) -> String {
        let titles = self.columns.iter().map(|column| padded(column.0, column));
        let bar = if self.bar > 0 { "Where" } else { "" };
        let line = titles.collect::<String>() + &pad(bar, with_gap(self.bar), Align::Left) + "Name";
        paint(&line, Style::new().dimmed(), self.style.color) + "\n"
    }

    /// The line of a file or directory.
    pub fn row(&self, row: &ListRow<'_>) -> String {
        let mut line = String::new();
        let text = |column: &Column| padded(&(column.4)(row.numbers), column);
        match row.numbers.cached_pages {
            Observed::Value(cached) => {
                for column in &self.columns {
                    let all = column.0 == PERCENT && row.numbers.share == Some(1.0);
                    let style = if all { AnsiColor::Green.on_default() } else { Style::new() };
                    line.push_str(&self.painted(&text(column), cached, style));
                }
                let bar = bar_of(row, self.bar, self.style.ascii);
                let bar = pad(&bar, with_gap(self.bar), Align::Left);
                line.push_str(&self.painted(&bar, cached, AnsiColor::Cyan.on_default()));
            }
            Observed::Missing(reason) => {
                let (known, unknown): (Vec<Column>, Vec<Column>) =
                    self.columns.iter().partition(|(_, _, always_known, ..)| *always_known);
                line.extend(known.iter().map(text));
                let width = width_of(&unknown) + with_gap(self.bar);
                let text = shorten_end(&format!("unknown: {}", reason.detail), width - GAP);
                let yellow = AnsiColor::Yellow.on_default();
                line.push_str(&paint(&pad(&text, width, Align::Left), yellow, self.style.color));
            }
        }
        let line = if self.style.ascii { ascii(&line) } else { line };
        format!("{line}{}\n", self.name(row))
    }

    fn name(&self, row: &ListRow<'_>) -> String {
        let name = shown_path(row.path, self.style.ascii);
        let note = match row.numbers.unknown_files {
            some if some > 0 && row.numbers.files > 1 => format!("  ({} unknown)", count(some)),
            _ => String::new(),
        };
        let Some(width) = self.name_width else { return name + &note };
        let name = shorten_path(&name, width.saturating_sub(columns(&note)).max(MIN_NAME));
        (if self.style.ascii { ascii(&name) } else { name }) + &note
    }

    /// Quiet where nothing is cached, so that the eye finds what is.
    fn painted(&self, text: &str, cached_pages: u64, style: Style) -> String {
        let style = if cached_pages == 0 { Style::new().dimmed() } else { style };
        paint(text, style, self.style.color)
    }
}

fn padded(text: &str, (_, width, ..): &Column) -> String {
    pad(text, *width, Align::Right) + &" ".repeat(GAP)
}

/// Columns of the terminal that these take.
fn width_of(columns: &[Column]) -> usize {
    columns.iter().map(|(_, width, ..)| with_gap(*width)).sum()
}

/// What has a width has a gap behind it.
fn with_gap(width: usize) -> usize {
    if width > 0 { width + GAP } else { 0 }
}
