//! Numbers as people read them, and the other way round: the one home of units and their text.
//!
//! The rule of digits is the same everywhere: three significant ones, a unit, and nothing that wraps. What is measured is
//! written so; what was chosen ([`exact_bytes`]) and what is counted ([`count`]) is written in full.

mod parse;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use parse::{number, parse_duration, parse_percent, parse_size};

/// Letters of units of 1000 or 1024, for where room is short.
const LETTERS: [char; 6] = ['K', 'M', 'G', 'T', 'P', 'E'];
const BINARY: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Bytes in binary units: `512 B`, `1.50 KiB`, `384 MiB`.
pub fn bytes(bytes: u64) -> String {
    match scaled(bytes, 1024.0) {
        Some((value, unit)) => format!("{} {}", three_digits(value), BINARY[unit]),
        None => format!("{bytes} B"),
    }
}

/// A size that was chosen: `4 KiB`, `4095 B`. It is exact below 1 MiB and where it is a whole number of its unit; any other is
/// rounded to three digits, so that a page more than 100 MiB is `100 MiB` too.
pub fn exact_bytes(size: u64) -> String {
    const EXACT_BELOW: u64 = 1 << 20;
    let unit = (1..=BINARY.len() as u32).rev().find(|&power| size >= 1024_u64.pow(power));
    match unit.map(|power| (BINARY[power as usize - 1], 1024_u64.pow(power))) {
        Some((name, of)) if size.is_multiple_of(of) => format!("{} {name}", size / of),
        Some(_) if size >= EXACT_BELOW => bytes(size),
        _ => format!("{size} B"),
    }
}

/// Bytes in at most five columns, without a space: `512`, `1.50K`, `384M`.
pub fn short_bytes(bytes: u64) -> String {
    short(bytes, 1024.0)
}

/// A count in at most five columns: `999`, `12.3K`, `4.56M`, of 1000.
pub fn short_count(count: u64) -> String {
    short(count, 1000.0)
}

fn short(number: u64, step: f64) -> String {
    match scaled(number, step) {
        Some((value, unit)) => format!("{}{}", three_digits(value), LETTERS[unit]),
        None => number.to_string(),
    }
}

/// A number in the largest unit in which three digits show it, and which unit that is; nothing below the first.
fn scaled(number: u64, step: f64) -> Option<(f64, usize)> {
    let mut value = number as f64 / step;
    if value < 1.0 {
        return None;
    }
    let mut unit = 0;
    // From 999.5 on, three digits would print as four.
    while value >= 999.5 && unit + 1 < LETTERS.len() {
        value /= step;
        unit += 1;
    }
    Some((value, unit))
}

/// A duration in nanoseconds, as far as 64 bits go: 584 years.
pub fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A duration given in nanoseconds: `890 ns`, `12.3 µs`, `4.56 ms`, `7.89 s`, `2 min 5 s`, `3 h 4 min`.
pub fn duration(ns: u64) -> String {
    const UNITS: [(&str, f64); 3] = [("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    if ns < 1000 {
        return format!("{ns} ns");
    }
    for (unit, size) in UNITS {
        let value = ns as f64 / size;
        let limit = if unit == "s" { 119.5 } else { 999.5 };
        if value < limit {
            return format!("{} {unit}", three_digits(value));
        }
    }
    let seconds = (ns as f64 / 1e9).round() as u64;
    if seconds < 7200 {
        format!("{} min {} s", seconds / 60, seconds % 60)
    } else {
        format!("{} h {} min", seconds / 3600, seconds % 3600 / 60)
    }
}

/// A mean of durations in nanoseconds: `0.850 ns`, `66.4 ns`, and from 1 µs on as [`duration`] has them.
pub fn mean_duration(ns: f64) -> String {
    if ns.abs() < 999.5 { format!("{} ns", real(ns)) } else { duration(ns.round() as u64) }
}

/// A count with commas between thousands: `1,234,567`.
pub fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun: `1 file`, `2,000 files`, `3 processes`.
pub fn plural(number: u64, noun: &str) -> String {
    let ending = match (number, noun.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{} {noun}{ending}", count(number))
}

/// A share of 1 as a percentage: `45.6 %`, `<0.1 %`, `230.0 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", percent_number(share))
}

/// A share of 1 as a percentage without its sign. Rounding claims neither none nor all.
pub fn percent_number(share: f64) -> String {
    let percent = 100.0 * share;
    if percent > 0.0 && percent < 0.05 {
        "<0.1".to_owned()
    } else if percent > 99.95 && percent < 100.0 {
        ">99.9".to_owned()
    } else if percent == 100.0 || percent >= 999.5 {
        format!("{percent:.0}")
    } else if percent == 0.0 {
        "0".to_owned()
    } else {
        format!("{percent:.1}")
    }
}

/// A share of 1 as a whole percentage, for where room is short: `46 %`.
pub fn whole_percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent > 0.0 && percent < 0.5 { "<1 %".to_owned() } else { format!("{percent:.0} %") }
}

/// A mean or ratio: three digits (`0.123`, `12.3`) below a thousand, else whole with commas.
pub fn real(value: f64) -> String {
    if !value.is_finite() {
        return "unknown".to_owned();
    }
    let size = value.abs();
    let digits = match size {
        0.0 => "0".to_owned(),
        size if size >= 999.5 => count(size.round() as u64),
        size if size < 0.9995 => format!("{size:.3}"),
        size => three_digits(size),
    };
    if value < 0.0 { format!("-{digits}") } else { digits }
}

/// `0.98`, `1.23`, `12.3`, `123`; a whole number below a thousand stays whole only from 100 on.
fn three_digits(value: f64) -> String {
    match value {
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}
