//! Directories that were asked in vain.

use hotset_analysis::Summary;

use super::screen::{Screen, cell};
use crate::escape::shorten_path;
use crate::table::{Align, Table};
use crate::units::count;

/// A handful of failures is normal and not worth the room.
const MIN_FAILED: u64 = 20;

/// Only where everything is wanted: a finding names the directories where they cost something.
pub(super) fn push(screen: &mut Screen, summary: &Summary) {
    let failed = summary.profile.lookups.as_value().map_or(0, |lookups| lookups.counters.failed);
    let rows = &summary.by_directory;
    if !screen.all || failed < MIN_FAILED || rows.is_empty() || screen.top == 0 {
        return;
    }
    let shown = rows.len().min(screen.top);
    let mut table = Table::new(vec![("failed", Align::Right), ("of", Align::Right)]);
    for row in &rows[..shown] {
        table.push(vec![count(row.failed), cell(row.calls, count)]);
    }
    let room = table.room_for_names(screen.width);
    let names: Vec<String> =
        rows[..shown].iter().map(|row| shorten_path(&screen.path(&row.directory), room)).collect();
    let title = if summary.losses.failed_paths_at_least {
        "Lookups that failed, at least (some paths were lost)"
    } else {
        "Lookups that failed"
    };
    screen.table(title, &table, &names);
    if rows.len() > shown {
        screen.below_table(&format!("{} more directories", count((rows.len() - shown) as u64)));
    }
}
