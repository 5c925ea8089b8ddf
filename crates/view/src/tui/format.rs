//! Numbers in the few columns that a table has for them.

use hotset_analysis::top::Value;

use crate::escape::columns;
use crate::units;

/// A value in at most `width` columns; what is not known is `-`.
pub(super) fn value(value: Value, width: usize) -> String {
    match value {
        Value::Count(n) => count(n, width),
        Value::Number(n) => n.to_string(),
        Value::Bytes(n) | Value::Size(n) => units::short_bytes(n),
        Value::Nanoseconds(0) => "0".to_owned(),
        Value::Nanoseconds(ns) => duration(ns, width),
        Value::Share(share) => units::percent_number(share),
        Value::None => "-".to_owned(),
    }
}

/// A count in full if it fits, else with three digits and a unit, else in whole units. Digits are never cut off: 1,234,567
/// in four columns is not 1.23.
pub(super) fn count(n: u64, width: usize) -> String {
    let (digits, short) = (n.to_string(), units::short_count(n));
    if digits.len() <= width {
        return digits;
    }
    if short.len() <= width {
        return short;
    }
    let mut value = n as f64;
    for letter in ["K", "M", "G", "T", "P"] {
        value /= 1000.0;
        if value < 999.5 {
            return format!("{value:.0}{letter}");
        }
    }
    format!("{:.0}E", value / 1000.0)
}

/// A time in the two units that `units::duration` gives it, or in the larger one alone.
fn duration(ns: u64, width: usize) -> String {
    const MINUTE: u64 = 60_000_000_000;
    let full = units::duration(ns).replace(' ', "");
    if columns(&full) <= width || ns < MINUTE {
        full
    } else if ns < 60 * MINUTE {
        format!("{}min", ns / MINUTE)
    } else {
        format!("{}h", ns / (60 * MINUTE))
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
        assert_eq!(
            [12_345, 1_234_567, 999_999, u64::MAX].map(|n| count(n, 4)),
            ["12K", "1M", "1M", "18E"]
        );
        let waits = [1_234_000, 100_000_000_000, 3_599_000_000_000, 90_000_000_000_000];
        assert_eq!(
            waits.map(|ns| value(Value::Nanoseconds(ns), 6)),
            ["1.23ms", "100s", "59min", "25h"]
        );
        for width in [5, 6, 7, 9] {
            for power in 0..64 {
                let n = (1_u64 << power).saturating_mul(2) - 1;
                for shown in [Value::Count(n), Value::Bytes(n), Value::Nanoseconds(n.min(1 << 52))]
                {
                    let text = value(shown, width);
                    let fits = columns(&text) <= width.max(6);
                    assert!(fits, "{shown:?} in {width}: {text}");
                }
            }
        }
        assert_eq!(count(999_999, 5), "1.00M");
        let bytes = [0, 1023, 1024, 1_048_575, 1 << 20, u64::MAX];
        let printed = bytes.map(|n| value(Value::Bytes(n), 6));
        assert_eq!(printed, ["0", "1023", "1.00K", "1.00M", "1.00M", "16.0E"]);
    }

    #[test]
    fn intervals_are_short() {
        let all = [100_000_000, 1_000_000_000, 1_500_000_000, 86_400_000_000_000].map(interval);
        assert_eq!(all, ["0.1 s", "1 s", "1.5 s", "24 h 0 min"]);
    }
}
