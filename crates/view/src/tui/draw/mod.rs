//! The screen as a pure function of the state.

mod detail;
mod footer;
mod header;
mod help;
mod layout;
mod menu;
mod meter;
mod panel;
mod table;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

pub(super) use footer::loss_words;
pub(super) use help::length as help_length;
pub(super) use layout::{Places, cells, has_panel, places, table_height};
pub(super) use table::tab_at;

use super::app::{App, Overlay};

/// Draws the whole screen. The state must have been told the terminal's size; another one is drawn all the same, cut off.
pub fn draw(frame: &mut Frame<'_>, app: &App) {
    let area = frame.area();
    let places = places(app).clipped(area);
    let buf = frame.buffer_mut();
    header::draw(app, places.header, buf);
    match app.stack.last() {
        Some(expanded) => detail::draw(app, expanded, &places, buf),
        None => table::tabs(app, places.tabs, buf),
    }
    table::draw(app, &places, buf);
    if places.panel.width > 0 {
        panel::draw(app, places.panel, buf);
    }
    footer::draw(app, &places, buf);
    match &app.overlay {
        Overlay::None | Overlay::Filter(_) => {}
        Overlay::Help(top) => help::draw(app, *top, area, buf),
        Overlay::Sort(marked) => menu::sort(app, *marked, area, buf),
        Overlay::Goto(text) => menu::goto(app, text, area, buf),
    }
}

/// Text with a style.
pub(super) type Piece = (String, Style);

/// Writes pieces from the left end of a row, cut off at its right end; returns where they end.
fn write(buf: &mut Buffer, row: Rect, pieces: &[Piece]) -> u16 {
    let mut x = row.x;
    for (text, style) in pieces {
        if row.height == 0 || x >= row.right() {
            break;
        }
        let left = usize::from(row.right() - x);
        (x, _) = buf.set_stringn(x, row.y, text, left, *style);
    }
    x
}

/// Writes a name and its number after the other, as many as have room: a number whose end is cut off reads as another one.
fn write_whole(buf: &mut Buffer, row: Rect, numbers: &[[Piece; 2]]) {
    let mut left = row;
    for pieces in numbers {
        let needed: usize = pieces.iter().map(|(text, _)| crate::escape::columns(text)).sum();
        if needed > usize::from(left.width) {
            break;
        }
        let end = write(buf, left, pieces);
        left = Rect { x: end, width: row.right().saturating_sub(end), ..row };
    }
}

/// Writes a text at the right end of a row; nothing if it does not fit right of `after`.
fn write_right(buf: &mut Buffer, row: Rect, after: u16, text: &str, style: Style) {
    let width = u16::try_from(crate::escape::columns(text)).unwrap_or(u16::MAX);
    if row.height > 0 && row.right().saturating_sub(width) > after && width < row.width {
        buf.set_stringn(row.right() - width, row.y, text, usize::from(width), style);
    }
}

/// The row `n` of an area; one without height if there is none.
fn row(area: Rect, n: u16) -> Rect {
    if n >= area.height {
        return Rect { height: 0, ..area };
    }
    Rect { y: area.y + n, height: 1, ..area }
}
