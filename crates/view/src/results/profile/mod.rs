//! The page of a run.

use hotset_analysis::{Finding, Summary};
use hotset_facts::{FileRow, Io, Observed, ReadIo};

use crate::escape::{escape_bytes, escape_path, escape_text};
use crate::page::{
    Answer, Axis, Chart, ChartKind, Column, Page, PageWarning, Point, Section, Series, Table, host,
    or_unknown,
};
use crate::report::findings::time_saved;
use crate::report::{caveats, header};
use crate::units::{bytes, count, duration};

/// Files that a chart and a table show.
const FILES: usize = 200;
/// Files that a chart has room for.
const CHARTED: usize = 12;

/// The page of one run, measured by this version of hotset.
pub fn profile_page(version: &str, summary: &Summary) -> Page {
    let profile = &summary.profile;
    let level = profile.sensor.level.as_str();
    let conditions = host::host(profile.started_at, &profile.environment);
    Page {
        title: format!("run: {}", header::title(summary, &escape_bytes)),
        subtitle: format!(
            "{} · sensor: {} ({level})",
            header::outcome(summary),
            escape_text(profile.sensor.name),
        ),
        headline: headline(summary),
        sections: vec![findings(summary), files(summary), time(summary)],
        conditions: host::with_version(conditions, version),
        doubts: doubts(summary),
        parts: Vec::new(),
    }
}

fn headline(summary: &Summary) -> Vec<Answer> {
    let read = &summary.profile.totals.read;
    let hits = Answer {
        question: "How much of what was read was cached?".to_owned(),
        sentence: format!(
            "Of {} pages that read calls asked for, {} were hits and {} misses.",
            known(read.map(|read| read.pages), count),
            known(read.map(|read| read.split().hits), count),
            known(read.map(|read| read.misses), count)
        ),
        number: format!("{} hits", known(read.map(|read| read.split().hits), count)),
        confidence: "counted, not sampled".to_owned(),
    };
    let finding = |one: &Finding| Answer {
        question: format!("Finding ({})", one.severity.as_str()),
        sentence: format!("{}.", escape_text(&one.title)),
        number: saving(one),
        confidence: escape_text(&one.advice),
    };
    std::iter::once(hits).chain(summary.findings.iter().take(3).map(finding)).collect()
}

/// `1.2 s to 2.0 s`, or nothing to save.
fn saving(finding: &Finding) -> String {
    time_saved(&finding.saving).unwrap_or_else(|| "no saving claimed".to_owned())
}

fn known(value: Observed<u64>, text: impl Fn(u64) -> String) -> String {
    or_unknown(value.value(), text)
}

fn findings(summary: &Summary) -> Section {
    let nothing =
        if summary.findings.is_empty() { "Nothing: no rule has anything to say." } else { "" };
    Section {
        question: "What is worth changing?".to_owned(),
        answer: nothing.to_owned(),
        table: Table::of("Findings, the largest saving first", &summary.findings)
            .words("Finding", |finding| escape_text(&finding.title))
            .words("Severity", |finding| finding.severity.as_str().to_owned())
            .words("Would save", |finding| saving(finding))
            .words("What to do", |finding| escape_text(&finding.advice))
            .words("Files", |finding| names(&finding.files))
            .table(),
        ..Section::default()
    }
}

fn name_of(file: &FileRow) -> String {
    let path = file.path.as_value();
    path.map_or_else(|| "(no name)".to_owned(), |path| escape_path(path))
}

fn names(paths: &[std::path::PathBuf]) -> String {
    paths.iter().map(|path| escape_path(path)).collect::<Vec<_>>().join(", ")
}

fn files(summary: &Summary) -> Section {
    type File<'a> = (&'a FileRow, Io);
    let read = |text: fn(u64) -> String, of: fn(ReadIo) -> u64| {
        move |(_, io): &File<'_>| known(io.read.map(of), text)
    };
    let counted = |text: fn(u64) -> String, of: fn(&Io) -> Observed<u64>| {
        move |(_, io): &File<'_>| known(of(io), text)
    };
    let all = summary.profile.files.len();
    let cut = (all > FILES).then(|| format!("The first {FILES} of {all} files; the JSON has all."));
    Section {
        question: "Which files were read, and from where?".to_owned(),
        chart: chart(summary),
        table: Table::of(
            "Files, in the order of the profile",
            summary.profile.files.iter().take(FILES).map(|file| (file, file.io())),
        )
        .words("File", |(file, _)| name_of(file))
        .numbers("Hits", read(count, |read| read.split().hits))
        .numbers("Misses", read(count, |read| read.misses))
        .numbers("Read", read(bytes, |read| read.bytes))
        .numbers("From device", counted(bytes, |io| io.device.read_bytes))
        .numbers("To device", counted(bytes, |io| io.device.write_bytes))
        .numbers("Major faults", counted(count, |io| io.mmap.major_faults))
        .numbers("Time of reads", read(duration, |read| read.time_ns))
        .table(),
        notes: cut.into_iter().collect(),
        ..Section::default()
    }
}

