//! A panel as a chart and the table under it.

use hotset_facts::{LabUnit, Level};

use super::panel::{Panel, PanelCell};
use super::spec::{Scale, Shown};
use super::words;
use crate::page::{Axis, Chart, ChartKind, Column, Point, Section, Series, Table, Unit};

/// Numbers that differ by more are drawn on a logarithmic axis.
const LOG_FROM: f64 = 12.0;

/// The section of a panel.
pub(super) fn section(panel: &Panel<'_>, runs: &[&str]) -> Section {
    let mut notes: Vec<String> = panel.spec.notes.iter().map(|&note| note.to_owned()).collect();
    let nothing = panel.cells.iter().filter(|cell| value(panel, cell).is_none()).count();
    let common = panel.common_words();
    if panel.cells.len() > 1 && !common.is_empty() {
        notes.push(format!("All cells: {common}."));
    }
    if nothing > 0 {
        notes.push(format!(
            "{nothing} of {} cells have no value to draw; the table gives the reason.",
            panel.cells.len()
        ));
    }
    let (table, same) = table(panel, runs);
    if !same.is_empty() {
        notes.push(format!("In all rows: {}.", same.join(", ")));
    }
    Section {
        question: panel.question(),
        chart: Some(chart(panel))
            .filter(|chart| chart.series.iter().any(|series| !series.points.is_empty())),
        table,
        notes,
        ..Section::default()
    }
}

fn value(panel: &Panel<'_>, placed: &PanelCell<'_>) -> Option<(f64, Option<(f64, f64)>)> {
    words::shown(panel.spec.shown, placed.numbers)
}

fn number(level: &Level) -> Option<f64> {
    match level {
        Level::Number(number) => Some(*number as f64),
        Level::Name(_) => None,
    }
}

/// Whether the horizontal axis has places for names and not a measure.
fn has_places(panel: &Panel<'_>) -> bool {
    let spec = &panel.spec;
    spec.x_scale == Scale::Places
        || matches!(spec.kind, ChartKind::Bars)
        || panel.levels.iter().any(|level| number(level).is_none())
}

fn is_log(scale: Scale, values: impl Iterator<Item = f64> + Clone) -> bool {
    let largest = values.clone().fold(0.0, f64::max);
    let smallest = values.fold(f64::INFINITY, f64::min);
    match scale {
        Scale::Log => true,
        Scale::Auto => smallest > 0.0 && smallest.is_finite() && largest / smallest > LOG_FROM,
        Scale::Linear | Scale::Places => false,
    }
}

fn chart(panel: &Panel<'_>) -> Chart {
    let places = has_places(panel);
    let spec = &panel.spec;
    let x_of = |one: &PanelCell<'_>| match panel.levels.get(one.x) {
        Some(Level::Number(number)) if !places => *number as f64,
        _ => one.x as f64,
    };
    let point = |one: &PanelCell<'_>| {
        let (y, interval) = value(panel, one)?;
        let text = words::whole_cell(one.cell, one.numbers, spec.operation);
        Some(Point { x: x_of(one), y, interval, text, excluded: false })
    };
    let series = |(at, name): (usize, &String)| Series {
        name: name.clone(),
        points: panel.cells.iter().filter(|cell| cell.series == at).filter_map(point).collect(),
        ..Series::default()
    };
    let values = panel.cells.iter().filter_map(|cell| Some(value(panel, cell)?.0));
    let names = panel.levels.iter().map(|level| words::level(spec.x, level));
    let bytes = spec.x.ends_with("_bytes");
    let log = is_log(spec.y_scale, values);
    Chart {
        label: spec.title.to_owned(),
        // The length of a bar says nothing on a logarithmic axis, which has no 0 to begin at.
        kind: if log && spec.kind == ChartKind::Bars { ChartKind::Points } else { spec.kind },
        x: Axis {
            title: words::factor(spec.x),
            unit: if bytes { Unit::Bytes } else { Unit::Count },
            log: !places && is_log(spec.x_scale, panel.levels.iter().filter_map(number)),
            names: if places { names.collect() } else { Vec::new() },
            ..Axis::default()
        },
        y: y_axis(panel, log),
        series: panel.series.iter().enumerate().map(series).collect(),
        ..Chart::default()
    }
}

