//! Phrases of more than one view.

use hotset_analysis::lab::{CellNumbers, LabReason, words};
use hotset_facts::{Factor, LabCell, LabSession, LabUnit, Level, Observed, WantedState};

use super::LabResult;
use super::spec::Shown;
use crate::escape::escape_text;
pub(super) use crate::page::or_unknown;
use crate::units;

/// The name of an experiment, and what it asks.
pub(super) fn title(result: &LabResult) -> String {
    format!("lab {}: {}", escape_text(&result.summary.session.experiment), result.question)
}

/// A level with its unit, from the name of its factor: `4 KiB`, `pread`.
pub(super) fn level(factor: &str, level: &Level) -> String {
    match level {
        Level::Number(0) if factor == "buffer_bytes" => "none".to_owned(),
        Level::Number(bytes) if factor.ends_with("_bytes") => words::bytes(*bytes),
        Level::Number(number) => units::count(*number),
        Level::Name(name) => escape_text(name),
    }
}

/// The name of a factor as a person reads it: `total size`, `method`.
pub(super) fn factor(name: &str) -> String {
    let name = escape_text(name).replace('_', " ");
    match name.strip_suffix(" bytes") {
        Some("size") => "size".to_owned(),
        Some(name) => format!("{name} size"),
        None => name,
    }
}

/// `pread, random, 4 KiB`: all levels of a cell but those of some factors.
pub(super) fn levels(factors: &[Factor], without: &[&str]) -> String {
    let rest = factors.iter().filter(|factor| !without.contains(&&*factor.name));
    let words: Vec<String> = rest.map(|factor| level(&factor.name, &factor.level)).collect();
    words.join(", ")
}

/// What tells a cell from others: levels that all cells share are left out.
pub(super) fn name_among(cells: &[LabCell], cell: &LabCell) -> String {
    let is_shared = |factor: &&Factor| {
        cells.len() > 1 && cells.iter().all(|one| one.level(&factor.name) == Some(&factor.level))
    };
    let shared: Vec<&str> =
        cell.factors.iter().filter(is_shared).map(|factor| &*factor.name).collect();
    levels(&cell.factors, &shared)
}

/// A cell's time in its unit: `1.23 µs`, where it is the time of an operation too.
pub(super) fn time(ns: f64) -> String {
    words::time(ns)
}

/// What the time of a cell is of, by what its operations are.
pub(super) fn per(unit: LabUnit, operation: &str) -> String {
    match unit {
        LabUnit::Nanoseconds => "time".to_owned(),
        LabUnit::NanosecondsPerOperation => format!("time per {operation}"),
    }
}

/// Bytes that are no whole number, such as a median.
pub(super) fn bytes(bytes: f64) -> String {
    units::bytes(bytes.max(0.0).round() as u64)
}

/// A count that is no whole number, such as a median.
pub(super) fn count(count: f64) -> String {
    units::count(count.max(0.0).round() as u64)
}

/// `10.1 µs to 12.3 µs`, or why there is none.
pub(super) fn interval(numbers: &CellNumbers) -> String {
    match (numbers.low, numbers.high) {
        (Some(low), Some(high)) => format!("{} to {}", time(low), time(high)),
        _ => "none".to_owned(),
    }
}

/// The number of a cell that a chart shows, with its interval.
pub(super) fn shown(shown: Shown, numbers: &CellNumbers) -> Option<(f64, Option<(f64, f64)>)> {
    match shown {
        Shown::Time => Some((numbers.median?, numbers.low.zip(numbers.high))),
        Shown::DeviceBytes => Some((numbers.device_read_bytes?, None)),
        Shown::Calls => Some((numbers.syscalls?, None)),
    }
}

/// What that number is, for the title of a column.
pub(super) fn shown_title(shown: Shown) -> &'static str {
    match shown {
        Shown::Time => "median",
        Shown::DeviceBytes => "from device",
        Shown::Calls => "calls made",
    }
}

/// That number in words.
pub(super) fn shown_text(shown: Shown, value: f64) -> String {
    match shown {
        Shown::Time => time(value),
        Shown::DeviceBytes => bytes(value),
        Shown::Calls => count(value),
    }
}

/// How much was cached before: `100 %`, `0 %`, `98.0 to 100 %`; what was not known stays unknown, but for a cell that reads no
/// file whose state is set.
pub(super) fn cached(cell: &LabCell, numbers: &CellNumbers) -> String {
    let Some((low, high)) = numbers.cached_before else {
        let is_set = cell.state_wanted != WantedState::AsIs;
        return if is_set { "unknown" } else { "not set" }.to_owned();
    };
    let (low, high) = (units::percent(low), units::percent(high));
    if low == high { low } else { format!("{low} to {high}") }
}

/// `15`, or `13 of 15` where some samples are excluded.
pub(super) fn counted(numbers: &CellNumbers) -> String {
    match numbers.invalid {
        0 => numbers.valid.to_string(),
        invalid => format!("{} of {}", numbers.valid, numbers.valid + invalid),
    }
}

/// Why samples are excluded, or are doubtful: `state-not-reached 2, slow-pages 1 (warning only)`.
pub(super) fn reasons(numbers: &CellNumbers) -> String {
    let words = |reason: &LabReason| {
        let kept = if reason.invalidates { "" } else { " (warning only)" };
        format!("{} {}{kept}", reason.code.as_str(), reason.samples)
    };
    let all: Vec<String> = numbers.reasons.iter().map(words).collect();
    let is_shared = numbers.reasons.iter().any(|reason| reason.for_others_too > 0);
    let several = if is_shared { "; a sample can have several reasons" } else { "" };
    format!("{}{several}", all.join(", "))
}

/// All that is known about a cell, in a line.
pub(super) fn whole_cell(cell: &LabCell, numbers: &CellNumbers, operation: &str) -> String {
    let mut parts = vec![levels(&cell.factors, &[])];
    let value = match numbers.median {
        Some(median) => format!("{} {}", per(cell.unit, operation), time(median)),
        None => "no valid sample".to_owned(),
    };
    parts.push(value);
    parts.push(match (numbers.low, numbers.high) {
        (Some(_), Some(_)) => format!("95 % CI {}", interval(numbers)),
        _ => "no 95 % CI".to_owned(),
    });
    parts.push(format!("cached before {}", cached(cell, numbers)));
    parts.push(format!("from device {}", or_unknown(numbers.device_read_bytes, bytes)));
    if let Some(calls) = numbers.syscalls {
        parts.push(format!("calls {}", count(calls)));
    }
    parts.push(format!("samples {}", counted(numbers)));
    parts.join(" · ")
}

/// `quick size · 7 rounds in random order (seed 42) · took 12.3 s`.
pub(super) fn run(session: &LabSession) -> String {
    let rounds = words::rounds(session.rounds as usize);
    let ended = if session.interrupted { " · interrupted" } else { "" };
    format!(
        "{} size · {rounds} in random order (seed {}) · took {}{ended}",
        session.size.as_str(),
        session.seed,
        units::duration(session.took_ns)
    )
}

/// A condition, or why it isn't known.
pub(super) fn observed(value: &Observed<u64>, text: impl Fn(u64) -> String) -> String {
    match value {
        Observed::Value(value) => text(*value),
        Observed::Missing(reason) => format!("unknown: {}", escape_text(&reason.to_string())),
    }
}
