//! Tables of a benchmark.

use super::input::{BenchIn, ColdWarmIn, ComparisonIn, ResultIn, ratio, time};
use super::{figures, range};
use crate::escape::escape_text;
use crate::page::{Column, Table};
use crate::units::{self, percent};

fn table(caption: &str, name: &str, numbers: &[&str], rows: Vec<Vec<String>>) -> Table {
    let mut columns = vec![Column::words(name)];
    columns.extend(numbers.iter().map(|title| Column::numbers(title)));
    Table { caption: caption.to_owned(), columns, rows }
}

fn whole_bytes(bytes: f64) -> String {
    units::bytes(bytes.max(0.0).round() as u64)
}

/// A row for each condition.
pub(super) fn medians(bench: &BenchIn) -> Table {
    let row = |result: &ResultIn| {
        let found = figures(result);
        let of = |cell: &dyn Fn(&super::Whole) -> Option<String>| {
            found.and_then(|(it, _)| cell(it)).unwrap_or_else(|| "none".to_owned())
        };
        let star = found.map_or("", |(_, star)| star);
        vec![
            escape_text(&result.command),
            escape_text(&result.state),
            of(&|it| Some(format!("{}{star}", time(it.wall.median)))),
            of(&|it| it.wall_low.zip(it.wall_high).map(|(low, high)| range(low, high))),
            of(&|it| Some(time(it.wall.min))),
            of(&|it| Some(range(it.wall.lower_quartile, it.wall.upper_quartile))),
            of(&|it| Some(time(it.cpu.median))),
            of(&|it| {
                Some(
                    it.device_bytes
                        .as_ref()
                        .map_or("unknown".to_owned(), |one| whole_bytes(one.median)),
                )
            }),
            format!(
                "{} of {}",
                result.valid_runs,
                result.valid_runs.saturating_add(result.invalid_runs)
            ),
        ]
    };
    let numbers = [
        "State",
        "Median",
        "95 % interval",
        "Minimum",
        "Quartiles",
        "CPU",
        "From device",
        "Counted",
    ];
    let rows = bench.results.iter().map(row).collect();
    table("Times and what went with them, by condition: medians", "Condition", &numbers, rows)
}

fn name(bench: &BenchIn, at: usize) -> String {
    bench.results.get(at).map_or("?".to_owned(), |it| escape_text(&it.command))
}

/// A row for each comparison.
pub(super) fn ratios(bench: &BenchIn) -> Table {
    let row = |one: &ComparisonIn| {
        vec![
            format!("{} / {}", name(bench, one.b), name(bench, one.a)),
            one.ratio.map_or("none".to_owned(), ratio),
            one.low.zip(one.high).map_or("none".to_owned(), |(low, high)| {
                format!("{} to {}", ratio(low), ratio(high))
            }),
            one.rounds.to_string(),
            escape_text(&one.verdict),
        ]
    };
    let numbers = ["Ratio", "95 % interval", "Rounds", "Verdict"];
    let rows = bench.comparisons.iter().map(row).collect();
    table("Ratios of wall times; the base is the second of the two", "Compared", &numbers, rows)
}

/// A row for each cold condition.
pub(super) fn cold(bench: &BenchIn) -> Table {
    let row = |one: &ColdWarmIn| {
        vec![
            format!("{} / {}", name(bench, one.b), name(bench, one.a)),
            time(one.difference),
            time(one.device_wait),
            one.device_share.map_or("none".to_owned(), percent),
            time(one.cpu_difference),
            one.device_bytes.map_or("unknown".to_owned(), whole_bytes),
            one.rounds.to_string(),
        ]
    };
    let numbers = ["Difference", "Device wait", "Its share", "More CPU", "From device", "Rounds"];
    let rows = bench.cold_warm.iter().map(row).collect();
    table("Cold minus warm: medians over rounds", "Compared", &numbers, rows)
}

/// A row for each run.
pub(super) fn runs(bench: &BenchIn) -> Table {
    let rows = bench.results.iter().flat_map(|result| {
        result.runs().map(|run| {
            let why = escape_text(&run.reasons.join(", "));
            vec![
                escape_text(&result.command),
                run.round.saturating_add(1).to_string(),
                time(run.started_after),
                time(run.wall),
                run.cached_before.map_or("unknown".to_owned(), percent),
                run.device_bytes.map_or("unknown".to_owned(), units::bytes),
                match (run.counted, why.is_empty()) {
                    (true, true) => "counted".to_owned(),
                    (true, false) => format!("counted, but {why}"),
                    (false, _) => format!("not counted: {why}"),
                },
            ]
        })
    });
    let numbers = ["Round", "Began after", "Wall time", "Cached before", "From device", "Counted"];
    table("All runs, by condition", "Condition", &numbers, rows.collect())
}
