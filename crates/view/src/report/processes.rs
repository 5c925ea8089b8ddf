//! Processes, where there is more than one.

use hotset_analysis::{IoNumbers, Summary};
use hotset_facts::{ExitStatus, Observed, ProcessRow};
use std::os::unix::ffi::OsStrExt as _;

use super::screen::{Screen, cell};
use crate::escape::shorten_end;
use crate::table::{Align, Table};
use crate::units::{bytes, count, duration};

/// A screen has room for this many.
const MAX_ROWS: usize = 5;
/// What a command gets even if the numbers are at their widest.
const MIN_WORDS_WIDTH: usize = 8;

pub(super) fn push(screen: &mut Screen, summary: &Summary) {
    if summary.profile.processes.len() < 2 || screen.top == 0 {
        return;
    }
    screen.heading("Processes", &format!("{} of them", summary.profile.processes.len()));
    let shown = shown(summary, screen.top);
    let titles = ["I/O time", "read", "from device", "written", "pid", "exit"];
    let mut table = Table::new(titles.map(|title| (title, Align::Right)).to_vec());
    for (process, numbers) in &shown {
        table.push(vec![
            cell(numbers.io_time_ns, duration),
            cell(numbers.read_bytes, bytes),
            cell(numbers.brought_in_bytes, bytes),
            cell(numbers.written_bytes, bytes),
            process.pid.to_string(),
            exit(process.exit),
        ]);
    }
    push_with_words(screen, summary, table, &shown);
}

/// Without BPF: faults and device bytes by process.
pub(super) fn push_faults(screen: &mut Screen, summary: &Summary) {
    if summary.profile.processes.is_empty() || screen.top == 0 {
        return;
    }
    screen.heading("Processes", "");
    let shown = shown(summary, screen.top);
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
    push_with_words(screen, summary, table, &shown);
}

fn shown(summary: &Summary, top: usize) -> Vec<(&ProcessRow, &IoNumbers)> {
    let row = |&index: &usize| {
        Some((summary.profile.processes.get(index)?, summary.processes.get(index)?))
    };
    summary.costliest_processes.iter().take(top.min(MAX_ROWS)).filter_map(row).collect()
}

fn push_with_words(
    screen: &mut Screen,
    summary: &Summary,
    table: Table,
    shown: &[(&ProcessRow, &IoNumbers)],
) {
    let room = table.room_beside(screen.width).max(MIN_WORDS_WIDTH);
    let words =
        shown.iter().map(|(process, _)| shorten_end(&words(screen, process), room)).collect();
    screen.table(&table.with_last("command", words));
    let more = summary.profile.processes.len().saturating_sub(shown.len());
    if more > 0 {
        screen.below_table(&format!("{} more", count(more as u64)));
    }
}

fn words(screen: &Screen, process: &ProcessRow) -> String {
    if process.argv.is_empty() {
        return screen.name(process.comm.as_bytes());
    }
    let words = process.argv.iter().map(|word| screen.name(word.as_bytes()));
    words.collect::<Vec<_>>().join(" ")
}

fn exit(exit: Observed<ExitStatus>) -> String {
    match exit {
        Observed::Value(ExitStatus::Code(code)) => code.to_string(),
        Observed::Value(ExitStatus::Signal(signal)) => format!("sig {signal}"),
        Observed::Missing(_) => "-".to_owned(),
    }
}
