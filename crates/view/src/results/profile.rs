//! A page from `hotset.profile/1`.

mod input;

pub(super) use input::ProfileIn;

use super::host;
use crate::escape::escape_text;
use crate::page::{
    Answer, Axis, Chart, ChartKind, Column, Doubtful, Page, Point, Section, Series, Table,
};
use crate::units::{bytes, count, duration};
use input::{FileIn, FindingIn};

/// Files that a chart and a table show.
const FILES: usize = 200;
/// Files that a chart has room for.
const CHARTED: usize = 12;

/// The page of one run.
pub(super) fn page(name: &str, profile: &ProfileIn) -> Page {
    let command = escape_text(&profile.command.argv.join(" "));
    let what = match profile.command.target.kind.as_str() {
        "command" => command,
        other => format!("{} {command}", escape_text(other)),
    };
    let mut sections = vec![findings(profile)];
    sections.push(files(profile));
    sections.push(time(profile));
    Page {
        title: format!("run: {what}"),
        subtitle: format!(
            "{} · took {} · seen by {} ({})",
            escape_text(name),
            duration(profile.command.wall_ns),
            escape_text(&profile.sensor.name),
            escape_text(&profile.sensor.level)
        ),
        lead: lead(profile),
        sections,
        conditions: host::conditions(&profile.hotset, &profile.started_at, &profile.environment),
        doubts: doubts(profile),
        parts: Vec::new(),
    }
}

fn lead(profile: &ProfileIn) -> Vec<Answer> {
    let read = &profile.totals.read;
    let hits = Answer {
        question: "How much of what was read was cached?".to_owned(),
        sentence: format!(
            "Of {} pages that read calls asked for, {} were hits and {} misses.",
            or_unknown(read.pages, count),
            or_unknown(read.hits, count),
            or_unknown(read.misses, count)
        ),
        number: format!("{} hits", or_unknown(read.hits, count)),
        sure: "counted, not sampled".to_owned(),
    };
    let finding = |one: &FindingIn| Answer {
        question: format!("Finding ({})", escape_text(&one.severity)),
        sentence: format!("{}.", escape_text(&one.title)),
        number: saving(one),
        sure: escape_text(&one.advice),
    };
    std::iter::once(hits).chain(profile.findings.iter().take(3).map(finding)).collect()
}

/// `saves 1.2 s to 2.0 s`, or nothing to save.
fn saving(finding: &FindingIn) -> String {
    match (finding.saving_ns.low, finding.saving_ns.high) {
        (0, 0) => "no saving claimed".to_owned(),
        (0, high) => format!("up to {}", duration(high)),
        (low, high) => format!("{} to {}", duration(low), duration(high)),
    }
}

fn or_unknown(value: Option<u64>, text: impl Fn(u64) -> String) -> String {
    value.map_or_else(|| "unknown".to_owned(), text)
}

fn findings(profile: &ProfileIn) -> Section {
    let row = |one: &FindingIn| {
        vec![
            escape_text(&one.title),
            escape_text(&one.severity),
            saving(one),
            escape_text(&one.advice),
            escape_text(&one.files.join(", ")),
        ]
    };
    let nothing =
        if profile.findings.is_empty() { "Nothing: no rule has anything to say." } else { "" };
    Section {
        question: "What is worth changing?".to_owned(),
        answer: nothing.to_owned(),
        table: Table {
            caption: "Findings, the largest saving first".to_owned(),
            columns: ["Finding", "Severity", "Would save", "What to do", "Files"]
                .map(Column::words)
                .to_vec(),
            rows: profile.findings.iter().map(row).collect(),
        },
        ..Section::default()
    }
}

fn name_of(file: &FileIn) -> String {
    file.path.as_deref().map_or_else(|| "(no name)".to_owned(), escape_text)
}

fn files(profile: &ProfileIn) -> Section {
    let row = |file: &FileIn| {
        vec![
            name_of(file),
            or_unknown(file.read.hits, count),
            or_unknown(file.read.misses, count),
            or_unknown(file.read.bytes, bytes),
            or_unknown(file.device.read_bytes, bytes),
            or_unknown(file.device.write_bytes, bytes),
            or_unknown(file.mmap.major_faults, count),
            or_unknown(file.read.time_ns, duration),
        ]
    };
    let mut columns = vec![Column::words("File")];
    let numbers =
        ["Hits", "Misses", "Read", "From device", "To device", "Major faults", "Time of reads"];
    columns.extend(numbers.map(Column::numbers));
    let all = profile.files.len();
    let cut = (all > FILES).then(|| format!("The first {FILES} of {all} files; the JSON has all."));
    Section {
        question: "Which files were read, and from where?".to_owned(),
        chart: chart(profile),
        table: Table {
            caption: "Files, in the order of the profile".to_owned(),
            columns,
            rows: profile.files.iter().take(FILES).map(row).collect(),
        },
        notes: cut.into_iter().collect(),
        ..Section::default()
    }
}

