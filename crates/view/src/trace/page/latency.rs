//! How long requests took, by kind: a chart of their distribution.

use hotset_analysis::trace::{KindLatency, TraceSummary};

use crate::page::{Axis, Chart, ChartKind, Point, Section, Series, Table, Unit};
use crate::trace::words;
use crate::units::{count, duration, plural};

/// A line for each kind would hide the others: these have fewest requests and are in the table only.
const CHARTED: usize = 8;

pub(super) fn section(summary: &TraceSummary) -> Option<Section> {
    if summary.latencies.is_empty() {
        return None;
    }
    let mut charted: Vec<&KindLatency> = summary.latencies.iter().collect();
    charted.sort_by_key(|one| std::cmp::Reverse(one.numbers.total_ns));
    charted.truncate(CHARTED);
    Some(Section {
        question: "How long did requests take?".to_owned(),
        chart: Some(Chart {
            label: "Requests by how long they took, four steps for each doubling".to_owned(),
            kind: ChartKind::Lines,
            x: Axis { log: true, ..Axis::of("time of a request", Unit::Nanoseconds) },
            y: Axis { log: true, ..Axis::of("requests", Unit::Count) },
            series: charted.into_iter().map(series).collect(),
            ..Chart::default()
        }),
        notes: vec![
            "Percentiles are off by at most 3.2 %; shortest and longest are exact.".to_owned(),
        ],
        table: Table::of("Time of requests by kind", &summary.latencies)
            .words("Kind", |one| words::kind(one.kind).to_owned())
            .numbers("Requests", |one| count(one.numbers.requests))
            .numbers("Total", |one| duration(one.numbers.total_ns))
            .numbers("Shortest", |one| duration(one.numbers.min_ns))
            .numbers("p50", |one| duration(one.numbers.p50_ns))
            .numbers("p90", |one| duration(one.numbers.p90_ns))
            .numbers("p99", |one| duration(one.numbers.p99_ns))
            .numbers("Longest", |one| duration(one.numbers.max_ns))
            .table(),
        ..Section::default()
    })
}

fn series(one: &KindLatency) -> Series {
    let name = words::kind(one.kind);
    // Steps without a request are among them: lines must not lead over these.
    let points = one.histogram.quarters().into_iter().map(|(ns, requests)| Point {
        x: ns,
        y: requests as f64,
        text: format!("{name}: {} of about {}", plural(requests, "request"), duration(ns as u64)),
        ..Point::default()
    });
    Series { name: name.to_owned(), points: points.collect(), ..Series::default() }
}
