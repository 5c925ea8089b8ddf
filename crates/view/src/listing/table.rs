//! The table: numbers first, in columns of fixed widths because rows are printed as they are found; names last, because
//! that is where they may be long.

use anstyle::{AnsiColor, Style};
use hotset_facts::Observed;

use super::glyphs::{bar_of, cell};
use super::{ListRow, ListStyle, shown_path};
use crate::escape::{columns, shorten_end, shorten_path};
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Size,
    Files,
    Pages,
    Cached,
    Percent,
    Dirty,
    Writeback,
    Evicted,
    Where,
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

/// A table of a listing, printed row by row.
#[derive(Debug)]
pub struct ListTable {
    columns: Vec<Column>,
    bar: usize,
    name_width: Option<usize>,
    style: ListStyle,
}

impl ListTable {
    /// Chooses the columns that fit.
    pub fn new(rows: Rows, style: ListStyle) -> Self {
        let width = style.width.unwrap_or(ALL_FROM);
        let all = style.all_columns || width >= ALL_FROM;
        let files = rows == Rows::Files;
        let wanted = [
            (Column::Size, true),
            (Column::Files, !files),
            (Column::Pages, all),
            (Column::Cached, true),
            (Column::Percent, true),
            (Column::Dirty, all || width >= DIRTY_FROM),
            (Column::Writeback, all),
            (Column::Evicted, all),
            (Column::Where, files && (all || width >= BAR_FROM)),
        ];
        let columns: Vec<Column> =
            wanted.iter().filter(|(_, wanted)| *wanted).map(|(column, _)| *column).collect();
        let bar = if width >= ALL_FROM { WIDE_BAR } else { NARROW_BAR };
        let taken: usize = columns.iter().map(|column| column.width(bar) + GAP).sum();
        let name_width = style.width.map(|width| width.saturating_sub(taken).max(MIN_NAME));
        Self { columns, bar, name_width, style }
    }

    /// Cells that a bar of this table can show; 0 where it has none.
    pub fn bar_cells(&self) -> usize {
        if self.columns.contains(&Column::Where) { self.bar } else { 0 }
    }

    /// The line of titles.
    pub fn head(&self) -> String {
        let cells = self.columns.iter().map(|column| self.pad(column.title(), *column));
        let line = cells.collect::<String>() + "Name";
        paint(&line, Style::new().dimmed(), self.style.color) + "\n"
    }

    /// The line of a file or directory.
    pub fn row(&self, row: &ListRow<'_>) -> String {
        let mut line = String::new();
        match row.numbers.cached_pages {
            Observed::Value(_) => {
                for column in &self.columns {
                    line.push_str(&self.painted(
                        self.pad(&self.cell(*column, row), *column),
                        row,
                        *column,
                    ));
                }
            }
            Observed::Missing(reason) => {
                let (known, unknown): (Vec<Column>, Vec<Column>) =
                    self.columns.iter().partition(|column| column.is_always_known());
                for column in known {
                    line.push_str(&self.pad(&self.cell(column, row), column));
                }
                let width: usize = unknown.iter().map(|c| c.width(self.bar) + GAP).sum();
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

    fn pad(&self, text: &str, column: Column) -> String {
        pad(text, column.width(self.bar), column.align()) + &" ".repeat(GAP)
    }

    fn cell(&self, column: Column, row: &ListRow<'_>) -> String {
        let numbers = row.numbers;
        match column {
            Column::Size => bytes(numbers.size_bytes),
            Column::Files => count(numbers.files),
            Column::Pages => count(numbers.pages),
            Column::Cached => cell(numbers.cached_bytes, bytes),
            Column::Percent => numbers.share.map_or_else(|| "-".to_owned(), percent),
            Column::Dirty => cell(numbers.dirty_bytes, bytes),
            Column::Writeback => cell(numbers.writeback_bytes, bytes),
            Column::Evicted => cell(numbers.recently_evicted_bytes, bytes),
            Column::Where => bar_of(row, self.bar, self.style.ascii),
        }
    }

    /// Quiet where nothing is cached, so that the eye finds what is.
    fn painted(&self, text: String, row: &ListRow<'_>, column: Column) -> String {
        let style = match (column, row.numbers.cached_pages.value()) {
            (_, Some(0)) => Style::new().dimmed(),
            (Column::Where, _) => AnsiColor::Cyan.on_default(),
            (Column::Percent, _) if row.numbers.share == Some(1.0) => AnsiColor::Green.on_default(),
            _ => return text,
        };
        paint(&text, style, self.style.color)
    }
}

impl Column {
    fn title(self) -> &'static str {
        match self {
            Self::Size => "Size",
            Self::Files => "Files",
            Self::Pages => "Pages",
            Self::Cached => "Cached",
            Self::Percent => "Percent",
            Self::Dirty => "Dirty",
            Self::Writeback => "Writeback",
            Self::Evicted => "Evicted",
            Self::Where => "Where",
        }
    }

    fn width(self, bar: usize) -> usize {
        match self {
            Self::Size | Self::Cached | Self::Dirty | Self::Evicted => 8,
            Self::Percent => 7,
            Self::Files | Self::Writeback => 9,
            // 10 TiB in pages of 4 KiB.
            Self::Pages => 13,
            Self::Where => bar,
        }
    }

    fn align(self) -> Align {
        if self == Self::Where { Align::Left } else { Align::Right }
    }

    fn is_always_known(self) -> bool {
        matches!(self, Self::Size | Self::Files | Self::Pages)
    }
}
