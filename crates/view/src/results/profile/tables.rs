//! The numbers of a run by kind of I/O, by file, by process and by directory: tables, and the pictures of them.

use hotset_analysis::{FileNumbers, IoNumbers, Summary};
use hotset_facts::{FileRow, Observed, ProcessRow, ReadIo};

use crate::escape::{escape_bytes, escape_path, escape_text};
use crate::page::{Axis, Chart, ChartKind, Point, Section, Series, Table, Unit};
use crate::report::{cache, files as file_words, processes as process_words, time as time_words};
use crate::units::{bytes, count, duration, percent, whole_percent};

/// Rows that a table shows.
const ROWS: usize = 200;
/// Files that a chart has room for.
const CHARTED: usize = 12;

/// A counter, or a word for its absence.
pub(super) fn known(value: Observed<u64>, text: impl Fn(u64) -> String) -> String {
    value.value().map_or_else(|| "not measured".to_owned(), text)
}

/// Which rows a table leaves out, if any.
fn cut(shown: usize, all: usize, what: &str) -> Option<String> {
    (all > shown)
        .then(|| format!("The first {shown} of {} {what}; the JSON has all.", count(all as u64)))
}

/// Where the time went, by kind.
pub(super) fn time(summary: &Summary) -> Option<Section> {
    let slices = match &summary.time.slices {
        Observed::Value(slices) if !slices.is_empty() => slices,
        _ => return None,
    };
    let labels: Vec<String> =
        slices.iter().map(|one| time_words::label(summary, one.kind).to_owned()).collect();
    let points = slices.iter().zip(&labels).enumerate().map(|(at, (one, label))| Point {
        x: at as f64,
        y: one.ns as f64,
        text: format!("{label}: {}", duration(one.ns)),
        ..Point::default()
    });
    let series = Series { name: "time".to_owned(), points: points.collect(), ..Series::default() };
    Some(Section {
        question: "Where did the time go?".to_owned(),
        chart: Some(Chart {
            label: format!("Time by kind ({})", time_words::base(summary)),
            kind: ChartKind::Bars,
            x: Axis { names: labels, ..Axis::default() },
            y: Axis::of("time", Unit::Nanoseconds),
            series: vec![series],
            ..Chart::default()
        }),
        table: Table::of(format!("Time by kind ({})", time_words::base(summary)), slices)
            .words("Kind", |one| time_words::label(summary, one.kind).to_owned())
            .numbers("Time", |one| duration(one.ns))
            .numbers("Of wall time", |one| one.of_wall.map_or_else(String::new, percent))
            .table(),
        ..Section::default()
    })
}

/// Where requested pages came from, and the I/O beside it.
pub(super) fn cache(summary: &Summary) -> Option<Section> {
    let read = summary.profile.totals.read.value().filter(|read| read.calls > 0);
    let rows = read.map_or_else(Vec::new, |read| cache::read_rows(summary, &read));
    let others = cache::others(summary);
    if rows.is_empty() && others.is_empty() {
        return None;
    }
    let others = others.into_iter().map(|(name, words)| format!("{name}: {words}"));
    let notes = read.map_or_else(Vec::new, |read| cache::read_notes(summary, &read));
    Some(Section {
        question: "What came from the cache, and what from the device?".to_owned(),
        table: Table::of("Pages of buffered reads", rows)
            .words("Pages", |([name, ..], _)| name.clone())
            .numbers("Number", |([_, pages, ..], _)| pages.clone())
            .numbers("Size", |([_, _, bytes, _], _)| bytes.clone())
            .numbers("Share", |([.., share], _)| share.clone())
            .words("Note", |(_, note)| note.clone())
            .table(),
        notes: notes.into_iter().chain(others).collect(),
        ..Section::default()
    })
}

fn file_name(file: &FileRow) -> String {
    let (name, mark) = file_words::named(file, &|path| escape_path(path));
    format!("{name}{mark}")
}

