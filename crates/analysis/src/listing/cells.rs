//! Pictures: how full each column of a bar or a map is.

use hotset_facts::CacheCell;

/// How much of a cell is cached. The two ends are exact: a cell is never shown as empty or full that isn't.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fill {
    /// No page.
    Nothing,
    /// Some, up to a third.
    Little,
    /// Up to two thirds.
    Half,
    /// More, but not all.
    Most,
    /// Every page.
    All,
}

/// How full a cell is; one without pages is empty.
pub fn fill_of(cell: CacheCell) -> Fill {
    if cell.cached == 0 {
        Fill::Nothing
    } else if cell.cached >= cell.pages {
        Fill::All
    } else {
        // In 128 bits, so that no count overflows.
        let (cached, pages) = (u128::from(cell.cached), u128::from(cell.pages));
        match 3 * cached {
            third if third <= pages => Fill::Little,
            third if third <= 2 * pages => Fill::Half,
            _ => Fill::Most,
        }
    }
}

/// A bar of exactly `columns` columns: cells are put together where there are more, and drawn out where there are fewer.
/// Empty where there are no cells.
pub fn bar(cells: &[CacheCell], columns: usize) -> Vec<Fill> {
    if cells.is_empty() {
        return Vec::new();
    }
    let start = |column: usize| column * cells.len() / columns;
    (0..columns)
        .map(|column| {
            let first = start(column);
            let end = start(column + 1).max(first + 1).min(cells.len());
            fill_of(sum_of(&cells[first..end]))
        })
        .collect()
}

fn sum_of(cells: &[CacheCell]) -> CacheCell {
    cells.iter().fold(CacheCell::default(), |sum, cell| CacheCell {
        pages: sum.pages.saturating_add(cell.pages),
        cached: sum.cached.saturating_add(cell.cached),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(pages: u64, cached: u64) -> CacheCell {
        CacheCell { pages, cached }
    }

    #[test]
    fn only_all_is_all_and_only_nothing_is_nothing() {
        let many = 1_u64 << 62;
        let cells = [cell(9, 0), cell(9, 1), cell(9, 4), cell(9, 7), cell(9, 9), cell(0, 0)];
        let fills: Vec<Fill> = cells.into_iter().map(fill_of).collect();
        use Fill::*;
        assert_eq!(fills, [Nothing, Little, Half, Most, All, Nothing]);
        assert_eq!(fill_of(cell(many, 1)), Little);
        assert_eq!(fill_of(cell(many, many - 1)), Most);
    }

    #[test]
    fn a_bar_has_its_width_whatever_the_number_of_cells() {
        use Fill::*;
        let (full, empty) = (cell(4, 4), cell(4, 0));
        assert_eq!(bar(&[full, empty], 4), [All, All, Nothing, Nothing]);
        assert_eq!(bar(&[full, full, full, empty], 2), [All, Half]);
        assert_eq!(bar(&[full, empty, empty], 2), [All, Nothing]);
        assert_eq!(bar(&[], 4), []);
        for cells in 1..50 {
            for columns in 1..50 {
                let bar = bar(&vec![full; cells], columns);
                assert_eq!(bar, vec![All; columns], "{cells} in {columns}");
            }
        }
    }
}
