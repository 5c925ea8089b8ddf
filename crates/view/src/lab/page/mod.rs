//! Experiments as a page: answers, charts, tables, the published figures, conditions and doubts.

mod against;
mod host;
mod published;
mod runs;

use std::io::{self, Write};

use super::{Named, charts, panel, words};
use crate::escape::escape_text;
use crate::page::{Answer, Column, Page, PageWarning, Section, Table, write_page};

/// Writes a self-contained HTML page about experiments. Runs of the same experiment stand beside each other.
///
/// # Errors
/// Only those of `out`.
pub fn write_lab_html(runs: &[Named<'_>], out: &mut dyn Write) -> io::Result<()> {
    let mut parts = lab_pages(runs);
    match parts.len() {
        1 => write_page(&parts.remove(0), out),
        _ => write_page(&Page::of_parts("hotset lab", parts), out),
    }
}

/// A page for each experiment with all its runs, in the order in which they come.
pub fn lab_pages(runs: &[Named<'_>]) -> Vec<Page> {
    let mut groups: Vec<Vec<Named<'_>>> = Vec::new();
    for run in runs {
        let name = &run.summary().session.experiment;
        match groups.iter_mut().find(|group| group[0].summary().session.experiment == *name) {
            Some(group) => group.push(*run),
            None => groups.push(vec![*run]),
        }
    }
    groups.iter().filter_map(|group| page(group)).collect()
}

fn page(runs: &[Named<'_>]) -> Option<Page> {
    let first = runs.first()?;
    let names: Vec<&str> = runs.iter().map(|run| run.name).collect();
    let mut sections: Vec<Section> = runs.iter().filter_map(against::section).collect();
    let panels = panel::panels(runs);
    sections.extend(panels.iter().map(|panel| charts::section(panel, &names)));
    sections.extend(runs::section(runs));
    sections.extend(published::section(runs));
    sections.extend(pairs(
        "What else was measured?",
        "Other measurements",
        ["Measurement", "Value"],
        runs,
        |run| {
            let facts = run.summary().session.facts.iter();
            facts.map(|fact| (fact.name(), fact.value.to_string())).collect()
        },
    ));
    sections.extend(pairs(
        "What was not measured, and why?",
        "Not measured",
        ["What", "Reason"],
        runs,
        |run| {
            let skipped = run.summary().session.skipped.iter();
            skipped.map(|skipped| (skipped.what.clone(), skipped.why.clone())).collect()
        },
    ));
    let several = runs.len() > 1;
    let named = |run: &Named<'_>, text: &str| {
        let name = escape_text(run.name);
        if several { format!("{name}: {text}") } else { text.to_owned() }
    };
    let subtitles = runs.iter().map(|run| named(run, &words::run(&run.summary().session)));
    Some(Page {
        title: words::title(first.result),
        name: escape_text(&first.summary().session.experiment),
        subtitle: subtitles.collect::<Vec<_>>().join("; "),
        headline: runs.iter().flat_map(|run| headline(run, several)).collect(),
        sections,
        conditions: runs.iter().flat_map(|run| host::conditions(run, several)).collect(),
        doubts: runs
            .iter()
            .flat_map(|run| run.summary().doubts.iter().map(move |doubt| (run, doubt)))
            .map(|(run, doubt)| PageWarning {
                text: named(run, &escape_text(&doubt.text)),
                advice: escape_text(&doubt.advice),
            })
            .collect(),
        parts: Vec::new(),
    })
}

fn headline(run: &Named<'_>, several: bool) -> Vec<Answer> {
    let name = if several { format!("{}: ", escape_text(run.name)) } else { String::new() };
    let answer = |one: &hotset_analysis::lab::LabAnswer| Answer {
        question: format!("{name}{}", escape_text(&one.question)),
        sentence: escape_text(&one.answer),
        number: escape_text(&one.number),
        confidence: escape_text(&one.confidence),
    };
    against::answer(run).into_iter().chain(run.summary().answers.iter().map(answer)).collect()
}

/// A table of names and what belongs to each.
fn pairs(
    question: &str,
    caption: &str,
    [name, value]: [&str; 2],
    runs: &[Named<'_>],
    of: impl Fn(&Named<'_>) -> Vec<(String, String)>,
) -> Option<Section> {
    let several = runs.len() > 1;
    let mut columns = vec![Column::words(name), Column::words(value)];
    if several {
        columns.push(Column::words("Run"));
    }
    let rows: Vec<Vec<String>> = runs
        .iter()
        .flat_map(|run| of(run).into_iter().map(move |pair| (run, pair)))
        .map(|(run, (name, value))| {
            let mut row = vec![escape_text(&name), escape_text(&value)];
            row.extend(several.then(|| escape_text(run.name)));
            row
        })
        .collect();
    (!rows.is_empty()).then(|| Section {
        question: question.to_owned(),
        table: Table { caption: caption.to_owned(), columns, rows },
        ..Section::default()
    })
}
