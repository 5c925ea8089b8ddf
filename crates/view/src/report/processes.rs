//! Processes, where there is more than one.

use hotset_analysis::{IoNumbers, Summary};
use hotset_facts::{ExitStatus, Observed, ProcessRow};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::screen::{Screen, cell};
use crate::escape::shorten_end;
use crate::table::{Align, Table};
use crate::units::{bytes, count, duration};

/// A screen has room for this many.
const MAX_ROWS: usize = 3;
/// Columns of a terminal from which on there is room for more.
const WIDE: usize = 100;
const WIDEST: usize = 150;

type Cell = fn(&ProcessRow, &IoNumbers) -> String;

/// A column: its title, the width from which on it is shown, and its value. Bytes that are zero in every row are left
/// out.
const COLUMNS: &[(&str, usize, Cell)] = &[
    ("I/O time", 0, |_, n| cell(n.io_time_ns, duration)),
    ("read", 0, |_, n| cell(n.read_bytes, bytes)),
    ("from device", 0, |_, n| cell(n.brought_in_bytes, bytes)),
    ("written", 0, |_, n| cell(n.written_bytes, bytes)),
    ("lookups", WIDEST, |p, _| cell(p.lookups, |lookups| count(lookups.calls))),
    ("major faults", WIDEST, |p, _| cell(p.major_faults, count)),
    ("minor faults", WIDEST, |p, _| cell(p.minor_faults, count)),
    ("pid", WIDE, |p, _| p.pid.to_string()),
    ("exit", WIDE, |p, _| exit(p.exit)),
];

pub(super) fn push(screen: &mut Screen, summary: &Summary) {
    if summary.profile.processes.len() < 2 {
        return;
    }
    let told = if screen.all { usize::MAX } else { summary.telling_processes().min(MAX_ROWS) };
    let shown = shown(summary, told.min(screen.top));
    if shown.is_empty() {
        return;
    }
    let has_value =
        |value: &Cell| shown.iter().any(|(process, numbers)| value(process, numbers) != "0 B");
    let columns: Vec<_> = COLUMNS
        .iter()
        .filter(|(_, from, value)| screen.width >= *from && has_value(value))
        .collect();
    let titles = columns.iter().map(|(title, _, _)| (*title, Align::Right)).collect();
    let mut table = Table::new(titles);
    for (process, numbers) in &shown {
        table.push(columns.iter().map(|(_, _, value)| value(process, numbers)).collect());
    }
    push_with_words(screen, summary, &title(summary), &table, &shown);
}

/// "Processes (1 and 40 children)"; threads are in their process.
pub(crate) fn title(summary: &Summary) -> String {
    let all = summary.profile.processes.len() as u64;
    let roots = summary.root_processes as u64;
    match all.saturating_sub(roots) {
        0 => format!("Processes ({})", count(all)),
        1 => format!("Processes ({} and 1 child)", count(roots)),
        children => format!("Processes ({} and {} children)", count(roots), count(children)),
    }
}

/// Without BPF: faults and device bytes by process.
pub(super) fn push_faults(screen: &mut Screen, summary: &Summary) {
    let shown = shown(summary, screen.top.min(MAX_ROWS));
    if shown.is_empty() {
        return;
    }
    let titles = ["major faults", "minor faults", "from device", "pid", "exit"];
    let mut table = Table::new(titles.map(|title| (title, Align::Right)).to_vec());
    for (process, _) in &shown {
        table.push(vec![
            cell(process.major_faults, count),
            cell(process.minor_faults, count),
            cell(process.io.device.read_bytes, bytes),
            process.pid.to_string(),
            exit(process.exit),
        ]);
    }
    push_with_words(screen, summary, "Processes", &table, &shown);
}

fn shown(summary: &Summary, at_most: usize) -> Vec<(&ProcessRow, IoNumbers)> {
    let processes = summary.top_processes(at_most).into_iter();
    processes.map(|process| (process, summary.io_numbers(&process.io))).collect()
}

fn push_with_words(
    screen: &mut Screen,
    summary: &Summary,
    title: &str,
    table: &Table,
    shown: &[(&ProcessRow, IoNumbers)],
) {
    let room = table.room_for_names(screen.width);
    let words: Vec<String> = shown
        .iter()
        .map(|(process, _)| shorten_end(&words(process, &|name| screen.name(name)), room))
        .collect();
    screen.table(title, table, &words);
    screen.rest(&summary.rest_of_processes(shown.len()), "");
}

/// Its words, or the kernel's name of it; `escaped` makes them safe to show.
pub(crate) fn words(process: &ProcessRow, escaped: &dyn Fn(&[u8]) -> String) -> String {
    if process.argv.is_empty() {
        return escaped(process.comm.as_bytes());
    }
    // Of the program, the name says most.
    let program = process.argv.first().and_then(|word| Path::new(word).file_name());
    let program = program.map(|name| escaped(name.as_bytes()));
    let skipped = usize::from(program.is_some());
    let words = process.argv.iter().skip(skipped).map(|word| escaped(word.as_bytes()));
    program.into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

pub(crate) fn exit(exit: Observed<ExitStatus>) -> String {
    match exit {
        Observed::Value(ExitStatus::Code(code)) => code.to_string(),
        Observed::Value(ExitStatus::Signal(signal)) => format!("sig {signal}"),
        Observed::Missing(_) => "-".to_owned(),
    }
}
