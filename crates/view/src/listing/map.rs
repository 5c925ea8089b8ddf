//! A picture of one file as wide as the terminal: which parts of it are cached.

use anstyle::{AnsiColor, Style};
use hotset_analysis::listing::fill_of;
use hotset_facts::Observed;

use super::glyphs::{FILLS, glyph};
use super::{ListRow, ListStyle, shown_path};
use crate::escape::shorten_path;
use crate::report::screen::cell;
use crate::report::text::{ascii, paint};
use crate::table::{Align, pad};
use crate::units::{bytes, percent};

/// What offsets take, with the gap behind them.
const OFFSET: usize = 10;
/// Lines of a map where nobody says how many cells.
const LINES: usize = 8;
/// The width where there is no terminal.
const DEFAULT_WIDTH: usize = 100;

/// Cells of a line: a power of two, so that offsets are round.
fn line_cells(style: &ListStyle) -> usize {
    let room = style.width.unwrap_or(DEFAULT_WIDTH).saturating_sub(OFFSET).max(16);
    1 << room.ilog2()
}

/// Cells that a map has where nobody says how many.
pub fn map_cells(style: &ListStyle) -> usize {
    LINES * line_cells(style)
}

/// A file's numbers, then its cells in lines with their offsets.
pub fn map_file(row: &ListRow<'_>, page_bytes: u64, style: &ListStyle) -> String {
    let numbers = row.numbers;
    let name = shown_path(row.path, style.ascii);
    let name = match style.width {
        Some(width) => shorten_path(&name, width.max(16)),
        None => name,
    };
    let mut out = paint(&name, Style::new().bold(), style.color) + "\n";
    let state = match numbers.cached_pages {
        Observed::Missing(reason) => format!("unknown: {}", reason.detail),
        Observed::Value(_) => format!(
            "{} of {} cached ({})",
            cell(numbers.cached_bytes, bytes),
            bytes(numbers.pages.saturating_mul(page_bytes)),
            numbers.share.map_or_else(|| "empty".to_owned(), percent)
        ),
    };
    out.push_str(&format!("{:OFFSET$}{state}", ""));
    if let Some(first) = row.cells.first() {
        let last = row.cells.len() - 1;
        let even = row.cells[..last].iter().all(|cell| cell.pages == first.pages);
        let about = if even { "" } else { "about " };
        let size = bytes(first.pages.saturating_mul(page_bytes));
        out.push_str(&format!("; each cell is {about}{size}"));
    }
    out.push('\n');
    let mut page = 0;
    for line in row.cells.chunks(line_cells(style)) {
        let offset = bytes(page * page_bytes);
        let signs: String = line.iter().map(|&cell| glyph(fill_of(cell), style.ascii)).collect();
        let signs = paint(&signs, AnsiColor::Cyan.on_default(), style.color);
        out.push_str(&format!("{}  {signs}\n", pad(&offset, OFFSET - 2, Align::Right)));
        page = line.iter().fold(page, |page, cell| page.saturating_add(cell.pages));
    }
    if style.ascii { ascii(&out) } else { out }
}

/// What the signs mean.
pub fn map_legend(style: &ListStyle) -> String {
    let words = FILLS.map(|(fill, _, _, words)| format!("{} {words}", glyph(fill, style.ascii)));
    let line = format!("{:OFFSET$}{}", "", words.join("   "));
    paint(&line, Style::new().dimmed(), style.color) + "\n"
}
