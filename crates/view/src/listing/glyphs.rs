//! Signs for how full a cell is, the same in bars and maps.

use hotset_analysis::listing::{Fill, bar};
use hotset_facts::{CacheCell, Observed};

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
    let known = row.numbers.cached_pages.as_value().filter(|_| row.numbers.unknown_files == 0);
    let whole = |cached: u64| [CacheCell { pages: row.numbers.pages, cached }];
    let fills = match known {
        _ if row.numbers.pages == 0 => Vec::new(),
        _ if !row.cells.is_empty() => bar(row.cells, columns),
        Some(&0) => bar(&whole(0), columns),
        Some(&cached) if cached >= row.numbers.pages => bar(&whole(cached), columns),
        _ => Vec::new(),
    };
    fills.into_iter().map(|fill| glyph(fill, ascii)).collect()
}

/// A value as a cell; a dash where there is none.
pub(super) fn cell(value: Observed<u64>, format: fn(u64) -> String) -> String {
    value.value().map_or_else(|| "-".to_owned(), format)
}
