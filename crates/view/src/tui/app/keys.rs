//! What a key does.

use hotset_analysis::top::{Column, Kind, Order};

use super::{App, Counting, Overlay};
use crate::tui::draw::table_height;
use crate::tui::input::{Effect, INTERVAL_RANGE_NS, Input, Key, Step, next_interval};

impl App {
    /// Does what an input asks for, and says what is left to do.
    pub fn input(&mut self, input: &Input) -> Effect {
        match input {
            Input::Key(Key::Ctrl('c')) => return Effect::Quit,
            Input::Key(Key::Ctrl('z')) => return Effect::Suspend,
            Input::Key(key) => {
                self.notice = None;
                return match self.overlay {
                    Overlay::None => self.key(*key),
                    _ => self.overlay_key(*key),
                };
            }
            Input::Paste(text) => self.paste(text),
            Input::Click(x, y) => self.click(*x, *y),
            Input::Wheel(notches) => self.wheel(*notches),
            Input::Resize(width, height) => {
                self.setup.size = (*width, *height);
                self.arrange();
            }
        }
        Effect::None
    }

    fn key(&mut self, key: Key) -> Effect {
        if self.place.is_some()
            && let Some(effect) = self.replay_key(key)
        {
            return effect;
        }
        let page = i64::from(table_height(self).max(1));
        match key {
            Key::Char('q') => return Effect::Quit,
            Key::Up | Key::Char('k') => self.step(-1),
            Key::Down | Key::Char('j') => self.step(1),
            Key::PageUp => self.step(-page),
            Key::PageDown => self.step(page),
            Key::Home => self.select(0),
            Key::End | Key::Char('G') => self.select(usize::MAX),
            Key::Enter => self.expand(),
            Key::Esc | Key::Backspace => self.back(),
            Key::Tab => self.next_view(1),
            Key::BackTab => self.next_view(2),
            Key::Char(digit @ '1'..='3') => self.view(digit),
            Key::Char('/') => self.open_filter(),
            Key::Char('s') => self.open_sort(),
            Key::Char('<') => self.sort_beside(-1),
            Key::Char('>') => self.sort_beside(1),
            Key::Char('r') => self.reverse(),
            Key::Char('p' | ' ') => self.pause(),
            Key::Char('t') => self.toggle_tree(),
            Key::Char('c') => self.count_otherwise(),
            Key::Char('+' | '=') => return self.interval(true),
            Key::Char('-') => return self.interval(false),
            Key::Char('?' | 'h') => self.overlay = Overlay::Help(0),
            _ => {}
        }
        Effect::None
    }

    /// Keys that lead through a recording.
    fn replay_key(&mut self, key: Key) -> Option<Effect> {
        let step = match key {
            Key::Left | Key::Char(',') => Step::By(-1),
            Key::Right | Key::Char('.') => Step::By(1),
            Key::Char('[') => Step::Seconds(-60),
            Key::Char(']') => Step::Seconds(60),
            Key::Home => Step::First,
            Key::End => Step::Last,
            Key::Char(' ' | 'p') => Step::PlayPause,
            Key::Char('g') => {
                self.overlay = Overlay::Goto(String::new());
                return Some(Effect::None);
            }
            Key::Char('+' | '=' | '-') => {
                self.tell("a recording has the interval that it was made with");
                return Some(Effect::None);
            }
            _ => return None,
        };
        Some(Effect::Replay(step))
    }

    pub(super) fn step(&mut self, by: i64) {
        self.change_table(|table, lines, tree| table.step(lines, by, tree));
    }

    pub(super) fn select(&mut self, place: usize) {
        self.change_table(|table, lines, tree| table.select(lines, place, tree));
    }

    fn change_table(
        &mut self,
        change: impl FnOnce(&mut super::Table, &hotset_analysis::top::Lines, bool),
    ) {
        let tree = self.tree;
        let Some(shown) = self.shown() else { return };
        let mut table = shown.table.clone();
        change(&mut table, shown.lines, tree);
        *self.table_mut() = table;
        self.arrange();
    }

    /// Out of what is expanded; else the selection goes, then the filter.
    fn back(&mut self) {
        if self.stack.pop().is_none() {
            let table = self.table_mut();
            match table.selected.take() {
                Some(_) => {}
                None => table.filter.clear(),
            }
        }
        self.arrange();
    }

    fn next_view(&mut self, by: usize) {
        if !self.stack.is_empty() {
            return self.turn();
        }
        self.kind = Kind::ALL[(self.kind as usize + by) % Kind::ALL.len()];
        self.arrange();
    }

    fn view(&mut self, digit: char) {
        let place = digit as usize - '1' as usize;
        self.kind = Kind::ALL.get(place).copied().unwrap_or(self.kind);
        self.stack.clear();
        self.arrange();
    }

    /// Sorts by a column; by the same one again, the other way round.
    pub(super) fn sort_by(&mut self, column: Column) {
        let table = self.table_mut();
        if table.order.by == column {
            table.order.descending = !table.order.descending;
        } else {
            table.order = Order::usual(column);
        }
        self.arrange();
    }

    fn sort_beside(&mut self, by: isize) {
        let all = Column::all(self.shown_kind());
        let now = self.table_mut().order.by;
        let place = all.iter().position(|&column| column == now).unwrap_or(0);
        let next = place.saturating_add_signed(by).min(all.len().saturating_sub(1));
        if let Some(&column) = all.get(next).filter(|&&column| column != now) {
            self.sort_by(column);
        }
    }

    pub(super) fn reverse(&mut self) {
        let order = &mut self.table_mut().order;
        order.descending = !order.descending;
        self.arrange();
    }

    fn toggle_tree(&mut self) {
        if self.shown_kind() == Kind::Files {
            self.tell("files have no tree: processes and control groups do");
            return;
        }
        self.tree = !self.tree;
        self.arrange();
    }

    fn count_otherwise(&mut self) {
        self.counting = match self.counting {
            Counting::Interval => Counting::Second,
            Counting::Second => Counting::Start,
            Counting::Start => Counting::Interval,
        };
        if self.counting == Counting::Start && !self.stack.is_empty() {
            self.tell("what is below an item is counted per interval");
        }
        self.arrange();
    }

    fn interval(&mut self, longer: bool) -> Effect {
        let next = next_interval(self.setup.interval_ns, longer);
        if next == self.setup.interval_ns || !INTERVAL_RANGE_NS.contains(&next) {
            return Effect::None;
        }
        self.setup.interval_ns = next;
        Effect::Interval(next)
    }
}
