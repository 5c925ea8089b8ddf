//! Columns without boxes: names first, numbers right of them. The title of a table stands over the names.

use crate::escape::columns;

/// How a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table whose cells are single lines.
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

const GAP: usize = 2;
/// Rows stand a little to the right of the title.
pub(crate) const INDENT: usize = 2;
/// What a name gets even if the numbers are at their widest.
const MIN_NAME_WIDTH: usize = 12;

impl Table {
    pub(crate) fn new<T: Into<String>>(columns: Vec<(T, Align)>) -> Self {
        let columns = columns.into_iter().map(|(title, align)| (title.into(), align)).collect();
        Self { columns, rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// Columns of the terminal that a line takes without its name.
    pub(crate) fn width(&self) -> usize {
        INDENT + self.widths().iter().map(|width| width + GAP).sum::<usize>()
    }

    /// Columns of the terminal that are left for the names, in a line of `width`.
    pub(crate) fn room_for_names(&self, width: usize) -> usize {
        width.saturating_sub(self.width()).max(MIN_NAME_WIDTH)
    }

    /// The titles of the columns, set right of a table title of `title_width` columns, then a line for each row; no
    /// line ends in blanks. The first line lacks the title itself, which is painted by another.
    pub(crate) fn lines(&self, title_width: usize, names: &[String]) -> Vec<String> {
        let widest = names.iter().map(|name| columns(name)).max().unwrap_or(0);
        let name_width = widest.max(title_width.saturating_sub(INDENT));
        let widths = self.widths();
        let titles: Vec<String> = self.columns.iter().map(|(title, _)| title.clone()).collect();
        let head = " ".repeat((INDENT + name_width).saturating_sub(title_width));
        let mut lines = vec![self.line(head, &titles, &widths)];
        for (row, name) in self.rows.iter().zip(names) {
            let name = format!("{:INDENT$}{}", "", pad(name, name_width, Align::Left));
            lines.push(self.line(name, row, &widths));
        }
        lines
    }

    fn line(&self, mut line: String, row: &[String], widths: &[usize]) -> String {
        for ((cell, width), (_, align)) in row.iter().zip(widths).zip(&self.columns) {
            line.push_str(&" ".repeat(GAP));
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
        let mut table = Table::new(vec![("n", Align::Right), ("note", Align::Left)]);
        table.push(vec!["1".to_owned(), "x".to_owned()]);
        table.push(vec!["1,234".to_owned(), String::new()]);
        assert_eq!(table.room_for_names(40), 40 - 2 - 7 - 6);
        assert_eq!(table.room_for_names(10), MIN_NAME_WIDTH);
        let lines = table.lines(5, &["日本".to_owned(), "b".to_owned()]);
        assert_eq!(lines, ["       n  note", "  日本      1  x", "  b     1,234"]);
        assert_eq!(columns("Files") + columns(&lines[0]), columns(&lines[1]) + 3);
    }
}
