//! Predictions beside runs, in words.

use hotset_analysis::size::{SizeSummary, VerifiedLimit};
use hotset_facts::ExitStatus;

use crate::bench::words::bytes as real_bytes;
use crate::table::Align;
use crate::units::{bytes, duration, percent, plural};

/// The same with room for words, one for each column.
pub(super) const TITLES: [&str; 7] = [
    "Device reads, predicted",
    "Measured",
    "Off by",
    "Hit ratio, predicted",
    "Measured",
    "Time, predicted",
    "Measured",
];

/// The columns beside the limit: each number of the prediction before what was measured.
pub(super) fn columns() -> Vec<(&'static str, Align)> {
    vec![
        ("reads", Align::Right),
        ("measured", Align::Right),
        ("off", Align::Right),
        ("hit ratio", Align::Right),
        ("measured", Align::Right),
        ("time", Align::Right),
        ("measured", Align::Right),
    ]
}

pub(super) fn row(limit: &VerifiedLimit) -> Vec<String> {
    let dash = || "-".to_owned();
    let off = |error: f64| format!("{:+.0} %", error * 100.0);
    let was_killed = limit.run.killed > 0;
    let read = || limit.read_bytes().map_or_else(dash, bytes);
    vec![
        bytes(limit.predicted.read_bytes()),
        if was_killed { "killed".to_owned() } else { read() },
        limit.error().map_or_else(dash, off),
        percent(limit.predicted.hit_ratio),
        limit.hit_ratio().filter(|_| !was_killed).map_or_else(dash, percent),
        limit.predicted.run_ns.map_or_else(dash, duration),
        duration(limit.run.wall_ns),
    ]
}

/// What is to be known of a run beside its numbers.
fn ended(limit: &VerifiedLimit) -> Option<String> {
    let run = &limit.run;
    let how = match run.exit {
        _ if run.killed > 0 => "was killed: out of memory".to_owned(),
        _ if run.lost > 0 => {
            format!("is not compared: the sensor lost {}", plural(run.lost, "event"))
        }
        ExitStatus::Code(0) => return None,
        ExitStatus::Code(code) => format!("ended with exit code {code}"),
        ExitStatus::Signal(signal) => format!("was ended by signal {signal}"),
    };
    Some(format!("; the run under {} {how}", bytes(run.limit_bytes)))
}

/// How right the predictions were.
pub(super) fn below(summary: &SizeSummary) -> String {
    let limits = &summary.verified;
    let thrash = summary.thrash.and_then(|limit| limit.limit_bytes).unwrap_or(0);
    let above: Vec<f64> = limits
        .iter()
        .filter(|limit| limit.run.limit_bytes > thrash && !limit.predicted.thrashes())
        .filter_map(VerifiedLimit::error)
        .map(f64::abs)
        .collect();
    let stuck = limits.iter().map(|limit| limit.run.stuck_pages).max().unwrap_or(0);
    let mut words = match above.iter().copied().reduce(f64::max) {
        Some(worst) => format!(
            "device reads above the limit at which it thrashes: predicted within {:.0} %",
            (worst * 100.0).ceil()
        ),
        None => "no run above the limit at which it thrashes could be compared".to_owned(),
    };
    words.extend(limits.iter().filter_map(ended));
    if stuck > 0 {
        let held = real_bytes((stuck * 4096) as f64);
        words.push_str(&format!("; {held} of its files are cached for others, and left out"));
    }
    words
}
