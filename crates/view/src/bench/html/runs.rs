//! Every run: how long runs of a condition take, and how time and state went over the session.

use hotset_analysis::bench::{BenchSummary, ConditionNumbers, JudgedRun, Times};
use hotset_facts::{BenchRun, Observed};

use super::super::words::{bytes, condition, time};
use super::time_axis;
use crate::escape::escape_text;
use crate::page::{Axis, Chart, ChartKind, Column, Point, Section, Series, Spread, Table, Unit};
use crate::units::{self, percent};

/// How far the points of a condition spread to both sides of its place.
const HALF_WIDTH: f64 = 0.32;
const NOT_COUNTED: &str = "not counted";

pub(super) fn distribution(summary: &BenchSummary) -> Section {
    let series = |index: usize| {
        let all = summary.runs_of(index).count();
        let place = |at: usize| {
            let share = if all > 1 { at as f64 / (all - 1) as f64 } else { 0.5 };
            index as f64 + HALF_WIDTH * (2.0 * share - 1.0)
        };
        let runs = summary.runs_of(index).enumerate();
        Series {
            name: condition(summary, index),
            points: runs
                .map(|(at, (run, judged))| {
                    point(summary, run, judged, place(at), run.wall_ns as f64)
                })
                .collect(),
            boxes: quartiles(summary, index).into_iter().collect(),
        }
    };
    let count = summary.conditions.len();
    let names = (0..count).map(|index| condition(summary, index)).collect();
    let walls = summary.session.runs.iter().map(|run| run.wall_ns as f64);
    let chart = Chart {
        label: "Wall time of every run, by condition".to_owned(),
        kind: ChartKind::Distribution,
        x: Axis { names, ..Axis::default() },
        y: time_axis("wall time", walls),
        series: (0..count).map(series).collect(),
        reference: None,
        excluded: excluded(summary),
    };
    Section {
        text: String::new(),
        question: "How long does it take?".to_owned(),
        answer: String::new(),
        chart: (!summary.session.runs.is_empty()).then_some(chart),
        table: medians(summary),
        notes: vec![
            "A mark is a run; from left to right they are in order of time. The box holds the middle half of the \
             counted runs, the thick line is their median, the whiskers end at the fastest and the slowest."
                .to_owned(),
        ],
    }
}

/// What crossed-out points are, where there is one.
fn excluded(summary: &BenchSummary) -> String {
    let mut runs = summary.session.runs.iter().zip(&summary.runs);
    let any = runs.any(|(run, judged)| !summary.is_counted(run, judged));
    if any { NOT_COUNTED.to_owned() } else { String::new() }
}

fn quartiles(summary: &BenchSummary, index: usize) -> Option<Spread> {
    let wall = summary.conditions.get(index)?.valid?.wall_ns;
    Some(Spread {
        x: index as f64,
        low: wall.min,
        lower: wall.lower_quartile,
        median: wall.median,
        upper: wall.upper_quartile,
        high: wall.max,
    })
}

fn point(summary: &BenchSummary, run: &BenchRun, judged: &JudgedRun, x: f64, y: f64) -> Point {
    let name = condition(summary, run.condition);
    let share = judged.share_before.map_or("unknown".to_owned(), percent);
    let wall = units::duration(run.wall_ns);
    let verdict = verdict(summary, run, judged);
    let round = run.round.saturating_add(1);
    Point {
        x,
        y,
        interval: None,
        text: format!("{name}, round {round}: {wall}, cached before: {share}; {verdict}"),
        excluded: !summary.is_counted(run, judged),
    }
}

/// `counted`, or why not.
fn verdict(summary: &BenchSummary, run: &BenchRun, judged: &JudgedRun) -> String {
    let doubts: Vec<String> = judged.doubts.iter().map(ToString::to_string).collect();
    let why = escape_text(&doubts.join(", "));
    match (judged.is_valid(), summary.is_warmup(run)) {
        (false, _) => format!("{NOT_COUNTED}: {why}"),
        (true, true) => format!("{NOT_COUNTED}: warm-up"),
        (true, false) if why.is_empty() => "counted".to_owned(),
        (true, false) => format!("counted, but {why}"),
    }
}

fn medians(summary: &BenchSummary) -> Table {
    let mut columns = vec![Column::words("Condition")];
    let numbers = [
        "Median",
        "95 % interval",
        "Minimum",
        "Quartiles",
        "CPU",
        "From device",
        "Cached before",
        "Counted",
    ];
    columns.extend(numbers.map(Column::numbers));
    let row = |(index, numbers): (usize, &ConditionNumbers)| {
        let mut row = vec![condition(summary, index)];
        row.extend(cells(numbers));
        row
    };
    Table {
        caption: "Times and what went with them, by condition: medians".to_owned(),
        columns,
        rows: summary.conditions.iter().enumerate().map(row).collect(),
    }
}

