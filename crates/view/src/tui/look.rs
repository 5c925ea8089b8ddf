//! Styles. Whatever colour says is also said by a mark, a word or a position: a screen reads without colour.

use ratatui::style::{Color, Modifier, Style};

/// How a screen may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Colour may be used. Cyan is for what came from the cache and yellow for what did not: blue and yellow differ for
    /// nearly everybody.
    pub color: bool,
    /// Only ASCII may be used.
    pub ascii: bool,
}

impl Look {
    fn colored(self, color: Color, plain: Modifier) -> Style {
        match self.color {
            true => Style::new().fg(color),
            false => Style::new().add_modifier(plain),
        }
    }

    /// What came from the cache.
    pub(super) fn cache(self) -> Style {
        self.colored(Color::Cyan, Modifier::empty())
    }

    /// What had to come from a device.
    pub(super) fn device(self) -> Style {
        self.colored(Color::Yellow, Modifier::BOLD)
    }

    /// Names of numbers, zeros, what is over.
    pub(super) fn faint(self) -> Style {
        self.colored(Color::DarkGray, Modifier::DIM)
    }

    /// Names of meters.
    pub(super) fn label(self) -> Style {
        self.colored(Color::Blue, Modifier::BOLD).add_modifier(Modifier::BOLD)
    }

    /// What must not be missed.
    pub(super) fn warning(self) -> Style {
        self.colored(Color::Yellow, Modifier::REVERSED)
            .add_modifier(Modifier::REVERSED | Modifier::BOLD)
    }

    /// Titles of columns.
    pub(super) fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
    }

    pub(super) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The line that is selected, and the view that is shown.
    pub(super) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// The mark of the column that lines are sorted by.
    pub(super) fn arrow(self, descending: bool) -> char {
        match (self.ascii, descending) {
            (false, true) => '▼',
            (false, false) => '▲',
            (true, true) => 'v',
            (true, false) => '^',
        }
    }

    /// Bars by eighths of a cell, from empty to full.
    pub(super) fn bars(self) -> [char; 9] {
        match self.ascii {
            false => [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
            true => [' ', '.', ':', '-', '=', '+', '*', '%', '#'],
        }
    }

    /// The guides of a tree: more follows, a branch, the last branch.
    pub(super) fn guides(self) -> [&'static str; 3] {
        match self.ascii {
            false => ["│ ", "├ ", "└ "],
            true => ["| ", "|-", "`-"],
        }
    }

    /// What stands before the line of somebody who ended.
    pub(super) fn ended_mark(self) -> char {
        if self.ascii { 'x' } else { '×' }
    }
}
