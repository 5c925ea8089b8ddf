//! A page from `hotset.bench/1`.

mod charts;
mod input;
mod tables;

pub(super) use input::BenchIn;

use super::host;
use crate::escape::escape_text;
use crate::page::{Answer, Column, Doubtful, Page, Section, Table};
use crate::units::whole_percent;
use input::{ComparisonIn, ResultIn, Whole, ratio, time};

/// The page of one session.
pub(super) fn page(name: &str, bench: &BenchIn) -> Page {
    let mut sections = vec![Section {
        question: "How long does it take?".to_owned(),
        chart: charts::runs(bench),
        table: tables::medians(bench),
        notes: vec![
            "A mark is a run; from left to right they are in order of time. The box holds the middle half of the \
             counted runs, the thick line is their median, the whiskers end at the fastest and the slowest."
                .to_owned(),
        ],
        ..Section::default()
    }];
    if !bench.comparisons.is_empty() {
        sections.push(Section {
            question: "How do they compare?".to_owned(),
            chart: charts::ratios(bench),
            table: tables::ratios(bench),
            ..Section::default()
        });
    }
    if !bench.cold_warm.is_empty() {
        sections.push(Section {
            question: "What does a cold start pay for?".to_owned(),
            table: tables::cold(bench),
            ..Section::default()
        });
    }
    if let Some(chart) = charts::states(bench) {
        sections.push(Section {
            question: "Which state did each run begin in?".to_owned(),
            chart: Some(chart),
            table: tables::runs(bench),
            ..Section::default()
        });
    }
    let mut labels: Vec<String> = Vec::new();
    for one in &bench.results {
        let label = escape_text(&one.name);
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    Page {
        title: format!("bench: {}", labels.join(" against ")),
        subtitle: format!(
            "{} · {} rounds in random order (seed {}) · stopped: {}",
            escape_text(name),
            bench.rounds,
            bench.seed,
            escape_text(&bench.stop.reason)
        ),
        lead: lead(bench),
        sections,
        conditions: host::conditions(&bench.hotset, &bench.started_at, &bench.environment),
        doubts: bench
            .warnings
            .iter()
            .map(|one| Doubtful { text: escape_text(&one.text), advice: escape_text(&one.advice) })
            .collect(),
        parts: Vec::new(),
    }
}

fn lead(bench: &BenchIn) -> Vec<Answer> {
    if bench.comparisons.is_empty() {
        return bench.results.iter().map(alone).collect();
    }
    bench.comparisons.iter().map(|one| compared(bench, one)).collect()
}

fn alone(result: &ResultIn) -> Answer {
    Answer {
        sentence: format!("{} takes this long.", escape_text(&result.command)),
        number: result.median(),
        sure: result.sure(),
        ..Answer::default()
    }
}

fn compared(bench: &BenchIn, comparison: &ComparisonIn) -> Answer {
    let side = |at: usize| {
        let result = bench.results.get(at);
        result.map_or_else(
            || ("?".to_owned(), "unknown".to_owned()),
            |it| (escape_text(&it.command), it.median()),
        )
    };
    let ((a, a_time), (b, b_time)) = (side(comparison.a), side(comparison.b));
    let of = |one: &&input::ColdWarmIn| (one.a, one.b) == (comparison.a, comparison.b);
    let device = bench.cold_warm.iter().find(of).and_then(|one| one.device_share);
    let device = device.map_or(String::new(), |share| {
        format!(" The device is {} of the difference.", whole_percent(share))
    });
    let verdict = escape_text(&comparison.verdict);
    Answer {
        sentence: format!("{b} takes {b_time}, {a} {a_time}.{device} Verdict: {verdict}."),
        number: comparison.ratio.map_or("unknown".to_owned(), ratio),
        sure: match (comparison.low, comparison.high) {
            (Some(low), Some(high)) => {
                format!(
                    "95 % interval {} to {}, from {} rounds",
                    ratio(low),
                    ratio(high),
                    comparison.rounds
                )
            }
            _ => format!("no 95 % interval, from {} rounds", comparison.rounds),
        },
        ..Answer::default()
    }
}

/// The conditions of several sessions beside each other, by their names.
pub(super) fn beside(all: &[(String, BenchIn)]) -> Option<Page> {
    if all.len() < 2 {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    for result in all.iter().flat_map(|(_, bench)| &bench.results) {
        if !names.contains(&result.command.as_str()) {
            names.push(&result.command);
        }
    }
    let mut columns = vec![Column::words("Condition")];
    columns.extend(all.iter().map(|(name, _)| Column::numbers(&escape_text(name))));
    let cell = |bench: &BenchIn, name: &str| {
        let found = bench.results.iter().find(|result| result.command == name);
        found.map_or_else(|| "not measured".to_owned(), ResultIn::with_interval)
    };
    let row = |name: &&str| {
        let mut row = vec![escape_text(name)];
        row.extend(all.iter().map(|(_, bench)| cell(bench, name)));
        row
    };
    Some(Page {
        title: "bench: side by side".to_owned(),
        subtitle: "Medians with their 95 % intervals. Nothing pairs the rounds of two sessions."
            .to_owned(),
        sections: vec![Section {
            question: "How long does it take in each?".to_owned(),
            chart: charts::beside(all, &names),
            table: Table {
                caption: "Median wall times and their 95 % intervals".to_owned(),
                columns,
                rows: names.iter().map(row).collect(),
            },
            ..Section::default()
        }],
        ..Page::default()
    })
}

/// Seconds of the JSON in nanoseconds, for axes.
fn ns(seconds: f64) -> f64 {
    seconds * 1e9
}

/// Where a result has figures of counted runs, those; else of all.
fn figures(result: &ResultIn) -> Option<(&Whole, &'static str)> {
    let counted = result.counted.as_ref().map(|it| (it, ""));
    counted.or(result.all.as_ref().map(|it| (it, " (of all runs)")))
}

fn range(low: f64, high: f64) -> String {
    format!("{} to {}", time(low), time(high))
}
