//! Rows of a directory that differ alike, as one: a program that does the same to each of many files.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use hotset_analysis::diff::{RowChange, RowChanges};

use super::words;
use crate::sites::Escape;
use crate::units::count;

/// Fewer rows stay rows.
const FEWEST: u64 = 4;

/// A row, or the first of several that differ alike.
pub(super) struct Folded<'a> {
    pub(super) row: &'a RowChange,
    /// How many there are, of which each differs in what the first one does.
    pub(super) rows: u64,
}

impl Folded<'_> {
    /// What the first one is called.
    pub(super) fn name(&self, escape: Escape<'_>) -> String {
        words::name(self.row, escape)
    }

    /// How many more there are: ` and 199 more in its directory`; empty where it stands alone.
    pub(super) fn more(&self) -> String {
        match self.rows {
            1 => String::new(),
            rows => format!(" and {} more in its directory", count(rows - 1)),
        }
    }

    /// Which counters differ, as [`words::counters`]: of several rows, those of each.
    pub(super) fn counters(&self, all: bool) -> Vec<String> {
        let mut counters = words::counters(self.row, all);
        if self.rows > 1
            && let Some(first) = counters.first_mut()
        {
            *first = format!("each: {first}");
        }
        counters
    }
}

/// Rows in their order, with those that differ alike where the first of them is.
pub(super) fn fold(rows: &RowChanges) -> Vec<Folded<'_>> {
    let key = |row: &RowChange| {
        let parent =
            Path::new(row.name()).parent().map_or(&b""[..], |it| it.as_os_str().as_bytes());
        let counters = words::counters(row, false).join(",");
        (row.change, parent.to_vec(), counters)
    };
    let mut alike: HashMap<_, u64> = HashMap::new();
    for row in &rows.rows {
        *alike.entry(key(row)).or_default() += 1;
    }
    let mut folded = Vec::new();
    for row in &rows.rows {
        let key = key(row);
        match alike.get_mut(&key) {
            // It was told with the first.
            Some(0) => {}
            Some(number) if *number >= FEWEST && !key.1.is_empty() => {
                folded.push(Folded { row, rows: *number });
                *number = 0;
            }
            _ => folded.push(Folded { row, rows: 1 }),
        }
    }
    folded
}

/// Every row by itself.
pub(super) fn each(rows: &RowChanges) -> Vec<Folded<'_>> {
    rows.rows.iter().map(|row| Folded { row, rows: 1 }).collect()
}
