//! The files that cost most.

use hotset_analysis::{FileNumbers, Summary};
use hotset_facts::{FileKind, FileRow, Observed};

use super::screen::{Screen, cell};
use crate::escape::shorten_middle;
use crate::table::{Align, Table};
use crate::units::{bytes, count, duration, percent};

/// Columns of a terminal from which on there is room for more.
const WIDE: usize = 110;
const WIDEST: usize = 150;
/// What a path gets even if the numbers are at their widest.
const MIN_PATH_WIDTH: usize = 8;

type Cell = fn(&FileRow, &FileNumbers) -> String;

/// A column: its title, the width from which on it is shown, and its value.
const COLUMNS: &[(&str, usize, Cell)] = &[
    ("I/O time", 0, |_, n| cell(n.io.io_time_ns, duration)),
    ("read", 0, |_, n| cell(n.io.read_bytes, bytes)),
    ("from device", 0, |_, n| cell(n.io.brought_in_bytes, bytes)),
    ("share", 0, |_, n| share(n.io.read.value().and_then(|read| read.device_share))),
    ("written", WIDE, |_, n| cell(n.io.written_bytes, bytes)),
    ("cached", WIDE, |_, n| cached(n)),
    ("reads", WIDEST, |f, _| cell(f.io.read, |read| count(read.calls))),
    ("size", WIDEST, |f, _| cell(f.size_bytes, bytes)),
    ("opens", WIDEST, |f, _| cell(f.opens, count)),
    ("processes", WIDEST, |f, _| count(u64::from(f.processes))),
];

pub(super) fn push(screen: &mut Screen, summary: &Summary) {
    if summary.profile.files.is_empty() || screen.top == 0 {
        return;
    }
    let shown = shown(summary, screen.top);
    if !shown.iter().any(|(_, numbers)| has_cost(numbers)) {
        return;
    }
    screen.heading("Files that cost most", "share: of the pages read, from the device");
    let columns: Vec<_> = COLUMNS.iter().filter(|(_, from, _)| screen.width >= *from).collect();
    let titles = columns.iter().map(|(title, _, _)| (*title, Align::Right)).collect();
    let mut table = Table::new(titles);
    for (file, numbers) in &shown {
        table.push(columns.iter().map(|(_, _, value)| value(file, numbers)).collect());
    }
    let room = table.room_beside(screen.width).max(MIN_PATH_WIDTH);
    let names = shown.iter().map(|(file, _)| name(screen, file, room)).collect();
    screen.table(&table.with_last("file", names));
    push_rest(screen, summary, shown.len());
}

fn has_cost(numbers: &FileNumbers) -> bool {
    let io = &numbers.io;
    [io.io_time_ns, io.read_bytes, io.brought_in_bytes, io.written_bytes]
        .iter()
        .any(|cost| cost.as_value().is_some())
}

/// Without BPF: how much of each file is cached.
pub(super) fn push_residency(screen: &mut Screen, summary: &Summary) {
    let known = |numbers: &FileNumbers| numbers.cached_after.is_some();
    if !summary.files.iter().any(known) || screen.top == 0 {
        return;
    }
    let shown = shown(summary, screen.top);
    screen.heading("Files", "what is cached of them");
    let mut table = Table::new(vec![("size", Align::Right), ("cached", Align::Right)]);
    for (file, numbers) in &shown {
        table.push(vec![cell(file.size_bytes, bytes), cached(numbers)]);
    }
    let room = table.room_beside(screen.width).max(MIN_PATH_WIDTH);
    let names = shown.iter().map(|(file, _)| name(screen, file, room)).collect();
    screen.table(&table.with_last("file", names));
    push_rest(screen, summary, shown.len());
}

fn shown(summary: &Summary, top: usize) -> Vec<(&FileRow, &FileNumbers)> {
    let row = |&index: &usize| Some((summary.profile.files.get(index)?, summary.files.get(index)?));
    summary.costliest_files.iter().take(top).filter_map(row).collect()
}

fn push_rest(screen: &mut Screen, summary: &Summary, shown: usize) {
    let rest = summary.rest_of_files(shown);
    if rest.files == 0 {
        return;
    }
    let word = if rest.files == 1 { "file" } else { "files" };
    let mut parts = vec![format!("{} more {word}", count(rest.files as u64))];
    parts.extend(rest.io_time_ns.value().map(duration));
    parts.extend(rest.read_bytes.value().map(|read| format!("{} read", bytes(read))));
    parts.extend(rest.brought_in_bytes.value().map(|b| format!("{} from the device", bytes(b))));
    screen.below_table(&parts.join(", "));
}

fn name(screen: &Screen, file: &FileRow, room: usize) -> String {
    let mark = match (file.kind, file.deleted) {
        (FileKind::Others, _) => return shorten_middle("(all other files)", room),
        (FileKind::BlockDevice, _) => " (device)",
        (FileKind::Regular, true) => " (deleted)",
        (FileKind::Regular, false) => "",
    };
    let name = match &file.path {
        Observed::Value(path) => screen.path(path),
        Observed::Missing(_) => format!("({})", file.id),
    };
    format!("{}{mark}", shorten_middle(&name, room.saturating_sub(mark.len())))
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), percent)
}

/// "0 % → 100 %", or the later value alone.
fn cached(numbers: &FileNumbers) -> String {
    match (numbers.cached_before, numbers.cached_after) {
        (Some(before), Some(after)) => format!("{} → {}", percent(before), percent(after)),
        (None, Some(after)) => percent(after),
        (Some(before), None) => format!("{} → ?", percent(before)),
        (None, None) => "-".to_owned(),
    }
}
