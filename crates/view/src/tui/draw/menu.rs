//! Small windows over the screen.

use hotset_analysis::top::Column;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, BorderType, Clear, Widget};

use super::super::app::App;
use super::super::columns;
use super::{row, write};

/// A window in the middle of the screen, cleared, with a frame; returns what is inside.
pub(super) fn window(
    app: &App,
    title: &str,
    size: (u16, u16),
    area: Rect,
    buf: &mut Buffer,
) -> Rect {
    let (width, height) = (size.0.min(area.width), size.1.min(area.height));
    let x = area.x + (area.width - width) / 2;
    let y = area.y + (area.height - height) / 2;
    let frame = Rect { x, y, width, height };
    uncover(frame, buf);
    Clear.render(frame, buf);
    let mut block = Block::bordered().title(format!(" {title} ")).style(Style::new());
    if app.setup.look.ascii {
        block = block.border_set(ASCII_FRAME);
    } else {
        block = block.border_type(BorderType::Plain);
    }
    let inner = block.inner(frame);
    block.render(frame, buf);
    inner
}

/// A character of two columns that a window covers by half would cover the window's edge in turn.
fn uncover(frame: Rect, buf: &mut Buffer) {
    let Some(x) = frame.x.checked_sub(1) else { return };
    for y in frame.y..frame.bottom() {
        if let Some(cell) = buf.cell_mut((x, y))
            && crate::escape::columns(cell.symbol()) > 1
        {
            cell.set_symbol(" ");
        }
    }
}

const ASCII_FRAME: ratatui::symbols::border::Set<'static> = ratatui::symbols::border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

pub(super) fn sort(app: &App, marked: usize, area: Rect, buf: &mut Buffer) {
    let look = app.setup.look;
    let kind = app.shown_kind();
    let all = Column::all(kind);
    let order = app.shown().map(|shown| shown.table.order);
    let height = u16::try_from(all.len()).unwrap_or(u16::MAX).saturating_add(3);
    let inner = window(app, "Sort by", (38, height), area, buf);
    let room = usize::from(inner.height.saturating_sub(1));
    let top = marked.saturating_sub(room.saturating_sub(1));
    for (n, (place, &column)) in (0..).zip(all.iter().enumerate().skip(top).take(room)) {
        let arrow = order
            .filter(|order| order.by == column)
            .map_or(' ', |order| look.arrow(order.descending));
        let style = if place == marked { look.selected() } else { Style::new() };
        let words = format!(" {arrow} {:<33}", columns::title(column, kind));
        write(buf, row(inner, n), &[(words, style)]);
    }
    let hint = " Enter sort   r reverse   Esc close";
    write(buf, row(inner, inner.height.saturating_sub(1)), &[(hint.to_owned(), look.faint())]);
}

pub(super) fn goto(app: &App, text: &str, area: Rect, buf: &mut Buffer) {
    let look = app.setup.look;
    let inner = window(app, "Go to a time (UTC)", (52, 4), area, buf);
    let typed = crate::escape::escape_text(text);
    write(buf, row(inner, 0), &[(format!(" {typed}_"), look.strong())]);
    let hint = " 14:03   14:03:20   2026-11-21 14:03   -5m   +30s";
    write(buf, row(inner, 1), &[(hint.to_owned(), look.faint())]);
}
