//! An experiment for a terminal: answers, then a table for each question, then what to doubt.

use hotset_analysis::lab::LabSummary;
use hotset_facts::{LabCell, Level};

use super::panel::{Panel, PanelCell, panels};
use super::spec::{Shape, Shown};
use super::{LabResult, Named, baseline, words};
use crate::escape::{columns, escape_text, shorten_middle};
use crate::report::Options;
use crate::report::screen::Screen;
use crate::table::{Align, INDENT, Table};

/// What a number that some samples of its cell don't count for ends in.
const SOME: &str = "!";
/// Columns of a row for each cell that go first where the terminal is narrow: those of the state, which a sample that is not
/// excluded had, before those that are compared.
const DISPENSABLE: [&str; 5] = ["samples", "device", "before", "calls", "95 % CI"];

/// The tables of an experiment, ready for a terminal.
pub fn render_lab(result: &LabResult, options: &Options) -> String {
    let mut screen = Screen::new(options);
    let summary = &result.summary;
    screen.paragraph("", " ", &words::title(result), 0);
    screen.paragraph("", " · ", &words::run(&summary.session), INDENT);
    if summary.session.cells.iter().all(|cell| cell.samples.is_empty()) {
        screen.paragraph("", " ", "No sample was taken.", INDENT);
        end(&mut screen, summary);
        return screen.finish();
    }
    baseline::push(&mut screen, summary);
    answers(&mut screen, summary);
    for panel in panels(&[Named { name: "", result }]) {
        table(&mut screen, &panel);
    }
    end(&mut screen, summary);
    screen.finish()
}

fn answers(screen: &mut Screen, summary: &LabSummary) {
    for answer in &summary.answers {
        screen.heading(&escape_text(&answer.question), "");
        screen.paragraph("", " ", &escape_text(&answer.answer), INDENT);
        screen.below_table(&escape_text(&answer.confidence));
    }
}

fn table(screen: &mut Screen, panel: &Panel<'_>) {
    let common = panel.common();
    screen.heading(&panel.question(), "");
    let fixed = panel.common_words();
    if !fixed.is_empty() {
        screen.below_table(&fixed);
    }
    match panel.spec.table {
        Shape::Across(factor) if !common.contains(&factor) => {
            across(screen, panel, factor, &common)
        }
        _ => rows(screen, panel, &common),
    }
    if panel.cells.iter().any(|cell| cell.numbers.invalid > 0) {
        screen.below_table("! some samples excluded, - all excluded; see Warnings");
    }
    for note in panel.spec.notes {
        screen.below_table(note);
    }
}

/// The number of a cell with its mark.
fn number(panel: &Panel<'_>, placed: &PanelCell<'_>) -> String {
    let mark = if placed.numbers.invalid > 0 { SOME } else { "" };
    match words::shown(panel.spec.shown, placed.numbers) {
        Some((value, _)) => format!("{}{mark}", words::shown_text(panel.spec.shown, value)),
        None => "-".to_owned(),
    }
}

fn rows(screen: &mut Screen, panel: &Panel<'_>, common: &[&str]) {
    let names: Vec<String> =
        panel.cells.iter().map(|placed| words::levels(&placed.cell.factors, common)).collect();
    let table = |dropped: usize| {
        let dispensable = DISPENSABLE.get(..dropped).unwrap_or(&DISPENSABLE);
        row_table(panel, &[dispensable, pointless(panel)].concat())
    };
    let widest = names.iter().map(|name| columns(name)).max().unwrap_or(0);
    let fits = |dropped: &usize| table(*dropped).width() + widest <= screen.width;
    let dropped = (0..DISPENSABLE.len()).find(fits).unwrap_or(DISPENSABLE.len());
    let table = table(dropped);
    let room = table.room_for_names(screen.width);
    let names: Vec<String> = names.iter().map(|name| shorten_middle(name, room)).collect();
    screen.table("", &table, &names);
    let left_out: Vec<&str> = DISPENSABLE
        .iter()
        .take(dropped)
        .filter(|title| !pointless(panel).contains(title))
        .copied()
        .collect();
    if !left_out.is_empty() {
        let columns = left_out.join(", ");
        screen.below_table(&format!(
            "Left out at this width: {columns}; --json and --html have them."
        ));
    }
}

