//! One item expanded.

use hotset_analysis::top::{
    Column, Detail, ItemKey, Kind, LineState, Lines, Order, TopFrame, Unlisted, detail,
};

use super::table::Table;
use super::{App, Overlay};
use crate::tui::names;

/// An item that is expanded: who it is, what it has, and its table.
#[derive(Debug, Clone)]
pub(in crate::tui) struct Expanded {
    pub(in crate::tui) key: ItemKey,
    /// Itself, as a single line.
    pub(in crate::tui) own: Lines,
    /// What of it is listed.
    pub(in crate::tui) wanted: Kind,
    pub(in crate::tui) detail: Detail,
    pub(in crate::tui) table: Table,
}

impl Expanded {
    fn new(key: ItemKey) -> Self {
        let wanted = match key {
            ItemKey::Process(_) => Kind::Files,
            ItemKey::File(_) | ItemKey::Group(_) => Kind::Processes,
        };
        let own_kind = match key {
            ItemKey::Process(_) => Kind::Processes,
            ItemKey::File(_) => Kind::Files,
            ItemKey::Group(_) => Kind::Groups,
        };
        Self {
            key,
            own: Lines::none(own_kind),
            wanted,
            detail: nothing(wanted),
            table: Table::new(Order::usual(Column::Hits), String::new()),
        }
    }

    /// Takes what a frame says. What is not in it is shown as [`Lines::later`] has it.
    pub(in crate::tui) fn update(&mut self, frame: &TopFrame) {
        let lines = frame.of_kind(self.own.kind());
        self.own = match lines.position(&self.key) {
            Some(at) => lines.at([at]),
            None => self.own.later([0]),
        };
        let gone = matches!(self.state(), LineState::Gone);
        match detail(frame, &self.key, self.wanted) {
            Some(detail) if !gone => self.detail = detail,
            _ if gone && self.detail.lines.kind() == self.wanted => {}
            _ => self.detail = nothing(self.wanted),
        }
    }

    /// How it stands to the frame.
    pub(in crate::tui) fn state(&self) -> LineState {
        self.own.get(0).map_or(LineState::Idle, |line| line.state)
    }

    /// Whom it is about.
    pub(in crate::tui) fn name(&self) -> String {
        self.own.get(0).map_or_else(|| "?".to_owned(), |line| names::item(line.item))
    }
}

fn nothing(kind: Kind) -> Detail {
    Detail { lines: Lines::none(kind), unlisted: Unlisted::default() }
}

impl App {
    /// Expands the selected item, or the first.
    pub(super) fn expand(&mut self) {
        /// Processes of a file of a process of a group: deeper is going round in circles.
        const DEEPEST: usize = 8;
        let Some(key) = self.looked_at() else { return };
        let known = self.frame.as_ref().and_then(|frame| {
            let lines = Kind::ALL.iter().map(|&kind| frame.of_kind(kind));
            lines.filter_map(|lines| lines.position(&key)).next()
        });
        if known.is_none() {
            self.tell("it did nothing in this interval: there is nothing to open");
            return;
        }
        if self.stack.len() >= DEEPEST {
            self.stack.remove(0);
        }
        let mut expanded = Expanded::new(key);
        if let Some(frame) = &self.frame {
            expanded.update(frame);
        }
        self.stack.push(expanded);
        self.overlay = Overlay::None;
        self.arrange();
    }

    /// The other list of an expanded control group: its files, or its processes.
    pub(super) fn turn(&mut self) {
        let Some(expanded) = self.stack.last_mut() else { return };
        if !matches!(expanded.key, ItemKey::Group(_)) {
            return;
        }
        expanded.wanted = match expanded.wanted {
            Kind::Processes => Kind::Files,
            Kind::Files | Kind::Groups => Kind::Processes,
        };
        expanded.table.selected = None;
        if let Some(frame) = &self.frame {
            expanded.update(frame);
        }
        self.arrange();
    }
}
