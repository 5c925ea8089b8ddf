//! Values of a fleet's answers, as people read them.

use hotset_facts::fleet::{FleetCell, FleetUnit};

use crate::bench::words::bytes;
use crate::escape::escape_text;
use crate::units::{count, duration, percent};

/// A value in the unit of its column; an empty one was not measured, or does not apply.
pub(super) fn value(cell: Option<&FleetCell>, unit: FleetUnit) -> String {
    match cell {
        None => "-".to_owned(),
        Some(FleetCell::Text(text)) => escape_text(text),
        Some(FleetCell::Whole(whole)) => number(*whole as f64, unit),
        Some(FleetCell::Real(real)) => number(*real, unit),
    }
}

/// A number in a unit.
pub(super) fn number(number: f64, unit: FleetUnit) -> String {
    let sign = if number < 0.0 { "-" } else { "" };
    let size = number.abs();
    let whole = size.round() as u64;
    let text = match unit {
        FleetUnit::Bytes => bytes(size),
        FleetUnit::Ratio => percent(size),
        FleetUnit::Nanoseconds => duration(whole),
        FleetUnit::Count | FleetUnit::Text => count(whole),
        FleetUnit::Number if size >= 100.0 || size.fract() == 0.0 => count(whole),
        FleetUnit::Number => format!("{size:.2}"),
    };
    format!("{sign}{text}")
}