fn y_axis(panel: &Panel<'_>, log: bool) -> Axis {
    let per = panel.cells.first().map_or(LabUnit::Nanoseconds, |first| first.cell.unit);
    let (title, unit) = match panel.spec.shown {
        Shown::Time => (words::per(per, panel.spec.operation), Unit::Nanoseconds),
        Shown::DeviceBytes => ("read from the device".to_owned(), Unit::Bytes),
        Shown::Calls => ("calls".to_owned(), Unit::Count),
    };
    Axis { title, unit, log, ..Axis::default() }
}

/// A row for each cell, with all that is known; and what is the same in all, which needs no column.
fn table(panel: &Panel<'_>, runs: &[&str]) -> (Table, Vec<String>) {
    let several = runs.len() > 1;
    let common = panel.common();
    let some_excluded = panel.cells.iter().any(|one| one.numbers.invalid > 0);
    // A cell alone would have no name left.
    let without: &[&str] = if panel.cells.len() > 1 { &common } else { &[] };
    let row = |one: &PanelCell<'_>| {
        let numbers = one.numbers;
        let mut row = vec![words::levels(&one.cell.factors, without)];
        if several {
            row.push(
                runs.get(one.run).map_or(String::new(), |name| crate::escape::escape_text(name)),
            );
        }
        row.extend([
            words::or_unknown(numbers.median, words::time),
            words::interval(numbers),
            words::counted(numbers),
            words::cached(one.cell, numbers),
            words::or_unknown(numbers.device_read_bytes, words::bytes),
            words::or_unknown(numbers.syscalls, words::count),
            words::or_unknown(numbers.minor_faults, words::count),
            words::or_unknown(numbers.major_faults, words::count),
            words::or_unknown(numbers.device_write_bytes, words::bytes),
            words::or_unknown(numbers.cpu_ns, words::time),
        ]);
        // Where every sample is valid it is the median again.
        row.extend(some_excluded.then(|| words::or_unknown(numbers.median_of_all, words::time)));
        row.extend([one.cell.filled_by.as_str().to_owned(), words::reasons(numbers)]);
        row
    };
    let mut columns = vec![Column::words("Cell")];
    if several {
        columns.push(Column::words("Run"));
    }
    let numbers = [
        "Median",
        "95 % CI",
        "Samples",
        "Cached before",
        "From device",
        "Calls",
        "Minor faults",
        "Major faults",
        "To device",
        "CPU",
    ];
    columns.extend(numbers.map(Column::numbers));
    columns.extend(some_excluded.then(|| Column::numbers("Median of all samples")));
    columns.extend([Column::words("Filled by"), Column::words("Warnings")]);
    let caption = format!("{}: all cells, medians over valid rounds", panel.spec.title);
    let rows = panel.cells.iter().map(row).collect();
    // The name, the run and the number with its interval stay.
    let compared = 3 + usize::from(several);
    without_same(Table { caption, columns, rows }, compared)
}

/// A title within a sentence: `cached before`, `CPU`.
fn in_sentence(mut title: String) -> String {
    let is_word = title.chars().nth(1).is_some_and(char::is_lowercase);
    if let Some(first) = title.get_mut(..1).filter(|_| is_word) {
        first.make_ascii_lowercase();
    }
    title
}

/// Takes out the columns from the place `from` on in which no row differs: a table that fits needs no scrolling. What they say comes
/// along, unless it is nothing.
fn without_same(mut table: Table, from: usize) -> (Table, Vec<String>) {
    let mut same = Vec::new();
    let Some(first) = table.rows.first().filter(|_| table.rows.len() > 1).cloned() else {
        return (table, same);
    };
    for place in (from..table.columns.len()).rev() {
        let Some(value) = first.get(place) else { continue };
        if table.rows.iter().all(|row| row.get(place) == Some(value)) {
            let title = in_sentence(table.columns.remove(place).title);
            table.rows.iter_mut().for_each(|row| drop(row.remove(place)));
            if !value.is_empty() {
                same.insert(0, format!("{title} {value}"));
            }
        }
    }
    (table, same)
}
