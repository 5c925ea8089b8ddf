//! Signs for how full a cell is, the same in bars and maps.

use hotset_analysis::listing::{Fill, bar};

use super::ListRow;

/// Each fill with its sign, its sign in ASCII, and its meaning.
pub(super) const FILLS: [(Fill, char, char, &str); 5] = [
    (Fill::Nothing, '·', '.', "nothing"),
    (Fill::Little, '░', '-', "up to a third"),
    (Fill::Half, '▒', '+', "up to two thirds"),
    (Fill::Most, '▓', '*', "more"),
    (Fill::All, '█', '#', "all"),
];

pub(super) fn glyph(fill: Fill, ascii: bool) -> char {
    let found = FILLS.iter().find(|(known, ..)| *known == fill);
    found.map_or('?', |(_, sign, plain, _)| if ascii { *plain } else { *sign })
}

/// A row's bar. Where there are no cells it can still be known to be empty or full; else it stays blank.
pub(super) fn bar_of(row: &ListRow<'_>, columns: usize, ascii: bool) -> String {
    let numbers = row.numbers;
    if numbers.pages == 0 {
        return String::new();
    }
    if !row.cells.is_empty() {
        return bar(row.cells, columns).into_iter().map(|fill| glyph(fill, ascii)).collect();
    }
    let all = |fill| glyph(fill, ascii).to_string().repeat(columns);
    match numbers.cached_pages.as_value().filter(|_| numbers.unknown_files == 0) {
        Some(&0) => all(Fill::Nothing),
        Some(&cached) if cached >= numbers.pages => all(Fill::All),
        _ => String::new(),
    }
}
