//! Every run: how long runs of a condition take, and how time and state went over the session.

use hotset_analysis::bench::{BenchSummary, ConditionNumbers, JudgedRun, Times};
use hotset_facts::BenchRun;

use super::super::words::{bytes, condition, time};
use super::time_axis;
use crate::escape::escape_text;
use crate::page::{
    Axis, Chart, ChartKind, Point, Section, Series, Spread, Table, Unit, or_unknown,
};
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
            band: false,
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
        excluded: excluded(summary),
        ..Chart::default()
    };
    Section {
        question: "How long does it take?".to_owned(),
        chart: (!summary.session.runs.is_empty()).then_some(chart),
        table: medians(summary),
        notes: vec![
            "A mark is a run; from left to right they are in order of time. The box holds the middle half of the \
             counted runs, the thick line is their median, the whiskers end at the fastest and the slowest."
                .to_owned(),
        ],
        ..Section::default()
    }
}

/// What crossed-out points are, where there is one.
fn excluded(summary: &BenchSummary) -> String {
    let mut runs = summary.session.runs.iter().zip(&summary.runs);
    let any = runs.any(|(_, judged)| !judged.counted);
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
    let share = or_unknown(judged.share_before, percent);
    let wall = units::duration(run.wall_ns);
    let verdict = verdict(summary, run, judged);
    let round = run.round.saturating_add(1);
    Point {
        x,
        y,
        interval: None,
        text: format!("{name}, round {round}: {wall}, cached before: {share}; {verdict}"),
        excluded: !judged.counted,
    }
}

/// `counted`, or all reasons why not.
fn verdict(summary: &BenchSummary, run: &BenchRun, judged: &JudgedRun) -> String {
    let mut why: Vec<String> = judged.doubts.iter().map(ToString::to_string).collect();
    if summary.is_warmup(run) {
        why.insert(0, "warm-up".to_owned());
    } else if judged.is_valid() && !judged.counted {
        why.insert(0, "another run of this round is counted".to_owned());
    }
    let why = escape_text(&why.join(", "));
    match judged.counted {
        false => format!("{NOT_COUNTED}: {why}"),
        true if why.is_empty() => "counted".to_owned(),
        true => format!("counted, but {why}"),
    }
}

fn medians(summary: &BenchSummary) -> Table {
    type Row<'a> = (usize, &'a ConditionNumbers);
    let figure = |cell: fn(&Times) -> Option<String>| {
        move |(_, numbers): &Row<'_>| {
            let times = numbers.valid.or(numbers.all);
            times.as_ref().and_then(cell).unwrap_or_else(|| "none".to_owned())
        }
    };
    fn range(low: f64, high: f64) -> Option<String> {
        Some(format!("{} to {}", time(low), time(high)))
    }
    let median = figure(|times| Some(time(times.wall_ns.median)));
    Table::of(
        "Times and what went with them, by condition: medians",
        summary.conditions.iter().enumerate(),
    )
    .words("Condition", |(index, _)| condition(summary, *index))
    .numbers("Median", |row| {
        let of_all = row.1.valid.is_none() && row.1.all.is_some();
        let star = if of_all { " (of all runs)" } else { "" };
        format!("{}{star}", median(row))
    })
    .numbers(
        "95 % CI",
        figure(|times| times.wall_interval.and_then(|interval| range(interval.low, interval.high))),
    )
    .numbers("Minimum", figure(|times| Some(time(times.wall_ns.min))))
    .numbers(
        "Quartiles",
        figure(|times| range(times.wall_ns.lower_quartile, times.wall_ns.upper_quartile)),
    )
    .numbers("CPU", figure(|times| Some(time(times.cpu_ns.median))))
    .numbers(
        "From device",
        figure(|times| Some(or_unknown(times.device_bytes, |spread| bytes(spread.median)))),
    )
    .numbers("Cached before", |(_, numbers)| {
        numbers.share_before.map_or("none".to_owned(), |share| percent(share.median))
    })
    .numbers("Counted", |(_, numbers)| {
        let ran = numbers.valid_runs.saturating_add(numbers.invalid_runs);
        format!("{} of {ran}", numbers.valid_runs)
    })
    .table()
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
    let y = Axis::of("cached before", Unit::Share);
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
        Series { name: condition(summary, index), points: points.collect(), ..Series::default() }
    };
    let series: Vec<Series> = (0..summary.conditions.len()).map(series).collect();
    let any = series.iter().any(|series| !series.points.is_empty());
    any.then(|| Chart {
        label: label.to_owned(),
        kind: ChartKind::Points,
        x: Axis::of("since the session began", Unit::Nanoseconds),
        series,
        excluded: excluded(summary),
        ..Chart::default()
    })
}

fn all_runs(summary: &BenchSummary) -> Table {
    Table::of("All runs in order of time", summary.session.runs.iter().zip(&summary.runs))
        .words("Condition", |(run, _)| condition(summary, run.condition))
        .numbers("Round", |(run, _)| run.round.saturating_add(1).to_string())
        .numbers("Began after", |(run, _)| units::duration(run.started_after_ns))
        .numbers("Wall time", |(run, _)| units::duration(run.wall_ns))
        .numbers("CPU", |(_, judged)| units::duration(judged.cpu_ns))
        .numbers("Cached before", |(_, judged)| or_unknown(judged.share_before, percent))
        .numbers("Cached after", |(_, judged)| or_unknown(judged.share_after, percent))
        .numbers("From device", |(run, _)| or_unknown(run.device_read_bytes.value(), units::bytes))
        .numbers("Major faults", |(run, _)| units::count(run.major_faults))
        .words("Counted", |(run, judged)| verdict(summary, run, judged))
        .table()
}
