//! How conditions compare, and what a cold start pays for.

use hotset_analysis::bench::{BenchSummary, ColdWarm, Comparison};
use hotset_facts::{ConditionRole, WantedState};

use super::super::headline::{savings, verdict};
use super::super::words::{bytes, condition, letter, ratio, ratio_parts, rounds, time};
use super::headline::{median, sides};
use super::time_axis;
use crate::escape::escape_text;
use crate::page::{Axis, Chart, ChartKind, Column, Point, Section, Series, Table, Unit};
use crate::units::percent;

pub(super) fn comparisons(summary: &BenchSummary) -> Option<Section> {
    let asked = &summary.comparisons;
    let floors: Vec<&Comparison> =
        summary.noise_floors.iter().map(|floor| &floor.comparison).collect();
    if asked.is_empty() {
        return None;
    }
    let all: Vec<&Comparison> = asked.iter().chain(floors).collect();
    let name = |comparison: &&Comparison| {
        let (a, b) = sides(summary, comparison);
        format!("{b} / {a}")
    };
    let point = |(at, comparison): (usize, &&Comparison)| {
        let valid = comparison.valid?;
        let text = format!("{}: {}, {}", name(comparison), ratio(&valid), rounds(valid.rounds));
        let interval = valid.interval.map(|one| (one.low, one.high));
        Some(Point { x: at as f64, y: valid.ratio, interval, text, excluded: false })
    };
    let points: Vec<Option<Point>> = all.iter().enumerate().map(point).collect();
    let (own, noise) = points.split_at(asked.len());
    let series = |name: &str, points: &[Option<Point>]| Series {
        name: name.to_owned(),
        points: points.iter().flatten().cloned().collect(),
        boxes: Vec::new(),
    };
    let mut both = vec![series("compared", own)];
    if !noise.is_empty() {
        both.push(series("a command against itself", noise));
    }
    let chart = Chart {
        label: "Ratios of wall times with their 95 % intervals; 1 is no difference".to_owned(),
        kind: ChartKind::Points,
        x: Axis { names: all.iter().map(name).collect(), ..Axis::default() },
        y: Axis {
            title: "times as long".to_owned(),
            unit: Unit::Ratio,
            log: true,
            ..Axis::default()
        },
        series: both,
        reference: Some(1.0),
        excluded: String::new(),
    };
    Some(Section {
        text: String::new(),
        question: "How do they compare?".to_owned(),
        answer: String::new(),
        chart: points.iter().any(Option::is_some).then_some(chart),
        table: ratios(summary, &all, &name),
        notes: vec![
            "Each ratio is the median of the ratios within rounds. Its interval is exact and assumes no \
             distribution; there is none below six rounds."
                .to_owned(),
        ],
    })
}

fn ratios(
    summary: &BenchSummary,
    all: &[&Comparison],
    name: &dyn Fn(&&Comparison) -> String,
) -> Table {
    let row = |comparison: &&Comparison| {
        let (number, interval) =
            comparison.valid.as_ref().map_or(("none".to_owned(), None), ratio_parts);
        let interval = interval.map(|(low, high)| format!("{low} to {high}"));
        vec![
            name(comparison),
            median(summary, comparison.pair.a),
            median(summary, comparison.pair.b),
            number,
            interval.unwrap_or_else(|| "none".to_owned()),
            comparison.valid.map_or(0, |valid| valid.rounds).to_string(),
            comparison.all.as_ref().map_or("none".to_owned(), ratio),
            verdict(summary, comparison),
        ]
    };
    let mut columns = vec![Column::words("Compared")];
    let numbers = ["Base", "Other", "Ratio", "95 % interval", "Rounds", "All first runs"];
    columns.extend(numbers.map(Column::numbers));
    columns.push(Column::words("Verdict"));
    Table {
        caption: "Ratios of wall times; the base is the second of the two".to_owned(),
        columns,
        rows: all.iter().map(row).collect(),
    }
}

pub(super) fn cold_and_warm(summary: &BenchSummary) -> Option<Section> {
    if summary.cold_warm.is_empty() {
        return None;
    }
    let conditions = &summary.session.conditions;
    let measured = || {
        let all = conditions.iter().enumerate();
        all.filter(|(_, one)| one.role == ConditionRole::Measured)
    };
    let mut states: Vec<WantedState> = Vec::new();
    for (_, one) in measured() {
        if !states.contains(&one.state) {
            states.push(one.state);
        }
    }
    let medians = || summary.conditions.iter().filter_map(|one| Some(one.valid?.wall_ns.median));
    let bars = |state: &WantedState| Series {
        name: state.to_string(),
        points: measured()
            .filter(|(_, one)| one.state == *state)
            .filter_map(|(at, one)| bar(summary, at, one.command))
            .collect(),
        boxes: Vec::new(),
    };
    let commands = &summary.session.commands;
    let names = match commands.as_slice() {
        [one] => vec![escape_text(&one.name)],
        several => (0..several.len()).map(letter).collect(),
    };
    let chart = Chart {
        label: "Median wall time by cache state, with 95 % intervals".to_owned(),
        kind: ChartKind::Bars,
        x: Axis { names, ..Axis::default() },
        y: Axis { log: false, ..time_axis("wall time", medians()) },
        series: states.iter().map(bars).collect(),
        reference: None,
        excluded: String::new(),
    };
    let note = |one: &ColdWarm| format!("{}: {}.", condition(summary, one.pair.b), savings(one));
    Some(Section {
        text: String::new(),
        question: "What does a cold start pay for?".to_owned(),
        answer: String::new(),
        chart: Some(chart),
        table: explained(summary),
        notes: summary.cold_warm.iter().map(note).collect(),
    })
}

fn bar(summary: &BenchSummary, at: usize, command: usize) -> Option<Point> {
    let times = summary.conditions.get(at)?.valid?;
    let interval = times.wall_interval.map(|one| (one.low, one.high));
    let words = interval.map_or("no 95 % interval".to_owned(), |(low, high)| {
        format!("95 % interval {} to {}", time(low), time(high))
    });
    let name = condition(summary, at);
    let text = format!("{name}: {}, {words}", time(times.wall_ns.median));
    Some(Point { x: command as f64, y: times.wall_ns.median, interval, text, excluded: false })
}

fn explained(summary: &BenchSummary) -> Table {
    let row = |one: &ColdWarm| {
        vec![
            condition(summary, one.pair.b),
            median(summary, one.pair.b),
            median(summary, one.pair.a),
            time(one.difference_ns),
            time(one.device_wait_ns),
            one.device_share.map_or("none".to_owned(), percent),
            time(one.cpu_difference_ns),
            one.device_bytes.map_or("unknown".to_owned(), bytes),
            one.rounds.to_string(),
        ]
    };
    let mut columns = vec![Column::words("Cold condition")];
    let numbers = [
        "Cold",
        "Warm",
        "Difference",
        "Device wait",
        "Its share",
        "More CPU",
        "From device",
        "Rounds",
    ];
    columns.extend(numbers.map(Column::numbers));
    Table {
        caption: "Cold minus warm: medians over rounds".to_owned(),
        columns,
        rows: summary.cold_warm.iter().map(row).collect(),
    }
}
