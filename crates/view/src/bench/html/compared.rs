//! How conditions compare, and what a cold start pays for.

use hotset_analysis::bench::{BenchSummary, ColdWarm, Comparison};
use hotset_facts::{ConditionRole, WantedState};

use super::super::headline::{device_share, savings, verdict};
use super::super::look::BenchLook;
use super::super::words::{bytes, condition, letter, ratio, ratio_parts, rounds, time};
use super::headline::{median, sides};
use super::time_axis;
use crate::escape::escape_text;
use crate::page::{Axis, Chart, ChartKind, Point, Section, Series, Table, Unit};

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
        let interval = valid.interval.map(|interval| (interval.low, interval.high));
        Some(Point { x: at as f64, y: valid.ratio, interval, text, excluded: false })
    };
    let points: Vec<Option<Point>> = all.iter().enumerate().map(point).collect();
    let (own, noise) = points.split_at(asked.len());
    let series = |name: &str, points: &[Option<Point>]| Series {
        name: name.to_owned(),
        points: points.iter().flatten().cloned().collect(),
        ..Series::default()
    };
    let mut both = vec![series("compared", own)];
    if !noise.is_empty() {
        both.push(series("a command against itself", noise));
    }
    let chart = Chart {
        label: "Ratios of wall times with their 95 % CIs; 1 is no difference".to_owned(),
        kind: ChartKind::Points,
        x: Axis { names: all.iter().map(name).collect(), ..Axis::default() },
        y: Axis { log: true, ..Axis::of("times as long", Unit::Ratio) },
        series: both,
        reference: Some(1.0),
        ..Chart::default()
    };
    Some(Section {
        question: "How do they compare?".to_owned(),
        chart: points.iter().any(Option::is_some).then_some(chart),
        table: ratios(summary, &all, &name),
        notes: vec![
            "Each ratio is the median of the ratios within rounds. Its interval is exact and assumes no \
             distribution; there is none below six rounds."
                .to_owned(),
        ],
        ..Section::default()
    })
}

fn ratios(
    summary: &BenchSummary,
    all: &[&Comparison],
    name: &dyn Fn(&&Comparison) -> String,
) -> Table {
    let parts = |comparison: &Comparison| {
        comparison.valid.as_ref().map_or(("none".to_owned(), None), ratio_parts)
    };
    Table::of("Ratios of wall times; the base is the second of the two", all.iter().copied())
        .words("Compared", name)
        .numbers("Base", |comparison| median(summary, comparison.pair.a))
        .numbers("Other", |comparison| median(summary, comparison.pair.b))
        .numbers("Ratio", |comparison| parts(comparison).0)
        .numbers("95 % CI", |comparison| {
            parts(comparison).1.map_or("none".to_owned(), |(low, high)| format!("{low} to {high}"))
        })
        .numbers("Rounds", |comparison| {
            comparison.valid.map_or(0, |valid| valid.rounds).to_string()
        })
        .numbers("All first runs", |comparison| {
            comparison.all.as_ref().map_or("none".to_owned(), ratio)
        })
        .words("Verdict", |comparison| verdict(summary, comparison, BenchLook::default()))
        .table()
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
    let medians =
        || summary.conditions.iter().filter_map(|numbers| Some(numbers.valid?.wall_ns.median));
    let bars = |state: &WantedState| Series {
        name: state.to_string(),
        points: measured()
            .filter(|(_, one)| one.state == *state)
            .filter_map(|(at, one)| bar(summary, at, one.command))
            .collect(),
        ..Series::default()
    };
    let commands = &summary.session.commands;
    let names = match commands.as_slice() {
        [one] => vec![escape_text(&one.name)],
        several => (0..several.len()).map(letter).collect(),
    };
    let chart = Chart {
        label: "Median wall time by cache state, with 95 % CIs".to_owned(),
        kind: ChartKind::Bars,
        x: Axis { names, ..Axis::default() },
        y: Axis { log: false, ..time_axis("wall time", medians()) },
        series: states.iter().map(bars).collect(),
        ..Chart::default()
    };
    let note = |one: &ColdWarm| {
        format!("{}: {}.", condition(summary, one.pair.b), savings(one, BenchLook::default()))
    };
    Some(Section {
        question: "What does a cold start pay for?".to_owned(),
        chart: Some(chart),
        table: explained(summary),
        notes: summary.cold_warm.iter().map(note).collect(),
        ..Section::default()
    })
}

fn bar(summary: &BenchSummary, at: usize, command: usize) -> Option<Point> {
    let times = summary.conditions.get(at)?.valid?;
    let interval = times.wall_interval.map(|interval| (interval.low, interval.high));
    let words = interval.map_or("no 95 % CI".to_owned(), |(low, high)| {
        format!("95 % CI {} to {}", time(low), time(high))
    });
    let name = condition(summary, at);
    let text = format!("{name}: {}, {words}", time(times.wall_ns.median));
    Some(Point { x: command as f64, y: times.wall_ns.median, interval, text, excluded: false })
}

fn explained(summary: &BenchSummary) -> Table {
    Table::of("Cold minus warm: medians over rounds", &summary.cold_warm)
        .words("Cold condition", |cold_warm| condition(summary, cold_warm.pair.b))
        .numbers("Cold", |cold_warm| median(summary, cold_warm.pair.b))
        .numbers("Warm", |cold_warm| median(summary, cold_warm.pair.a))
        .numbers("Difference", |cold_warm| time(cold_warm.difference_ns))
        .numbers("Device wait", |cold_warm| time(cold_warm.device_wait_ns))
        .numbers("Its share", |cold_warm| device_share(cold_warm).unwrap_or("none".to_owned()))
        .numbers("More CPU", |cold_warm| time(cold_warm.cpu_difference_ns))
        .numbers("From device", |cold_warm| {
            cold_warm.device_bytes.map_or("unknown".to_owned(), bytes)
        })
        .numbers("Rounds", |cold_warm| cold_warm.rounds.to_string())
        .table()
}
