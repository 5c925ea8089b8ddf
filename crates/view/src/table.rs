//! Columns without boxes: right for numbers, left for names.

use crate::escape::columns;

/// How a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table whose cells are single lines.
pub(crate) struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

const GAP: usize = 2;
/// Every table stands a little to the right of its heading.
pub(crate) const INDENT: usize = 2;

impl Table {
    pub(crate) fn new(columns: Vec<(&'static str, Align)>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// Columns of the terminal that are left for one more column at the end, in a line of `width`.
    pub(crate) fn room_beside(&self, width: usize) -> usize {
        let used: usize = self.widths().iter().map(|width| width + GAP).sum();
        width.saturating_sub(INDENT + used)
    }

    /// Adds a last, left-aligned column.
    pub(crate) fn with_last(mut self, title: &'static str, cells: Vec<String>) -> Self {
        self.columns.push((title, Align::Left));
        for (row, cell) in self.rows.iter_mut().zip(cells) {
            row.push(cell);
        }
        self
    }

    /// The line of titles, then a line for each row; no line ends in blanks.
    pub(crate) fn lines(&self) -> Vec<String> {
        let widths = self.widths();
        let titles: Vec<String> =
            self.columns.iter().map(|(title, _)| (*title).to_owned()).collect();
        std::iter::once(&titles).chain(&self.rows).map(|row| self.line(row, &widths)).collect()
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let mut line = " ".repeat(INDENT);
        for (i, ((cell, width), (_, align))) in
            row.iter().zip(widths).zip(&self.columns).enumerate()
        {
            if i > 0 {
                line.push_str(&" ".repeat(GAP));
            }
            line.push_str(&pad(cell, *width, *align));
        }
        line.truncate(line.trim_end().len());
        line
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(|(title, _)| columns(title)).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(columns(cell));
            }
        }
        widths
    }
}

/// A text with blanks up to `width` columns.
pub(crate) fn pad(text: &str, width: usize, align: Align) -> String {
    let blanks = " ".repeat(width.saturating_sub(columns(text)));
    match align {
        Align::Left => format!("{text}{blanks}"),
        Align::Right => format!("{blanks}{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_by_width_on_screen() {
        let mut table = Table::new(vec![("n", Align::Right)]);
        table.push(vec!["1".to_owned()]);
        table.push(vec!["1,234".to_owned()]);
        assert_eq!(table.room_beside(20), 20 - 2 - 5 - 2);
        let table = table.with_last("name", vec!["日本".to_owned(), "b".to_owned()]);
        assert_eq!(table.lines(), ["      n  name", "      1  日本", "  1,234  b"]);
    }
}
