//! Directories that were asked in vain.

use hotset_analysis::Summary;

use super::screen::{Screen, cell};
use crate::escape::shorten_middle;
use crate::table::{Align, Table};
use crate::units::count;

/// A screen has room for this many.
const MAX_ROWS: usize = 5;
/// A handful of failures is normal and not worth the room.
const MIN_FAILED: u64 = 20;

pub(super) fn push(screen: &mut Screen, summary: &Summary) {
    let failed = summary.profile.lookups.as_value().map_or(0, |lookups| lookups.counters.failed);
    if failed < MIN_FAILED || summary.by_directory.is_empty() || screen.top == 0 {
        return;
    }
    let note =
        if summary.losses.failed_paths_at_least { "at least: some paths were lost" } else { "" };
    screen.heading("Lookups that failed", note);
    let rows = &summary.by_directory;
    let shown = rows.len().min(screen.top).min(MAX_ROWS);
    let titles = vec![("failed", Align::Right), ("of", Align::Right)];
    let mut table = Table::new(titles);
    for row in &rows[..shown] {
        table.push(vec![count(row.failed), cell(row.calls, count)]);
    }
    let room = table.room_beside(screen.width);
    let names = rows[..shown].iter().map(|row| {
        let name = screen.path(&row.directory);
        shorten_middle(&name, room)
    });
    let table = table.with_last("in directory", names.collect());
    screen.table(&table);
    if rows.len() > shown {
        screen.below_table(&format!("{} more directories", count((rows.len() - shown) as u64)));
    }
}
