//! A row for each condition.

use hotset_analysis::bench::{BenchSummary, ConditionNumbers};

use super::look::BenchLook;
use super::words::{self, bytes};
use crate::escape::columns;
use crate::report::screen::Screen;
use crate::table::{Align, Table};
use crate::units::percent;

/// The columns, in their order.
const COLUMNS: [(&str, Align); 7] = [
    ("wall", Align::Right),
    ("min", Align::Right),
    ("quartiles", Align::Left),
    ("CPU", Align::Right),
    ("device", Align::Right),
    ("cached", Align::Right),
    ("counted", Align::Left),
];
/// Those that a narrow terminal goes without, the first one first.
const DISPENSABLE: [&str; 3] = ["cached", "device", "min"];

pub(super) fn push(screen: &mut Screen, summary: &BenchSummary, look: BenchLook) {
    let rows = look.rows(summary);
    let names: Vec<String> = rows.iter().map(|&index| words::condition(summary, index)).collect();
    let widest = names.iter().map(|name| columns(name)).max().unwrap_or(0).max(columns(TITLE));
    let fits = |dropped: &usize| {
        let without = DISPENSABLE.get(..*dropped).unwrap_or(&DISPENSABLE);
        table(summary, look, without).width() + widest <= screen.width
    };
    let dropped = (0..DISPENSABLE.len()).find(fits).unwrap_or(DISPENSABLE.len());
    let table = table(summary, look, DISPENSABLE.get(..dropped).unwrap_or(&DISPENSABLE));
    screen.table(TITLE, &table, &names);
    if summary.conditions.iter().any(|numbers| numbers.valid.is_none() && numbers.all.is_some()) {
        screen.below_table("* of all runs, since none counts");
    }
}

const TITLE: &str = "Medians";

fn table(summary: &BenchSummary, look: BenchLook, without: &[&str]) -> Table {
    let shown =
        |column: usize| COLUMNS.get(column).is_some_and(|(title, _)| !without.contains(title));
    let keep = |(column, cell): (usize, String)| shown(column).then_some(cell);
    let titles = COLUMNS.iter().filter(|(title, _)| !without.contains(title));
    let mut table = Table::new(titles.copied().collect());
    for numbers in look.rows(summary).iter().filter_map(|&row| summary.conditions.get(row)) {
        table.push(row(numbers, look).into_iter().enumerate().filter_map(keep).collect());
    }
    table
}

fn row(numbers: &ConditionNumbers, look: BenchLook) -> Vec<String> {
    let none = || "-".to_owned();
    let share = numbers.share_before.map_or_else(none, |share| percent(share.median));
    let Some(times) = numbers.valid.or(numbers.all) else {
        return vec![none(), none(), none(), none(), none(), share, runs(numbers)];
    };
    let time = |ns| look.time(ns);
    let star = if numbers.valid.is_none() { "*" } else { "" };
    let wall = &times.wall_ns;
    vec![
        format!("{}{star}", time(wall.median)),
        time(wall.min),
        format!("{} to {}", time(wall.lower_quartile), time(wall.upper_quartile)),
        time(times.cpu_ns.median),
        times.device_bytes.map_or_else(none, |device| bytes(device.median)),
        share,
        runs(numbers),
    ]
}

/// `15 runs`, `14 of 15`.
fn runs(numbers: &ConditionNumbers) -> String {
    match numbers.invalid_runs {
        0 if numbers.valid_runs == 1 => "1 run".to_owned(),
        0 => format!("{} runs", numbers.valid_runs),
        invalid => {
            format!("{} of {}", numbers.valid_runs, numbers.valid_runs.saturating_add(invalid))
        }
    }
}
