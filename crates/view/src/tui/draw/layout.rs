//! Where everything stands, in any size.

use ratatui::layout::Rect;

use super::super::app::App;
use super::super::columns::{self, Cell};

/// Where everything stands.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::tui) struct Places {
    pub(in crate::tui) header: Rect,
    /// The views, or whom an expanded item is about.
    pub(in crate::tui) tabs: Rect,
    /// The charts of an expanded item.
    pub(in crate::tui) detail: Rect,
    pub(in crate::tui) titles: Rect,
    pub(in crate::tui) rows: Rect,
    /// What has no line of its own.
    pub(in crate::tui) rest: Rect,
    pub(in crate::tui) losses: Rect,
    pub(in crate::tui) footer: Rect,
    /// The selected item, right of the table.
    pub(in crate::tui) panel: Rect,
}

impl Places {
    /// What of each is inside of `area`.
    pub(super) fn clipped(mut self, area: Rect) -> Self {
        let Self { header, tabs, detail, titles, rows, rest, losses, footer, panel } = &mut self;
        for place in [header, tabs, detail, titles, rows, rest, losses, footer, panel] {
            *place = place.intersection(area);
        }
        self
    }
}

/// A panel beside the table leaves it at least so wide.
const PANEL_FROM: (u16, u16) = (150, 24);
const PANEL_WIDTH: u16 = 56;

/// Whether there is room for a panel beside the table.
pub(in crate::tui) fn has_panel(app: &App) -> bool {
    let (width, height) = app.setup.size;
    app.stack.is_empty() && width >= PANEL_FROM.0 && height >= PANEL_FROM.1
}

/// Lines of the header.
fn header_height(app: &App) -> u16 {
    let (width, height) = app.setup.size;
    match height {
        0..=5 => 0,
        6..=9 => 1,
        10..=17 => 2,
        18..=33 if !app.stack.is_empty() => 2,
        40.. if width >= 120 => 8,
        _ => 5,
    }
}

/// Lines of the charts of an expanded item.
fn detail_height(app: &App) -> u16 {
    match (app.stack.is_empty(), app.setup.size.1) {
        (true, _) => 0,
        (_, 0..=9) => 0,
        (_, 10..=15) => 1,
        (_, 16..=33) => 8,
        _ => 14,
    }
}

/// Where everything stands now.
pub(in crate::tui) fn places(app: &App) -> Places {
    let (width, height) = app.setup.size;
    let mut left = Rect { x: 0, y: 0, width, height };
    let mut top = |wanted: u16| {
        let part = Rect { height: wanted.min(left.height), ..left };
        left.y += part.height;
        left.height -= part.height;
        part
    };
    let header = top(header_height(app));
    let tabs = top(u16::from(height > 2));
    let detail = top(detail_height(app));
    let mut bottom = |wanted: u16| {
        let part = wanted.min(left.height);
        left.height -= part;
        Rect { y: left.bottom(), height: part, ..left }
    };
    let footer = bottom(u16::from(height > 3));
    let losses = bottom(u16::from(height > 7 && super::footer::has_losses(app)));
    let panel_width = if has_panel(app) { PANEL_WIDTH.min(left.width) } else { 0 };
    let panel = Rect { x: width - panel_width, width: panel_width, ..left };
    left.width -= if panel_width > 0 { panel_width + 1 } else { 0 };
    let titles = Rect { height: left.height.min(1), ..left };
    left.y += titles.height;
    left.height -= titles.height;
    let rest_height = super::table::rest_lines(app).min(left.height / 2);
    let rows = Rect { height: left.height - rest_height, ..left };
    let rest = Rect { y: rows.bottom(), height: rest_height, ..left };
    Places { header, tabs, detail, titles, rows, rest, losses, footer, panel }
}

/// Lines of the table that are on the screen.
pub(in crate::tui) fn table_height(app: &App) -> u16 {
    places(app).rows.height
}

/// The columns of the table on the screen.
pub(in crate::tui) fn cells(app: &App, width: u16) -> Vec<Cell> {
    columns::columns(app.shown_kind(), width)
}
