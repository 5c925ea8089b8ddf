//! What lies over the screen, or takes the keys for itself.

use hotset_analysis::top::Column;

use super::App;
use crate::tui::input::{Effect, Key, Step};
use crate::tui::when;

/// The longest text that can be typed.
const LONGEST_TEXT: usize = 200;

/// What lies over the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::tui) enum Overlay {
    /// Nothing lies over the table.
    #[default]
    None,
    /// Keys and words explained; how many lines are scrolled away.
    Help(usize),
    /// The columns to sort by; which one is marked.
    Sort(usize),
    /// A filter is being typed; what it was before.
    Filter(String),
    /// A time is being typed.
    Goto(String),
}

impl App {
    pub(super) fn open_sort(&mut self) {
        let all = Column::all(self.shown_kind());
        let by = self.table_mut().order.by;
        self.overlay = Overlay::Sort(all.iter().position(|&column| column == by).unwrap_or(0));
    }

    pub(super) fn open_filter(&mut self) {
        self.overlay = Overlay::Filter(self.table_mut().filter.clone());
    }

    /// A key while something lies over the screen.
    pub(super) fn overlay_key(&mut self, key: Key) -> Effect {
        match std::mem::take(&mut self.overlay) {
            Overlay::None => {}
            Overlay::Help(top) => self.help_key(key, top),
            Overlay::Sort(marked) => self.sort_key(key, marked),
            Overlay::Filter(before) => self.filter_key(key, before),
            Overlay::Goto(text) => return self.goto_key(key, text),
        }
        Effect::None
    }

    fn help_key(&mut self, key: Key, top: usize) {
        let page = usize::from(self.setup.size.1.saturating_sub(4)).max(1);
        let longest = crate::tui::draw::help_length(self).saturating_sub(page);
        let top = match key {
            Key::Up | Key::Char('k') => top.saturating_sub(1),
            Key::Down | Key::Char('j') => top + 1,
            Key::PageUp => top.saturating_sub(page),
            Key::PageDown | Key::Char(' ') => top + page,
            Key::Home => 0,
            Key::End => longest,
            _ => return,
        };
        self.overlay = Overlay::Help(top.min(longest));
    }

    fn sort_key(&mut self, key: Key, marked: usize) {
        let all = Column::all(self.shown_kind());
        let last = all.len().saturating_sub(1);
        let marked = match key {
            Key::Up | Key::Char('k') => marked.saturating_sub(1),
            Key::Down | Key::Char('j') => (marked + 1).min(last),
            Key::Home | Key::PageUp => 0,
            Key::End | Key::PageDown => last,
            Key::Enter | Key::Char(' ') => {
                if let Some(&column) = all.get(marked) {
                    self.sort_by(column);
                }
                return;
            }
            Key::Char('r' | 's') => {
                self.reverse();
                marked
            }
            _ => return,
        };
        self.overlay = Overlay::Sort(marked);
    }

    fn filter_key(&mut self, key: Key, before: String) {
        let done = matches!(key, Key::Enter | Key::Down | Key::Up);
        match key {
            Key::Esc => self.table_mut().filter = before.clone(),
            Key::Ctrl('u') => self.table_mut().filter.clear(),
            Key::Char(c) => push(&mut self.table_mut().filter, c),
            Key::Backspace => {
                self.table_mut().filter.pop();
            }
            _ => {}
        }
        if !done && key != Key::Esc {
            self.overlay = Overlay::Filter(before);
        }
        self.arrange();
    }

    fn goto_key(&mut self, key: Key, mut text: String) -> Effect {
        match key {
            Key::Esc => return Effect::None,
            Key::Enter => {
                let near = self.frame().map(|frame| frame.at);
                return match near.and_then(|near| when::parse(&text, near)) {
                    Some(seconds) => Effect::Replay(Step::At(seconds)),
                    None => {
                        self.tell(
                            "a time is HH:MM, HH:MM:SS, YYYY-MM-DD HH:MM:SS (UTC), or -5m, +30s",
                        );
                        Effect::None
                    }
                };
            }
            Key::Char(c) => push(&mut text, c),
            Key::Backspace => {
                text.pop();
            }
            Key::Ctrl('u') => text.clear(),
            _ => {}
        }
        self.overlay = Overlay::Goto(text);
        Effect::None
    }

    /// Text that came at once.
    pub(super) fn paste(&mut self, text: &str) {
        let characters = text.chars().filter(|c| !c.is_control());
        match &mut self.overlay {
            Overlay::Goto(typed) => characters.for_each(|c| push(typed, c)),
            Overlay::Filter(_) => {
                let filter = &mut self.table_mut().filter;
                characters.for_each(|c| push(filter, c));
                self.arrange();
            }
            _ => {}
        }
    }
}

fn push(text: &mut String, c: char) {
    if text.len() < LONGEST_TEXT && !c.is_control() {
        text.push(c);
    }
}