/// Columns that would say again what the first one says, or nothing; or the interval of a time where it is no time.
fn pointless(panel: &Panel<'_>) -> &'static [&'static str] {
    let has_calls = panel.cells.iter().any(|cell| cell.numbers.syscalls.is_some());
    match panel.spec.shown {
        Shown::Time if has_calls => &[],
        Shown::Time => &["calls"],
        Shown::DeviceBytes => &["95 % CI", "device"],
        Shown::Calls => &["95 % CI", "calls"],
    }
}

fn row_table(panel: &Panel<'_>, without: &[&str]) -> Table {
    let shown = words::shown_title(panel.spec.shown);
    let titles = [shown, "95 % CI", "before", "device", "calls", "samples"];
    let kept = |title: &&str| !without.contains(title);
    let mut table = Table::new(
        titles.into_iter().filter(|title| kept(title)).map(|title| (title, Align::Right)).collect(),
    );
    for one in &panel.cells {
        let numbers = one.numbers;
        let dash = |text: String| match text.as_str() {
            "unknown" | "not set" => "-".to_owned(),
            _ => text,
        };
        let cells = [
            number(panel, one),
            words::interval(numbers),
            dash(words::cached(one.cell, numbers)),
            dash(words::or_unknown(numbers.device_read_bytes, words::bytes)),
            dash(words::or_unknown(numbers.syscalls, words::count)),
            words::counted(numbers),
        ];
        let row = titles.into_iter().zip(cells).filter(|(title, _)| kept(title));
        table.push(row.map(|(_, cell)| cell).collect());
    }
    table
}

/// A column for each level of a factor; below, what state those cells began in and what they read from the device.
fn across(screen: &mut Screen, panel: &Panel<'_>, factor: &'static str, common: &[&str]) {
    let mut levels: Vec<&Level> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut without = common.to_vec();
    without.push(factor);
    let row_name = |cell: &LabCell| words::levels(&cell.factors, &without);
    for one in &panel.cells {
        if let Some(level) = one.cell.level(factor).filter(|level| !levels.contains(level)) {
            levels.push(level);
        }
        let name = row_name(one.cell);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    levels.sort_by_key(|level| match level {
        Level::Number(number) => (0, *number),
        Level::Name(_) => (1, 0),
    });
    let all: Vec<Column> = levels
        .iter()
        .map(|level| {
            let own: Vec<&PanelCell<'_>> = panel
                .cells
                .iter()
                .filter(|placed| placed.cell.level(factor) == Some(*level))
                .collect();
            let cell = |name: &String| {
                let found = own.iter().find(|placed| row_name(placed.cell) == *name);
                found.map_or_else(String::new, |placed| number(panel, placed))
            };
            let mut cells: Vec<String> = names.iter().map(cell).collect();
            cells.push(ends(&own, |placed| placed.numbers.cached_before, crate::units::percent));
            cells.push(ends(
                &own,
                |placed| placed.numbers.device_read_bytes.map(|it| (it, it)),
                words::bytes,
            ));
            Column { title: words::level(factor, level), cells }
        })
        .collect();
    names.extend(["cached before".to_owned(), "from device".to_owned()]);
    let widest = names.iter().map(|name| columns(name)).max().unwrap_or(0).min(screen.width / 2);
    let names: Vec<String> = names.iter().map(|name| shorten_middle(name, widest)).collect();
    for group in groups(&all, screen.width.saturating_sub(widest + INDENT)) {
        let mut table =
            Table::new(group.iter().map(|column| (column.title.clone(), Align::Right)).collect());
        for row in 0..names.len() {
            let cell = |column: &Column| column.cells.get(row).cloned().unwrap_or_default();
            table.push(group.iter().map(cell).collect());
        }
        screen.table(&words::factor(factor), &table, &names);
    }
}

struct Column {
    title: String,
    cells: Vec<String>,
}

/// As many columns beside each other as fit.
fn groups(all: &[Column], room: usize) -> Vec<&[Column]> {
    let width = |column: &Column| {
        let cells = column.cells.iter().chain([&column.title]);
        2 + cells.map(|cell| columns(cell)).max().unwrap_or(0)
    };
    let mut groups = Vec::new();
    let (mut start, mut used) = (0, 0);
    for (at, column) in all.iter().enumerate() {
        if at > start && used + width(column) > room {
            groups.extend(all.get(start..at));
            (start, used) = (at, 0);
        }
        used += width(column);
    }
    groups.extend(all.get(start..).filter(|rest| !rest.is_empty()));
    groups
}

/// The smallest and the largest of some cells' numbers: `0 %`, `98.0 % to 100 %`.
fn ends(
    cells: &[&PanelCell<'_>],
    of: impl Fn(&PanelCell<'_>) -> Option<(f64, f64)>,
    text: impl Fn(f64) -> String,
) -> String {
    let known = cells.iter().filter_map(|cell| of(cell));
    let Some((low, high)) = known.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1))) else {
        return "-".to_owned();
    };
    let (low, high) = (text(low), text(high));
    if low == high { low } else { format!("{low} to {high}") }
}

fn end(screen: &mut Screen, summary: &LabSummary) {
    let session = &summary.session;
    if !session.facts.is_empty() {
        screen.heading("Other measurements", "");
        for fact in &session.facts {
            let name = format!("{}: ", escape_text(&fact.name()));
            screen.paragraph(&name, " ", &escape_text(&fact.value.to_string()), INDENT);
        }
    }
    if !summary.doubts.is_empty() {
        screen.heading("Warnings", "");
        for doubt in &summary.doubts {
            let advice =
                if doubt.advice.is_empty() { String::new() } else { format!(": {}", doubt.advice) };
            let text = escape_text(&format!("{}{advice}", doubt.text));
            screen.paragraph("- ", " ", &text, INDENT);
        }
    }
    if !session.skipped.is_empty() {
        screen.heading("Not measured", "");
        for one in &session.skipped {
            let text = escape_text(&format!("{}: {}", one.what, one.why));
            screen.paragraph("- ", " ", &text, INDENT);
        }
    }
}

/// The table of one panel that a test makes up.
#[cfg(test)]
pub(super) fn for_test(
    result: &LabResult,
    spec: super::spec::ChartSpec<'_>,
    options: &Options,
) -> String {
    let mut screen = Screen::new(options);
    for panel in super::panel::of_specs(&[Named { name: "", result }], &[spec]) {
        table(&mut screen, &panel);
    }
    screen.finish()
}