/// Hits and misses of the files that cost most; the profile has them in that order.
fn chart(profile: &ProfileIn) -> Option<Chart> {
    let has_pages = |file: &&FileIn| file.read.pages.is_some_and(|pages| pages > 0);
    let all: Vec<&FileIn> = profile.files.iter().filter(has_pages).take(CHARTED).collect();
    let series = |name: &str, of: &dyn Fn(&FileIn) -> Option<u64>| {
        let point = |(at, file): (usize, &&FileIn)| {
            let value = of(file)?;
            let text = format!("{}: {} {name}", name_of(file), count(value));
            Some(Point { x: at as f64, y: value as f64, interval: None, text, aside: false })
        };
        Series {
            name: name.to_owned(),
            points: all.iter().enumerate().filter_map(point).collect(),
            boxes: Vec::new(),
        }
    };
    let last = |path: String| path.rsplit('/').next().map_or(path.clone(), str::to_owned);
    (!all.is_empty()).then(|| Chart {
        label: format!("Pages of read calls, by file: the {} that cost most", all.len()),
        kind: ChartKind::Bars,
        x: Axis { names: all.iter().map(|file| last(name_of(file))).collect(), ..Axis::default() },
        y: Axis { title: "pages".to_owned(), ..Axis::default() },
        series: vec![
            series("hits", &|file| file.read.hits),
            series("misses", &|file| file.read.misses),
        ],
        reference: None,
        aside: String::new(),
    })
}

fn time(profile: &ProfileIn) -> Section {
    let time = &profile.totals.time;
    let rows = [
        ("hits", time.hit_ns),
        ("waiting for reads of others", time.wait_ns),
        ("misses", time.miss_ns),
        ("faults", time.fault_ns),
        ("direct I/O", time.direct_ns),
        ("writes", time.write_ns),
        ("syncs", time.sync_ns),
        ("lookups", time.lookup_ns),
    ];
    let row = |(name, ns): (&str, Option<u64>)| vec![name.to_owned(), or_unknown(ns, duration)];
    Section {
        question: "Where did the time of I/O go?".to_owned(),
        table: Table {
            caption: "Time in system calls and faults, summed over processes".to_owned(),
            columns: vec![Column::words("In"), Column::numbers("Time")],
            rows: rows.into_iter().map(row).collect(),
        },
        ..Section::default()
    }
}

fn doubts(profile: &ProfileIn) -> Vec<Doubtful> {
    let sensor = &profile.sensor;
    let lost = [
        (
            sensor.events_lost,
            "events were lost: names and failed paths are missing, counts are not",
        ),
        (sensor.entries_lost, "entries were lost: their counts are in the others row"),
    ];
    let lost = lost.into_iter().filter(|(number, _)| *number > 0);
    let lost = lost.map(|(number, text)| Doubtful {
        text: format!("{} {text}", count(number)),
        advice: String::new(),
    });
    let missing = sensor.not_measured.iter().map(|one| Doubtful {
        text: format!("not measured: {}", escape_text(&one.what)),
        advice: escape_text(&one.reason),
    });
    lost.chain(missing).collect()
}

/// The totals of several runs beside each other.
pub(super) fn beside(all: &[(String, ProfileIn)]) -> Option<Page> {
    if all.len() < 2 {
        return None;
    }
    let mut columns = vec![Column::words("Total")];
    columns.extend(all.iter().map(|(name, _)| Column::numbers(&escape_text(name))));
    let row = |name: &str, of: &dyn Fn(&ProfileIn) -> String| {
        let mut row = vec![name.to_owned()];
        row.extend(all.iter().map(|(_, profile)| of(profile)));
        row
    };
    let rows = vec![
        row("wall time", &|it| duration(it.command.wall_ns)),
        row("hits", &|it| or_unknown(it.totals.read.hits, count)),
        row("misses", &|it| or_unknown(it.totals.read.misses, count)),
        row("read", &|it| or_unknown(it.totals.read.bytes, bytes)),
        row("from device", &|it| or_unknown(it.totals.device.read_bytes, bytes)),
        row("to device", &|it| or_unknown(it.totals.device.write_bytes, bytes)),
        row("major faults", &|it| or_unknown(it.totals.mmap.major_faults, count)),
        row("findings", &|it| it.findings.len().to_string()),
    ];
    Some(Page {
        title: "run: side by side".to_owned(),
        subtitle: "One run each: differences may be chance. hotset bench tells.".to_owned(),
        sections: vec![Section {
            question: "What did each run do?".to_owned(),
            table: Table { caption: "Totals of each run".to_owned(), columns, rows },
            ..Section::default()
        }],
        ..Page::default()
    })
}
