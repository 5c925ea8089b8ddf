//! Published figures beside ours.

use hotset_analysis::lab::PublishedFigure;

use crate::escape::escape_text;
use crate::lab::{Named, words};
use crate::page::{Column, Section, Table};

/// More cells that measure the same are given by their ends.
const LISTED: usize = 3;

/// What the article that asked the question measured, elsewhere.
pub(super) fn section(runs: &[Named<'_>]) -> Option<Section> {
    let all = runs.first()?.result.published;
    if all.is_empty() {
        return None;
    }
    let row = |figure: &PublishedFigure| {
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
    Some(Section {
        question: "What was published?".to_owned(),
        answer: "These figures come from other machines, kernels and years: they are a reference, not a target."
            .to_owned(),
        table: Table { caption, columns, rows: all.iter().map(row).collect() },
        notes: sources(all),
        ..Section::default()
    })
}

/// Each source once, with its machine.
fn sources(all: &[PublishedFigure]) -> Vec<String> {
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

/// Our medians of the same work.
fn here(figure: &PublishedFigure, run: &Named<'_>) -> String {
    let cells = run.summary().session.cells.iter().zip(&run.summary().cells);
    let like = cells.filter(|(cell, _)| figure.is_like(cell));
    let mut medians: Vec<f64> = like.filter_map(|(_, numbers)| numbers.median).collect();
    medians.sort_by(f64::total_cmp);
    match medians.as_slice() {
        [low, .., high] if medians.len() > LISTED => {
            let (low, high) = (words::time(*low), words::time(*high));
            format!("{low} to {high} in {} cells", medians.len())
        }
        [] => "not measured".to_owned(),
        _ => {
            let all: Vec<String> = medians.iter().map(|&median| words::time(median)).collect();
            all.join(", ")
        }
    }
}
