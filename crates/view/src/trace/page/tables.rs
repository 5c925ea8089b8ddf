//! Tables of a trace's page.

use hotset_analysis::trace::{TraceFileNumbers, TraceRest, TraceSummary};

use crate::escape::{escape_bytes, escape_path};
use crate::page::{Section, Table};
use crate::trace::words::{self, cell, device_share};
use crate::units::{bytes, count, duration, percent, plural};

/// Rows that a table shows.
const ROWS: usize = 200;

/// What is not in a table, if anything.
fn rest(rows: usize, others: &TraceRest, noun: &str) -> Vec<String> {
    let more = (rows.saturating_sub(ROWS) as u64).saturating_add(others.rows);
    let at_least = if others.at_least { "At least " } else { "" };
    let more_rows = plural(more, &format!("more {noun}"));
    let text = format!("{at_least}{more_rows}, with less time each.");
    if more > 0 { vec![text] } else { Vec::new() }
}

pub(super) fn files(summary: &TraceSummary) -> Option<Section> {
    (!summary.files.is_empty()).then(|| Section {
        question: "Which files cost most?".to_owned(),
        notes: rest(summary.files.len(), &summary.other_files, "file"),
        table: Table::of("Files by the time of their requests", summary.files.iter().take(ROWS))
            .words("File", |row| words::file(row.index, row.file.as_ref(), &escape_bytes))
            .numbers("Time", |row| cell(row.counts.time_ns, duration))
            .words("Mostly", |row| words::mostly(&row.counts))
            .numbers("Read", |row| cell(row.counts.read_bytes, bytes))
            .numbers("From device", |row| device_share(&row.counts))
            .numbers("Sequential", |row| words::in_order(row))
            .numbers("Written", |row| cell(row.counts.written_bytes, bytes))
            .numbers("Device read", |row| cell(row.counts.device_read_bytes, bytes))
            .numbers("Device written", |row| cell(row.counts.device_write_bytes, bytes))
            .table(),
        ..Section::default()
    })
}

/// A file in a sentence.
pub(super) fn of_file(summary: &TraceSummary, row: &TraceFileNumbers) -> String {
    let share = summary
        .time_share(&row.counts)
        .map(|share| format!("{} of the time of all requests", percent(share)));
    let kind = row.counts.costliest_kind();
    let mostly = kind.and_then(|kind| {
        let share = row.counts.time_share(&kind)?;
        Some(format!("{} of that in {}", percent(share), words::kinds(kind.kind)))
    });
    let order = row.reads_in_order.share();
    let order = order.map(|share| format!("{} of reads sequential", percent(share)));
    let size = row.file.as_ref().and_then(|file| file.size_bytes);
    let size = size.map(|size| match size {
        0 => "empty at first use".to_owned(),
        _ => format!("{} large at first use", bytes(size)),
    });
    let device = row.counts.device_read_bytes.filter(|&read| read > 0);
    let device = device.map(|read| format!("{} read from the device", bytes(read)));
    let mut parts: Vec<String> =
        [share, mostly, order, device, size].into_iter().flatten().collect();
    if let Some(last) = parts.last_mut() {
        last.push('.');
    }
    parts.join(", ")
}

pub(super) fn operations(summary: &TraceSummary) -> Option<Section> {
    let latency = |of: Option<u64>| cell(of, duration);
    (!summary.operations.is_empty()).then(|| Section {
        question: "Which operations were there?".to_owned(),
        table: Table::of("Operations by their time", &summary.operations)
            .words("Operation", |row| words::operation(row))
            .numbers("Calls", |row| count(row.counts.records))
            .numbers("Time", |row| cell(row.counts.time_ns, duration))
            .numbers("p50", |row| latency(row.latency.map(|all| all.p50_ns)))
            .numbers("p99", |row| latency(row.latency.map(|all| all.p99_ns)))
            .numbers("Longest", |row| latency(row.latency.map(|all| all.max_ns)))
            .numbers("Bytes", |row| cell(words::moved(row), bytes))
            .words("Errors", |row| words::errors(&row.errors))
            .table(),
        ..Section::default()
    })
}

pub(super) fn processes(summary: &TraceSummary) -> Option<Section> {
    (!summary.processes.is_empty()).then(|| Section {
        question: "Which processes made requests?".to_owned(),
        notes: rest(summary.processes.len(), &summary.other_processes, "process"),
        table: Table::of(
            "Processes by their time in requests",
            summary.processes.iter().take(ROWS),
        )
        .words("Process", |row| words::process(row, &escape_bytes))
        .numbers("Records", |row| count(row.counts.records))
        .numbers("Time", |row| cell(row.counts.time_ns, duration))
        .numbers("Waited", |row| cell(row.counts.waited_ns, duration))
        .numbers("Read", |row| cell(row.counts.read_bytes, bytes))
        .numbers("From device", |row| device_share(&row.counts))
        .numbers("Written", |row| cell(row.counts.written_bytes, bytes))
        .table(),
        ..Section::default()
    })
}

pub(super) fn failed_lookups(summary: &TraceSummary) -> Option<Section> {
    let failed = &summary.failed_lookups;
    let others = plural(failed.other_calls, "failed lookup");
    (failed.calls > 0).then(|| Section {
        question: "Which paths did not exist?".to_owned(),
        notes: match failed.other_calls {
            0 => Vec::new(),
            _ => vec![format!("{others} of other paths, or of paths that are not known.")],
        },
        table: Table::of("Failed lookups by path", failed.paths.iter().take(ROWS))
            .words("Path", |row| escape_path(&row.path))
            .numbers("Calls", |row| count(row.calls))
            .numbers("Time", |row| cell(row.time_ns, duration))
            .table(),
        ..Section::default()
    })
}

pub(super) fn sites(summary: &TraceSummary) -> Table {
    Table::of("Call sites, the innermost call first", summary.sites.iter().take(ROWS))
        .words("Calls", |row| words::site(row.index, row.site.as_ref(), &escape_bytes))
        .numbers("Records", |row| count(row.counts.records))
        .numbers("Time", |row| cell(row.counts.time_ns, duration))
        .numbers("Waited", |row| cell(row.counts.waited_ns, duration))
        .numbers("From device (pages)", |row| cell(row.counts.from_device_pages(), count))
        .numbers("Device read", |row| cell(row.counts.device_read_bytes, bytes))
        .table()
}
