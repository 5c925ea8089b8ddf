//! Charts of a benchmark.

use super::input::{BenchIn, RunIn, ratio, time};
use super::ns;
use crate::escape::escape_text;
use crate::page::{Axis, Chart, ChartKind, Point, Series, Spread, Unit};
use crate::units::percent;

/// How far the points of a condition spread to both sides of its place.
const HALF_WIDTH: f64 = 0.32;
/// Times that differ by more are drawn on a logarithmic axis.
const LOG_FROM: f64 = 12.0;

fn wall_axis(times: impl Iterator<Item = f64> + Clone) -> Axis {
    let largest = times.clone().fold(0.0, f64::max);
    let smallest = times.filter(|&time| time > 0.0).fold(f64::INFINITY, f64::min);
    let log = smallest.is_finite() && largest / smallest > LOG_FROM;
    Axis { title: "wall time".to_owned(), unit: Unit::Nanoseconds, log, ..Axis::default() }
}

fn aside(bench: &BenchIn) -> String {
    let mut all = bench.results.iter().flat_map(|result| &result.valid);
    if all.any(|&valid| !valid) { "not counted".to_owned() } else { String::new() }
}

fn text(name: &str, run: &RunIn<'_>) -> String {
    let share = run.cached_before.map_or("unknown".to_owned(), percent);
    let why = escape_text(&run.reasons.join(", "));
    let verdict = match (run.counted, why.is_empty()) {
        (true, true) => "counted".to_owned(),
        (true, false) => format!("counted, but {why}"),
        (false, _) => format!("not counted: {why}"),
    };
    let round = run.round.saturating_add(1);
    format!("{name}, round {round}: {}, cached before: {share}; {verdict}", time(run.wall))
}

/// Every run, by condition.
pub(super) fn runs(bench: &BenchIn) -> Option<Chart> {
    let names: Vec<String> = bench.results.iter().map(|one| escape_text(&one.command)).collect();
    let series = bench.results.iter().zip(&names).enumerate().map(|(index, (result, name))| {
        let all = result.times.len();
        let place = |at: usize| {
            let share = if all > 1 { at as f64 / (all - 1) as f64 } else { 0.5 };
            index as f64 + HALF_WIDTH * (2.0 * share - 1.0)
        };
        let point = |(at, run): (usize, RunIn<'_>)| Point {
            x: place(at),
            y: ns(run.wall),
            interval: None,
            text: text(name, &run),
            aside: !run.counted,
        };
        let spread = result.counted.as_ref().map(|it| Spread {
            x: index as f64,
            low: ns(it.wall.min),
            lower: ns(it.wall.lower_quartile),
            median: ns(it.wall.median),
            upper: ns(it.wall.upper_quartile),
            high: ns(it.wall.max),
        });
        Series {
            name: name.clone(),
            points: result.runs().enumerate().map(point).collect(),
            boxes: spread.into_iter().collect(),
        }
    });
    let series: Vec<Series> = series.collect();
    let walls = bench.results.iter().flat_map(|result| result.times.iter().copied());
    series.iter().any(|one| !one.points.is_empty()).then(|| Chart {
        label: "Wall time of every run, by condition".to_owned(),
        kind: ChartKind::Distribution,
        x: Axis { names, ..Axis::default() },
        y: wall_axis(walls),
        series,
        reference: None,
        aside: aside(bench),
    })
}

/// Each comparison with its interval.
pub(super) fn ratios(bench: &BenchIn) -> Option<Chart> {
    let name =
        |at: usize| bench.results.get(at).map_or("?".to_owned(), |it| escape_text(&it.command));
    let names: Vec<String> =
        bench.comparisons.iter().map(|one| format!("{} / {}", name(one.b), name(one.a))).collect();
    let points: Vec<Point> = bench
        .comparisons
        .iter()
        .enumerate()
        .filter_map(|(at, one)| {
            let value = one.ratio?;
            let text = format!("{}: {}, {} rounds", names.get(at)?, ratio(value), one.rounds);
            Some(Point {
                x: at as f64,
                y: value,
                interval: one.low.zip(one.high),
                text,
                aside: false,
            })
        })
        .collect();
    (!points.is_empty()).then(|| Chart {
        label: "Ratios of wall times with their 95 % intervals; 1 is no difference".to_owned(),
        kind: ChartKind::Points,
        x: Axis { names, ..Axis::default() },
        y: Axis {
            title: "times as long".to_owned(),
            unit: Unit::Ratio,
            log: true,
            ..Axis::default()
        },
        series: vec![Series { name: "compared".to_owned(), points, boxes: Vec::new() }],
        reference: Some(1.0),
        aside: String::new(),
    })
}

/// What was cached before each run, in order of time.
pub(super) fn states(bench: &BenchIn) -> Option<Chart> {
    let series = bench.results.iter().map(|result| {
        let name = escape_text(&result.command);
        let points = result.runs().filter_map(|run| {
            let text = text(&name, &run);
            let (x, y) = (ns(run.started_after), run.cached_before?);
            Some(Point { x, y, interval: None, text, aside: !run.counted })
        });
        Series { points: points.collect(), name: name.clone(), boxes: Vec::new() }
    });
    let series: Vec<Series> = series.collect();
    series.iter().any(|one| !one.points.is_empty()).then(|| Chart {
        label: "Share of the files' pages that was cached just before each run".to_owned(),
        kind: ChartKind::Points,
        x: Axis {
            title: "since the session began".to_owned(),
            unit: Unit::Nanoseconds,
            ..Axis::default()
        },
        y: Axis { title: "cached before".to_owned(), unit: Unit::Share, ..Axis::default() },
        series,
        reference: None,
        aside: aside(bench),
    })
}

/// Medians of several sessions, by condition.
pub(super) fn beside(all: &[(String, BenchIn)], names: &[&str]) -> Option<Chart> {
    let series = all.iter().map(|(file, bench)| {
        let point = |(at, name): (usize, &&str)| {
            let result = bench.results.iter().find(|result| result.command == **name)?;
            let it = result.counted.as_ref()?;
            Some(Point {
                x: at as f64,
                y: ns(it.wall.median),
                interval: it.wall_low.zip(it.wall_high).map(|(low, high)| (ns(low), ns(high))),
                text: format!(
                    "{}, {}: {}",
                    escape_text(file),
                    escape_text(name),
                    result.with_interval()
                ),
                aside: false,
            })
        };
        let points = names.iter().enumerate().filter_map(point).collect();
        Series { name: escape_text(file), points, boxes: Vec::new() }
    });
    let series: Vec<Series> = series.collect();
    series.iter().any(|one| !one.points.is_empty()).then(|| Chart {
        label: "Median wall time by condition, with 95 % intervals".to_owned(),
        kind: ChartKind::Bars,
        x: Axis { names: names.iter().map(|name| escape_text(name)).collect(), ..Axis::default() },
        y: Axis { title: "wall time".to_owned(), unit: Unit::Nanoseconds, ..Axis::default() },
        series,
        reference: None,
        aside: String::new(),
    })
}
