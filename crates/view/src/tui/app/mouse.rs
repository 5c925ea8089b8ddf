//! The mouse: the wheel moves, a click on a line selects it and then opens it, on a title sorts, on a view shows it.

use hotset_analysis::top::Kind;

use super::{App, Overlay};
use crate::tui::draw;

/// Lines for each notch of the wheel.
const LINES_PER_NOTCH: i64 = 3;

impl App {
    pub(super) fn wheel(&mut self, notches: i32) {
        match self.overlay {
            Overlay::None => self.step(i64::from(notches) * LINES_PER_NOTCH),
            Overlay::Help(top) => {
                let by = isize::try_from(notches).unwrap_or(0);
                let longest = draw::help_length(self).saturating_sub(1);
                self.overlay = Overlay::Help(top.saturating_add_signed(by).min(longest));
            }
            _ => {}
        }
    }

    pub(super) fn click(&mut self, x: u16, y: u16) {
        if self.overlay != Overlay::None {
            self.overlay = Overlay::None;
            return;
        }
        self.notice = None;
        let places = draw::places(self);
        if y == places.tabs.y && self.stack.is_empty() {
            if let Some(kind) = draw::tab_at(self, x) {
                self.show_view(kind);
            }
        } else if y == places.titles.y && places.titles.contains((x, y).into()) {
            let cells = draw::cells(self, places.titles.width);
            let at = x - places.titles.x;
            let under = |cell: &&crate::tui::columns::Cell| at < cell.x + cell.width + 1;
            if let Some(column) = cells.iter().find(under).map(|cell| cell.column) {
                self.sort_by(column);
            }
        } else if places.rows.contains((x, y).into()) {
            self.click_row(usize::from(y - places.rows.y));
        }
    }

    fn click_row(&mut self, row: usize) {
        let Some(shown) = self.shown() else { return };
        if row >= shown.table.rows.len() {
            return;
        }
        let place = shown.table.offset + row;
        if shown.table.place == Some(place) { self.expand() } else { self.select(place) }
    }

    fn show_view(&mut self, kind: Kind) {
        self.kind = kind;
        self.arrange();
    }
}
