//! The files that cost most.

use hotset_analysis::{FileNumbers, Summary};
use hotset_facts::{FileKind, FileRow, Observed};

use std::path::Path;

use super::screen::{Screen, cell};
use super::text::bar;
use crate::escape::shorten_path;
use crate::table::{Align, Table};
use crate::units::{bytes, count, duration, whole_percent};

/// Columns of a terminal from which on there is room for more.
const WIDE: usize = 110;
const WIDEST: usize = 150;
const BAR_WIDTH: usize = 12;

/// Cells that say nothing.
const NO_VALUE: [&str; 4] = ["-", "0", "0 B", "0 %"];

type Cell = fn(&FileRow, &FileNumbers) -> String;

/// A column: its title, the width from which on it is shown, and its value. Columns without a value in any row are left
/// out.
const COLUMNS: &[(&str, usize, Cell)] = &[
    ("I/O time", 0, |_, n| cell(n.io.io_time_ns, duration)),
    ("read", 0, |_, n| cell(n.io.read_bytes, bytes)),
    ("from device", 0, |_, n| cell(n.io.brought_in_bytes, bytes)),
    ("share", 0, |_, n| share(n.io.read.value().and_then(|read| read.device_share))),
    ("written", 0, |_, n| cell(n.io.written_bytes, bytes)),
    ("cached", WIDE, |_, n| cached(n)),
    ("size", WIDEST, |f, _| cell(f.size_bytes, bytes)),
    ("opens", WIDEST, |f, _| cell(f.opens, count)),
    ("processes", WIDEST, |f, _| count(u64::from(f.processes))),
];

pub(super) fn push(screen: &mut Screen, summary: &Summary) {
    let told = if screen.all { usize::MAX } else { summary.significant_files() };
    let shown = shown(summary, told.min(screen.top));
    if !shown.iter().any(|(_, numbers)| has_cost(numbers)) {
        return;
    }
    let has_value = |value: &Cell| {
        shown.iter().any(|(file, numbers)| !NO_VALUE.contains(&value(file, numbers).as_str()))
    };
    let columns: Vec<_> = COLUMNS
        .iter()
        .filter(|(_, from, value)| screen.width >= *from && has_value(value))
        .collect();
    let mut titles: Vec<_> = columns.iter().map(|(title, _, _)| (*title, Align::Right)).collect();
    let with_bars = screen.width >= WIDEST;
    if with_bars {
        titles.insert(1, ("", Align::Left));
    }
    let mut table = Table::new(titles);
    let longest = longest(&shown);
    for (file, numbers) in &shown {
        let mut row: Vec<String> =
            columns.iter().map(|(_, _, value)| value(file, numbers)).collect();
        if with_bars {
            row.insert(1, bar(io_time(numbers) as f64 / longest as f64, BAR_WIDTH));
        }
        table.push(row);
    }
    let names = names(screen, &table, &shown);
    screen.table("Files that cost most", &table, &names);
    push_rest(screen, summary, shown.len());
}

fn io_time(numbers: &FileNumbers) -> u64 {
    numbers.io.io_time_ns.value().unwrap_or(0)
}

fn longest(shown: &[(&FileRow, FileNumbers)]) -> u64 {
    shown.iter().map(|(_, numbers)| io_time(numbers)).max().unwrap_or(0).max(1)
}

fn has_cost(numbers: &FileNumbers) -> bool {
    let io = &numbers.io;
    let costs = [io.io_time_ns, io.read_bytes, io.brought_in_bytes, io.written_bytes];
    costs.iter().any(|cost| cost.value().is_some_and(|cost| cost > 0))
}

/// Without BPF: how much of each file is cached.
pub(super) fn push_residency(screen: &mut Screen, summary: &Summary) {
    let shown = shown(summary, screen.top);
    if !shown.iter().any(|(_, numbers)| numbers.cached_after.is_some()) {
        return;
    }
    let mut table = Table::new(vec![("size", Align::Right), ("cached", Align::Right)]);
    for (file, numbers) in &shown {
        table.push(vec![cell(file.size_bytes, bytes), cached(numbers)]);
    }
    let names = names(screen, &table, &shown);
    screen.table("Files, and what is cached of them", &table, &names);
    push_rest(screen, summary, shown.len());
}

fn shown(summary: &Summary, at_most: usize) -> Vec<(&FileRow, FileNumbers)> {
    let files = summary.top_files(at_most).into_iter();
    files.map(|file| (file, summary.file_numbers(file))).collect()
}

fn names(screen: &Screen, table: &Table, shown: &[(&FileRow, FileNumbers)]) -> Vec<String> {
    let room = table.room_for_names(screen.width);
    shown.iter().map(|(file, _)| name(screen, file, room)).collect()
}

fn push_rest(screen: &mut Screen, summary: &Summary, shown: usize) {
    let rest = summary.rest_of_files(shown);
    screen.rest(&rest, if rest.rows == 1 { " file" } else { " files" });
}

fn name(screen: &Screen, file: &FileRow, room: usize) -> String {
    let (name, mark) = named(file, &|path| screen.path(path));
    format!("{}{mark}", shorten_path(&name, room.saturating_sub(mark.len())))
}

/// What a file is called, and what marks one that is no regular file or is deleted; `escaped` makes its path safe to show.
pub(crate) fn named(file: &FileRow, escaped: &dyn Fn(&Path) -> String) -> (String, &'static str) {
    let mark = match (file.kind, file.deleted) {
        (FileKind::Others, _) => return ("(all other files)".to_owned(), ""),
        (FileKind::AllFileSystems, _) => return ("(all file systems)".to_owned(), ""),
        (FileKind::FileSystem, _) => " (file system)",
        (FileKind::Directory, _) => "/",
        (FileKind::BlockDevice, _) => " (device)",
        (FileKind::Regular, true) => " (deleted)",
        (FileKind::Regular, false) => "",
    };
    let name = match &file.path {
        Observed::Value(path) => escaped(path),
        Observed::Missing(_) => format!("({})", file.id),
    };
    (name, mark)
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), whole_percent)
}

/// "0 % → 100 %", or the later value alone.
pub(crate) fn cached(numbers: &FileNumbers) -> String {
    match (numbers.cached_before, numbers.cached_after) {
        (Some(before), Some(after)) => {
            format!("{} → {}", whole_percent(before), whole_percent(after))
        }
        (None, Some(after)) => whole_percent(after),
        (Some(before), None) => format!("{} → ?", whole_percent(before)),
        (None, None) => "-".to_owned(),
    }
}
