//! A table: what its lines are sorted by, which is selected, and which are on the screen.

use hotset_analysis::top::{ItemKey, Lines, Order, Ordering, TreeRow, place_of, tree as tree_of};

use crate::tui::filter;

/// The state of one table.
#[derive(Debug, Clone)]
pub(in crate::tui) struct Table {
    pub(in crate::tui) order: Order,
    pub(in crate::tui) filter: String,
    /// The item that is selected, wherever it stands.
    pub(in crate::tui) selected: Option<ItemKey>,
    /// The item of the first line, whether it is on the screen or not.
    pub(in crate::tui) first: Option<ItemKey>,
    /// The place of the first line on the screen.
    pub(in crate::tui) offset: usize,
    /// The lines on the screen.
    pub(in crate::tui) rows: Vec<TreeRow>,
    /// How many lines the filter leaves.
    pub(in crate::tui) total: usize,
    /// The place of the selected line.
    pub(in crate::tui) place: Option<usize>,
}

impl Table {
    pub(in crate::tui) fn new(order: Order, filter: String) -> Self {
        Self {
            order,
            filter,
            selected: None,
            first: None,
            offset: 0,
            rows: Vec::new(),
            total: 0,
            place: None,
        }
    }

    /// Chooses the `height` lines that are on the screen, so that the selected one is among them. Without a selection
    /// these are the first ones.
    pub(in crate::tui) fn arrange(&mut self, lines: &Lines, height: usize, tree: bool) {
        let kept = filter::kept(lines, &self.filter);
        self.total = kept.len();
        if tree {
            let rows = tree_of(lines, kept, self.order);
            let index = self.selected.as_ref().and_then(|key| lines.position(key));
            self.place =
                index.and_then(|index| rows.iter().position(|row| row.index as usize == index));
            self.first = rows.first().and_then(|row| key_at(lines, row.index));
            self.scroll(height);
            self.rows = rows.into_iter().skip(self.offset).take(height).collect();
            return;
        }
        let selected = self.selected.as_ref();
        self.place = selected.and_then(|key| place_of(lines, &kept, self.order, key));
        self.scroll(height);
        let ordering = Ordering::of(lines, kept, self.order, self.offset + height.max(1));
        self.first = ordering.indices.first().and_then(|&index| key_at(lines, index));
        let row = |&index: &u32| TreeRow { index, depth: 0, last: false, guides: 0 };
        self.rows = ordering.indices.iter().skip(self.offset).take(height).map(row).collect();
    }

    /// Moves the window over the lines as little as the selection wants.
    fn scroll(&mut self, height: usize) {
        let height = height.max(1);
        match self.place {
            Some(place) if place < self.offset => self.offset = place,
            Some(place) if place >= self.offset + height => self.offset = place + 1 - height,
            Some(_) => {}
            None => self.offset = 0,
        }
        self.offset = self.offset.min(self.total.saturating_sub(height));
    }

    /// Selects the line `by` places from the selected one, or from the first if none is.
    pub(in crate::tui) fn step(&mut self, lines: &Lines, by: i64, tree: bool) {
        let by = isize::try_from(by).unwrap_or(0);
        let place = match self.place {
            Some(place) => place.saturating_add_signed(by),
            None if by > 0 => usize::try_from(by).unwrap_or(0).saturating_sub(1),
            None => 0,
        };
        self.select(lines, place, tree);
    }

    /// Selects the line at `place`, or the last one if there are fewer.
    pub(in crate::tui) fn select(&mut self, lines: &Lines, place: usize, tree: bool) {
        let kept = filter::kept(lines, &self.filter);
        let Some(last) = kept.len().checked_sub(1) else { return };
        let place = place.min(last);
        let index = if tree {
            tree_of(lines, kept, self.order).get(place).map(|row| row.index)
        } else {
            Ordering::of(lines, kept, self.order, place + 1).indices.get(place).copied()
        };
        self.selected = index.and_then(|index| key_at(lines, index));
    }
}

fn key_at(lines: &Lines, index: u32) -> Option<ItemKey> {
    lines.get(index as usize).map(|line| line.item.key())
}