/// Hits and misses of the files that cost most; the profile has them in that order.
fn chart(summary: &Summary) -> Option<Chart> {
    let read = |file: &FileRow| file.io().read.value().filter(|read| read.pages > 0);
    let files = summary.profile.files.iter();
    let all: Vec<(String, ReadIo)> =
        files.filter_map(|file| Some((name_of(file), read(file)?))).take(CHARTED).collect();
    let series = |name: &str, of: &dyn Fn(&ReadIo) -> u64| {
        let point = |(at, (file, read)): (usize, &(String, ReadIo))| {
            let value = of(read);
            let text = format!("{file}: {} {name}", count(value));
            Point { x: at as f64, y: value as f64, text, ..Point::default() }
        };
        Series {
            name: name.to_owned(),
            points: all.iter().enumerate().map(point).collect(),
            boxes: Vec::new(),
        }
    };
    let last = |(path, _): &(String, ReadIo)| path.rsplit('/').next().unwrap_or(path).to_owned();
    (!all.is_empty()).then(|| Chart {
        label: format!("Pages of read calls, by file: the {} that cost most", all.len()),
        kind: ChartKind::Bars,
        x: Axis { names: all.iter().map(last).collect(), ..Axis::default() },
        y: Axis { title: "pages".to_owned(), ..Axis::default() },
        series: vec![
            series("hits", &|read| read.split().hits),
            series("misses", &|read| read.misses),
        ],
        ..Chart::default()
    })
}

fn time(summary: &Summary) -> Section {
    let time = summary.profile.totals.time;
    let fault_ns = match time {
        Observed::Value(time) => time.fault_ns,
        Observed::Missing(reason) => Observed::Missing(reason),
    };
    let rows = [
        ("hits", time.map(|time| time.hit_ns)),
        ("waiting for reads of others", time.map(|time| time.wait_ns)),
        ("misses", time.map(|time| time.miss_ns)),
        ("faults", fault_ns),
        ("direct I/O", time.map(|time| time.direct_ns)),
        ("writes", time.map(|time| time.write_ns)),
        ("syncs", time.map(|time| time.sync_ns)),
        ("lookups", time.map(|time| time.lookup_ns)),
    ];
    Section {
        question: "Where did the time of I/O go?".to_owned(),
        table: Table::of("Time in system calls and faults, summed over processes", rows)
            .words("In", |(name, _)| (*name).to_owned())
            .numbers("Time", |(_, ns)| known(*ns, duration))
            .table(),
        ..Section::default()
    }
}

fn doubts(summary: &Summary) -> Vec<PageWarning> {
    let lost = caveats::losses(&summary.losses).into_iter();
    let lost = lost.map(|text| PageWarning { text, advice: String::new() });
    let missing = caveats::missing(summary).into_iter().map(|(reason, what)| PageWarning {
        text: format!("not measured: {}", escape_text(&what.join(", "))),
        advice: escape_text(&reason),
    });
    lost.chain(missing).collect()
}

/// The totals of several runs beside each other.
pub(super) fn beside(all: &[(String, String, Summary)]) -> Option<Page> {
    if all.len() < 2 {
        return None;
    }
    let mut columns = vec![Column::words("Total")];
    columns.extend(all.iter().map(|(name, ..)| Column::numbers(&escape_text(name))));
    let totals = |it: &Summary| it.profile.totals;
    let row = |name: &str, of: &dyn Fn(&Summary) -> String| {
        let cells = all.iter().map(|(.., summary)| of(summary));
        std::iter::once(name.to_owned()).chain(cells).collect()
    };
    let rows = vec![
        row("wall time", &|it| duration(it.profile.command.wall_ns)),
        row("hits", &|it| known(totals(it).read.map(|read| read.split().hits), count)),
        row("misses", &|it| known(totals(it).read.map(|read| read.misses), count)),
        row("read", &|it| known(totals(it).read.map(|read| read.bytes), bytes)),
        row("from device", &|it| known(totals(it).device.read_bytes, bytes)),
        row("to device", &|it| known(totals(it).device.write_bytes, bytes)),
        row("major faults", &|it| known(totals(it).mmap.major_faults, count)),
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
