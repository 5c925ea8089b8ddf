//! Several sessions on one page.

use hotset_analysis::bench::{BenchSummary, ConditionNumbers};

use super::super::words::time;
use crate::escape::escape_text;
use crate::page::{Axis, Chart, ChartKind, Column, Page, Point, Section, Series, Table, Unit};

/// The conditions of several sessions beside each other, by their names.
pub fn bench_beside(all: &[(&str, &BenchSummary)]) -> Page {
    let mut labels: Vec<&str> = Vec::new();
    for numbers in all.iter().flat_map(|(_, summary)| &summary.conditions) {
        if !labels.contains(&numbers.label.as_str()) {
            labels.push(&numbers.label);
        }
    }
    let mut columns = vec![Column::words("Condition")];
    columns.extend(all.iter().map(|(name, _)| Column::numbers(&escape_text(name))));
    let row = |label: &&str| {
        let cell = |(_, summary): &(&str, &BenchSummary)| {
            found(summary, label).map_or_else(|| "not measured".to_owned(), median)
        };
        std::iter::once(escape_text(label)).chain(all.iter().map(cell)).collect()
    };
    Page {
        title: "Benchmarks side by side".to_owned(),
        subtitle: "Medians with their 95 % CIs. Nothing pairs the rounds of two sessions."
            .to_owned(),
        sections: vec![Section {
            question: "How long does it take in each?".to_owned(),
            chart: chart(all, &labels),
            table: Table {
                caption: "Median wall times and their 95 % CIs".to_owned(),
                columns,
                rows: labels.iter().map(row).collect(),
            },
            ..Section::default()
        }],
        ..Page::default()
    }
}

fn found<'a>(summary: &'a BenchSummary, label: &str) -> Option<&'a ConditionNumbers> {
    summary.conditions.iter().find(|numbers| numbers.label == label)
}

/// `97.1 ms [96.6 ms, 97.4 ms]`.
fn median(numbers: &ConditionNumbers) -> String {
    let Some(times) = numbers.valid else { return "no valid run".to_owned() };
    let interval = times.wall_interval.map_or(String::new(), |interval| {
        format!(" [{}, {}]", time(interval.low), time(interval.high))
    });
    format!("{}{interval}", time(times.wall_ns.median))
}

fn chart(all: &[(&str, &BenchSummary)], labels: &[&str]) -> Option<Chart> {
    let series = |(name, summary): &(&str, &BenchSummary)| {
        let point = |(at, label): (usize, &&str)| {
            let numbers = found(summary, label)?;
            let times = numbers.valid?;
            Some(Point {
                x: at as f64,
                y: times.wall_ns.median,
                interval: times.wall_interval.map(|interval| (interval.low, interval.high)),
                text: format!("{}, {}: {}", escape_text(name), escape_text(label), median(numbers)),
                excluded: false,
            })
        };
        let points = labels.iter().enumerate().filter_map(point).collect();
        Series { name: escape_text(name), points, ..Series::default() }
    };
    let series: Vec<Series> = all.iter().map(series).collect();
    let names = labels.iter().map(|label| escape_text(label)).collect();
    series.iter().any(|series| !series.points.is_empty()).then(|| Chart {
        label: "Median wall time by condition, with 95 % CIs".to_owned(),
        kind: ChartKind::Bars,
        x: Axis { names, ..Axis::default() },
        y: Axis::of("wall time", Unit::Nanoseconds),
        series,
        ..Chart::default()
    })
}