fn cells(numbers: &ConditionNumbers) -> [String; 8] {
    let times = numbers.valid.or(numbers.all);
    let of = |cell: &dyn Fn(&Times) -> Option<String>| {
        times.as_ref().and_then(cell).unwrap_or_else(|| "none".to_owned())
    };
    let star = if numbers.valid.is_none() { " (of all runs)" } else { "" };
    let range = |low: f64, high: f64| format!("{} to {}", time(low), time(high));
    let ran = numbers.valid_runs.saturating_add(numbers.invalid_runs);
    [
        of(&|times| Some(format!("{}{star}", time(times.wall_ns.median)))),
        of(&|times| times.wall_interval.map(|one| range(one.low, one.high))),
        of(&|times| Some(time(times.wall_ns.min))),
        of(&|times| Some(range(times.wall_ns.lower_quartile, times.wall_ns.upper_quartile))),
        of(&|times| Some(time(times.cpu_ns.median))),
        of(&|times| Some(times.device_bytes.map_or("unknown".to_owned(), |one| bytes(one.median)))),
        numbers.share_before.map_or("none".to_owned(), |share| percent(share.median)),
        format!("{} of {ran}", numbers.valid_runs),
    ]
}

pub(super) fn over_time(summary: &BenchSummary) -> Option<Section> {
    let walls = summary.session.runs.iter().map(|run| run.wall_ns as f64);
    let chart = timeline(summary, "Wall time of every run, in order of time", |run, _| {
        Some(run.wall_ns as f64)
    })?;
    Some(Section {
        question: "Did anything change during the session?".to_owned(),
        chart: Some(Chart { y: time_axis("wall time", walls), ..chart }),
        notes: vec!["The next table has each run's time and when it began.".to_owned()],
        ..Section::default()
    })
}

pub(super) fn states(summary: &BenchSummary) -> Option<Section> {
    let share = |_: &BenchRun, judged: &JudgedRun| judged.share_before;
    let chart =
        timeline(summary, "Share of the files' pages that was cached just before each run", share)?;
    let y = Axis { title: "cached before".to_owned(), unit: Unit::Share, ..Axis::default() };
    Some(Section {
        question: "Which state did each run begin in?".to_owned(),
        chart: Some(Chart { y, ..chart }),
        table: all_runs(summary),
        ..Section::default()
    })
}

/// A value of each run over the time at which the run began; nothing where no run has one.
fn timeline(
    summary: &BenchSummary,
    label: &str,
    value: impl Fn(&BenchRun, &JudgedRun) -> Option<f64>,
) -> Option<Chart> {
    let series = |index: usize| {
        let points = summary.runs_of(index).filter_map(|(run, judged)| {
            let x = run.started_after_ns as f64;
            Some(point(summary, run, judged, x, value(run, judged)?))
        });
        Series { name: condition(summary, index), points: points.collect(), boxes: Vec::new() }
    };
    let series: Vec<Series> = (0..summary.conditions.len()).map(series).collect();
    let any = series.iter().any(|series| !series.points.is_empty());
    any.then(|| Chart {
        label: label.to_owned(),
        kind: ChartKind::Points,
        x: Axis {
            title: "since the session began".to_owned(),
            unit: Unit::Nanoseconds,
            ..Axis::default()
        },
        y: Axis::default(),
        series,
        reference: None,
        excluded: excluded(summary),
    })
}

fn all_runs(summary: &BenchSummary) -> Table {
    let mut columns = vec![Column::words("Condition")];
    let numbers = [
        "Round",
        "Began after",
        "Wall time",
        "CPU",
        "Cached before",
        "Cached after",
        "From device",
        "Major faults",
    ];
    columns.extend(numbers.map(Column::numbers));
    columns.push(Column::words("Counted"));
    let share = |share: Option<f64>| share.map_or("unknown".to_owned(), percent);
    let row = |(run, judged): (&BenchRun, &JudgedRun)| {
        let device = match &run.device_read_bytes {
            Observed::Value(read) => units::bytes(*read),
            Observed::Missing(_) => "unknown".to_owned(),
        };
        vec![
            condition(summary, run.condition),
            run.round.saturating_add(1).to_string(),
            units::duration(run.started_after_ns),
            units::duration(run.wall_ns),
            units::duration(judged.cpu_ns),
            share(judged.share_before),
            share(judged.share_after),
            device,
            units::count(run.major_faults),
            verdict(summary, run, judged),
        ]
    };
    let runs = summary.session.runs.iter().zip(&summary.runs);
    Table {
        caption: "All runs in order of time".to_owned(),
        columns,
        rows: runs.map(row).collect(),
    }
}
