//! A Markdown table in the manner of hyperfine's: what people paste into a pull request.

use hotset_analysis::bench::BenchSummary;

use super::baseline;
use super::look::BenchLook;
use super::words::{bytes, ratio, state};
use crate::escape::escape_text;

/// A row a condition: its median, minimum and quartiles, and its ratio to what it was compared with.
pub fn bench_markdown(summary: &BenchSummary, look: BenchLook) -> String {
    let mut out = String::from(
        "| Command | State | Median | Min | Quartiles | Device | Runs | Relative |\n\
         |:---|:---|---:|---:|---:|---:|---:|---:|\n",
    );
    let time = |ns| look.time(ns);
    let rows = look.rows(summary);
    for &index in &rows {
        let Some((condition, numbers)) =
            summary.session.conditions.get(index).zip(summary.conditions.get(index))
        else {
            continue;
        };
        let command = summary.session.commands.get(condition.command);
        let name = command.map_or(numbers.label.as_str(), |command| command.name.as_str());
        let none = || "-".to_owned();
        let wall = numbers.valid.map(|times| times.wall_ns);
        let device = numbers.valid.and_then(|times| times.device_bytes);
        let runs = match numbers.invalid_runs {
            0 => numbers.valid_runs.to_string(),
            invalid => format!("{} ({invalid} not counted)", numbers.valid_runs),
        };
        let cells = [
            code(name),
            state(condition),
            wall.map_or_else(none, |wall| time(wall.median)),
            wall.map_or_else(none, |wall| time(wall.min)),
            wall.map_or_else(none, |wall| {
                format!("{} to {}", time(wall.lower_quartile), time(wall.upper_quartile))
            }),
            device.map_or_else(none, |device| bytes(device.median)),
            runs,
            relative(summary, index, &rows),
        ];
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out.push_str(&baseline::markdown(summary, look));
    out
}

/// The first comparison in which the condition is B, with what it is relative to.
fn relative(summary: &BenchSummary, index: usize, rows: &[usize]) -> String {
    let mut twins = summary.noise_floors.iter().map(|floor| &floor.comparison);
    let found = summary.comparisons.iter().find(|comparison| comparison.pair.b == index);
    let Some(comparison) = found.or_else(|| twins.find(|twin| twin.pair.b == index)) else {
        return "1".to_owned();
    };
    match comparison.valid {
        Some(valid) => {
            let base = rows.iter().position(|&row| row == comparison.pair.a).unwrap_or(0);
            format!("{} of row {}", ratio(&valid), base.saturating_add(1))
        }
        None => "-".to_owned(),
    }
}

/// As code, in a cell: a pipe would end the cell, a backtick the code.
fn code(text: &str) -> String {
    let text = escape_text(text).replace('|', "\\|");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}
