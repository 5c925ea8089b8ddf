//! Tables of `hotset trace info`, the costliest rows first.

use hotset_analysis::trace::{TraceRest, TraceSummary};

use crate::escape::{shorten_end, shorten_path};
use crate::report::screen::Screen;
use crate::table::{Align, Table};
use crate::trace::words::{self, cell, device_share};
use crate::units::{bytes, count, duration, plural};

/// A column: its title, the width of the terminal from which on it is shown, and what it says of a row.
type Column<'a, T> = (&'a str, usize, Align, &'a dyn Fn(&T) -> String);

/// Columns of a terminal from which on there is room for more.
const WIDE: usize = 110;

/// What a name gets at least.
const MIN_NAME: usize = 16;

/// What says nothing.
const NO_VALUE: [&str; 5] = ["-", "0", "0 B", "0 ns", ""];

/// A table of the first rows; columns that say nothing in any of them are left out. How many rows it shows.
fn push<T>(
    screen: &mut Screen,
    title: &str,
    rows: &[T],
    columns: &[Column<'_, T>],
    name: &dyn Fn(&Screen, &T, usize) -> String,
) -> usize {
    let shown = rows.get(..screen.top).unwrap_or(rows);
    if shown.is_empty() {
        return 0;
    }
    let told = |value: &dyn Fn(&T) -> String| {
        shown.iter().any(|row| !NO_VALUE.contains(&value(row).as_str()))
    };
    let mut columns: Vec<_> = columns
        .iter()
        .filter(|(_, from, _, value)| screen.width >= *from && told(*value))
        .collect();
    let filled = |columns: &[&Column<'_, T>]| {
        let titles = columns.iter().map(|(title, _, align, _)| (*title, *align));
        let mut table = Table::new(titles.collect());
        let cells = |row: &T| columns.iter().map(|(.., value)| value(row)).collect();
        shown.iter().for_each(|row| table.push(cells(row)));
        table
    };
    let mut table = filled(&columns);
    // Wide numbers in a narrow terminal: the last columns tell least.
    while table.width() + MIN_NAME > screen.width && columns.pop().is_some() {
        table = filled(&columns);
    }
    let room = table.room_for_names(screen.width);
    let names: Vec<String> = shown.iter().map(|row| name(screen, row, room)).collect();
    screen.table(title, &table, &names);
    shown.len()
}

/// A line about the rows that are not shown: how many there are.
fn rest(screen: &mut Screen, shown: usize, rows: usize, others: &TraceRest, noun: &str) {
    let more = (rows.saturating_sub(shown) as u64).saturating_add(others.rows);
    if more > 0 && shown > 0 {
        let at_least = if others.at_least { "at least " } else { "" };
        screen.below_table(&format!("{at_least}{}", plural(more, &format!("more {noun}"))));
    }
}

pub(super) fn files(screen: &mut Screen, summary: &TraceSummary) {
    let shown = push(
        screen,
        "Files that cost most",
        &summary.files,
        &[
            ("time", 0, Align::Right, &|row| cell(row.counts.time_ns, duration)),
            ("read", 0, Align::Right, &|row| cell(row.counts.read_bytes, bytes)),
            ("device read", 0, Align::Right, &|row| cell(row.counts.device_read_bytes, bytes)),
            ("written", 0, Align::Right, &|row| cell(row.counts.written_bytes, bytes)),
            ("from device", WIDE, Align::Right, &|row| device_share(&row.counts)),
            ("sequential", WIDE, Align::Right, &|row| words::in_order(row)),
            ("mostly", WIDE, Align::Left, &|row| words::mostly(&row.counts)),
        ],
        &|screen, row, room| {
            let name = words::file(row.index, row.file.as_ref(), &|name| screen.name(name));
            shorten_path(&name, room)
        },
    );
    rest(screen, shown, summary.files.len(), &summary.other_files, "file");
}

pub(super) fn operations(screen: &mut Screen, summary: &TraceSummary) {
    let shown = push(
        screen,
        "Operations",
        &summary.operations,
        &[
            ("calls", 0, Align::Right, &|row| count(row.counts.records)),
            ("time", 0, Align::Right, &|row| cell(row.counts.time_ns, duration)),
            ("p50", 0, Align::Right, &|row| cell(row.latency.map(|all| all.p50_ns), duration)),
            ("p99", 0, Align::Right, &|row| cell(row.latency.map(|all| all.p99_ns), duration)),
            ("max", 0, Align::Right, &|row| cell(row.latency.map(|all| all.max_ns), duration)),
            ("bytes", 0, Align::Right, &|row| cell(words::moved(row), bytes)),
            ("failed", 0, Align::Right, &|row| count(row.failed())),
            ("errors", WIDE, Align::Left, &|row| shorten_end(&words::errors(&row.errors), 40)),
        ],
        &|_, row, _| words::operation(row),
    );
    rest(screen, shown, summary.operations.len(), &TraceRest::default(), "operation");
}

pub(super) fn processes(screen: &mut Screen, summary: &TraceSummary) {
    let shown = push(
        screen,
        "Processes",
        &summary.processes,
        &[
            ("records", 0, Align::Right, &|row| count(row.counts.records)),
            ("time", 0, Align::Right, &|row| cell(row.counts.time_ns, duration)),
            ("waited", 0, Align::Right, &|row| cell(row.counts.waited_ns, duration)),
            ("read", 0, Align::Right, &|row| cell(row.counts.read_bytes, bytes)),
            ("written", 0, Align::Right, &|row| cell(row.counts.written_bytes, bytes)),
        ],
        &|screen, row, room| shorten_end(&words::process(row, &|name| screen.name(name)), room),
    );
    rest(screen, shown, summary.processes.len(), &summary.other_processes, "process");
}

pub(super) fn failed_lookups(screen: &mut Screen, summary: &TraceSummary) {
    let failed = &summary.failed_lookups;
    let shown = push(
        screen,
        "Failed lookups",
        &failed.paths,
        &[
            ("calls", 0, Align::Right, &|row| count(row.calls)),
            ("time", 0, Align::Right, &|row| cell(row.time_ns, duration)),
        ],
        &|screen, row, room| shorten_path(&screen.path(&row.path), room),
    );
    let told: u64 = failed.paths.iter().take(shown).map(|row| row.calls).sum();
    let more = failed.calls.saturating_sub(told);
    if more > 0 {
        screen.below_table(&format!("{} of other paths", plural(more, "failed lookup")));
    }
}

pub(super) fn sites(screen: &mut Screen, summary: &TraceSummary) {
    let shown = push(
        screen,
        "Call sites (innermost call first)",
        &summary.sites,
        &[
            ("records", 0, Align::Right, &|row| count(row.counts.records)),
            ("time", 0, Align::Right, &|row| cell(row.counts.time_ns, duration)),
            ("waited", 0, Align::Right, &|row| cell(row.counts.waited_ns, duration)),
            ("device pages", WIDE, Align::Right, &|row| {
                cell(row.counts.from_device_pages(), count)
            }),
        ],
        &|screen, row, room| {
            let chain = words::site(row.index, row.site.as_ref(), &|name| screen.name(name));
            shorten_end(&chain, room)
        },
    );
    rest(screen, shown, summary.sites.len(), &summary.other_sites, "call site");
}
