//! Published figures beside ours.

use hotset_analysis::lab::words::real;
use hotset_analysis::lab::{CellNumbers, PublishedFigure};

use crate::escape::escape_text;
use crate::lab::{Named, words};
use crate::page::{Column, Section, Table};

/// More cells that measure the same are given by their ends.
const LISTED: usize = 3;

/// What the article that asked the question measured, elsewhere: what was measured here too, and what has no cell in any session.
pub(super) fn section(runs: &[Named<'_>]) -> Option<Section> {
    let all = runs.first()?.result.published;
    let is_measured = |figure: &PublishedFigure| {
        runs.iter().any(|run| !figure.like(&run.summary().session.cells).is_empty())
    };
    let shown: Vec<&PublishedFigure> =
        all.iter().filter(|figure| figure.here.is_empty() || is_measured(figure)).collect();
    if shown.is_empty() {
        return None;
    }
    let row = |figure: &&PublishedFigure| {
        let mut row = vec![figure.what.to_owned(), published(figure)];
        row.extend(runs.iter().map(|run| here(figure, run)));
        row
    };
    let mut columns = vec![Column::words("Measured"), Column::numbers("Published")];
    columns.extend(runs.iter().map(|run| match runs.len() {
        1 => Column::numbers("Here"),
        _ => Column::numbers(&escape_text(run.name)),
    }));
    let caption = "Published figures, and those measured here for the same work".to_owned();
    let mut notes = sources(&shown);
    match all.len() - shown.len() {
        0 => {}
        1 => {
            notes.push("1 more published figure is of work that was not measured here.".to_owned())
        }
        more => notes
            .push(format!("{more} more published figures are of work that was not measured here.")),
    }
    Some(Section {
        question: "What was published?".to_owned(),
        answer: "These figures come from other machines, kernels and years: they are a reference, not a target."
            .to_owned(),
        table: Table { caption, columns, rows: shown.iter().map(row).collect() },
        notes,
        ..Section::default()
    })
}

/// Each source once, with its machine.
fn sources(all: &[&PublishedFigure]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for figure in all {
        let note = format!("Published in {}. Machine: {}.", figure.source, figure.machine);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

fn published(figure: &PublishedFigure) -> String {
    match figure.unit {
        "ns" => words::time(figure.value),
        unit => format!("{} {unit}", figure.value).trim_end().to_owned(),
    }
}

/// Our medians of the same work, as speeds where a speed was published.
fn here(figure: &PublishedFigure, run: &Named<'_>) -> String {
    let summary = run.summary();
    let per_unit = match figure.unit {
        "MB/s" => Some(1e6),
        "GB/s" => Some(1e9),
        _ => None,
    };
    let value = |numbers: &CellNumbers| match per_unit {
        Some(per_unit) => Some(numbers.bytes_per_second? / per_unit),
        None => numbers.median,
    };
    let text = |value: f64| match per_unit {
        Some(_) => format!("{} {}", real(value), figure.unit),
        None => words::time(value),
    };
    let like = figure.like(&summary.session.cells);
    let mut medians: Vec<f64> =
        like.iter().filter_map(|&place| value(summary.cells.get(place)?)).collect();
    medians.sort_by(f64::total_cmp);
    match medians.as_slice() {
        [low, .., high] if medians.len() > LISTED => {
            format!("{} to {} in {} cells", text(*low), text(*high), medians.len())
        }
        [] => "not measured".to_owned(),
        _ => medians.iter().map(|&median| text(median)).collect::<Vec<_>>().join(", "),
    }
}