/// The files, costliest first.
pub(super) fn files(summary: &Summary) -> Section {
    type File<'a> = (&'a FileRow, FileNumbers);
    let device_share = |(_, numbers): &File<'_>| {
        let share = numbers.io.read.value().and_then(|read| read.device_share);
        share.map_or_else(|| "-".to_owned(), whole_percent)
    };
    let all = summary.profile.files.len();
    let shown = summary.top_files(ROWS);
    let rows = shown.iter().map(|file| (*file, summary.file_numbers(file)));
    Section {
        question: "Which files cost most?".to_owned(),
        chart: chart(&shown),
        table: Table::of("Files, most I/O time first", rows)
            .words("File", |(file, _)| file_name(file))
            .numbers("I/O time", |(_, numbers)| known(numbers.io.io_time_ns, duration))
            .numbers("Read", |(_, numbers)| known(numbers.io.read_bytes, bytes))
            .numbers("From device", |(_, numbers)| known(numbers.io.brought_in_bytes, bytes))
            .numbers("Share", device_share)
            .numbers("Written", |(_, numbers)| known(numbers.io.written_bytes, bytes))
            .numbers("Major faults", |(file, _)| known(file.io().mmap.major_faults, count))
            .numbers("Cached", |(_, numbers)| file_words::cached(numbers))
            .table(),
        notes: cut(shown.len(), all, "files").into_iter().collect(),
        ..Section::default()
    }
}

/// Where the requested pages of the costliest files came from.
fn chart(files: &[&FileRow]) -> Option<Chart> {
    let read = |file: &&FileRow| file.io().read.value().filter(|read| read.pages > 0);
    let all: Vec<(String, ReadIo)> = files
        .iter()
        .filter_map(|file| Some((file_name(file), read(file)?)))
        .take(CHARTED)
        .collect();
    let series = |name: &str, of: &dyn Fn(&ReadIo) -> u64| {
        let point = |(at, (file, read)): (usize, &(String, ReadIo))| {
            let value = of(read);
            let text = format!("{file}: {} {name}", count(value));
            Point { x: at as f64, y: value as f64, text, ..Point::default() }
        };
        let points = all.iter().enumerate().map(point).collect();
        Series { name: name.to_owned(), points, ..Series::default() }
    };
    let last = |(path, _): &(String, ReadIo)| path.rsplit('/').next().unwrap_or(path).to_owned();
    (!all.is_empty()).then(|| Chart {
        label: format!("Pages of buffered reads: the {} files that cost most", all.len()),
        kind: ChartKind::Bars,
        x: Axis { names: all.iter().map(last).collect(), ..Axis::default() },
        y: Axis { title: "pages".to_owned(), ..Axis::default() },
        series: vec![
            series("from cache", &|read| read.split().from_cache),
            series("from device", &|read| read.split().from_device),
        ],
        ..Chart::default()
    })
}

/// The processes, where there are several.
pub(super) fn processes(summary: &Summary) -> Option<Section> {
    type Process<'a> = (&'a ProcessRow, IoNumbers);
    let all = summary.profile.processes.len();
    let shown = summary.top_processes(ROWS);
    let rows = shown.iter().map(|process| (*process, summary.io_numbers(&process.io)));
    (all > 1).then(|| Section {
        question: "Which processes cost most?".to_owned(),
        table: Table::of(format!("{}, most I/O time first", process_words::title(summary)), rows)
            .words("Command", |(process, _): &Process<'_>| {
                process_words::words(process, &|name| escape_bytes(name))
            })
            .numbers("PID", |(process, _)| process.pid.to_string())
            .numbers("I/O time", |(_, numbers)| known(numbers.io_time_ns, duration))
            .numbers("Read", |(_, numbers)| known(numbers.read_bytes, bytes))
            .numbers("From device", |(_, numbers)| known(numbers.brought_in_bytes, bytes))
            .numbers("Written", |(_, numbers)| known(numbers.written_bytes, bytes))
            .numbers("Major faults", |(process, _)| known(process.major_faults, count))
            .numbers("Exit", |(process, _)| process_words::exit(process.exit))
            .table(),
        notes: cut(shown.len(), all, "processes").into_iter().collect(),
        ..Section::default()
    })
}

/// The directories in which lookups failed.
pub(super) fn lookups(summary: &Summary) -> Option<Section> {
    let all = summary.by_directory.len();
    let at_least = match summary.losses.failed_paths_at_least {
        true => "Failed lookups by directory, at least: some paths were lost",
        false => "Failed lookups by directory",
    };
    (all > 0).then(|| Section {
        question: "Where did path lookups fail?".to_owned(),
        table: Table::of(at_least, summary.by_directory.iter().take(ROWS))
            .words("Directory", |row| escape_path(&row.directory))
            .numbers("Failed", |row| count(row.failed))
            .numbers("Lookups", |row| known(row.calls, count))
            .table(),
        notes: cut(all.min(ROWS), all, "directories")
            .into_iter()
            .map(|note| escape_text(&note))
            .collect(),
        ..Section::default()
    })
}
