//! Numbers in the few columns that a table has for them.

use hotset_analysis::top::Value;

use crate::units;

/// A value in at most `width` columns; what is not known is `-`.
pub(super) fn value(value: Value, width: usize) -> String {
    match value {
        Value::Count(n) => count(n, width),
        Value::Number(n) => n.to_string(),
        Value::Bytes(n) => scaled(n, 1024.0, width),
        Value::Nanoseconds(0) => "0".to_owned(),
        Value::Nanoseconds(ns) => units::duration(ns).replace(' ', ""),
        Value::Share(share) => percent(share),
        Value::None => "-".to_owned(),
    }
}

/// A count in full if it fits, else with three digits and a unit.
pub(super) fn count(n: u64, width: usize) -> String {
    let digits = n.to_string();
    if digits.len() <= width { digits } else { scaled(n, 1000.0, width) }
}

/// Three digits and `K`, `M` and so on, of 1000 or 1024; small numbers in full.
fn scaled(n: u64, unit: f64, _width: usize) -> String {
    let mut value = n as f64;
    if value < unit {
        return n.to_string();
    }
    let mut units = "KMGTPE".chars();
    let mut letter = 'K';
    while value >= 999.5 {
        let Some(next) = units.next() else { break };
        letter = next;
        value /= unit;
    }
    match value {
        v if v < 9.995 => format!("{v:.2}{letter}"),
        v if v < 99.95 => format!("{v:.1}{letter}"),
        v => format!("{v:.0}{letter}"),
    }
}

/// A share of 1 as a percentage without its sign. Rounding claims neither none nor all.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        p if p <= 0.0 => "0".to_owned(),
        p if p < 0.05 => "<0.1".to_owned(),
        p if p > 99.95 && p < 100.0 => ">99.9".to_owned(),
        100.0 => "100".to_owned(),
        p => format!("{p:.1}"),
    }
}

/// An interval in seconds: `1 s`, `0.5 s`, `2 min 5 s`.
pub(super) fn interval(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    if seconds < 119.5 {
        let text = format!("{seconds:.3}");
        format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
    } else {
        units::duration(ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_their_columns() {
        assert_eq!(count(12_345, 5), "12345");
        assert_eq!(count(123_456, 5), "123K");
        assert_eq!(count(u64::MAX, 6), "18.4E");
        assert_eq!(count(999_999, 5), "1.00M");
        let bytes = [0, 1023, 1024, 1_048_575, 1 << 20, u64::MAX];
        let printed = bytes.map(|n| value(Value::Bytes(n), 6));
        assert_eq!(printed, ["0", "1023", "1.00K", "1.00M", "1.00M", "16.0E"]);
    }

    #[test]
    fn a_percentage_never_claims_all() {
        let all = [0.0, 0.0001, 0.5, 0.9999, 1.0].map(percent);
        assert_eq!(all, ["0", "<0.1", "50.0", ">99.9", "100"]);
    }

    #[test]
    fn intervals_are_short() {
        let all = [100_000_000, 1_000_000_000, 1_500_000_000, 86_400_000_000_000].map(interval);
        assert_eq!(all, ["0.1 s", "1 s", "1.5 s", "24 h 0 min"]);
    }
}
