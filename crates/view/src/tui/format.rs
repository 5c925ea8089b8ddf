//! Numbers in the few columns that a table has for them.

use hotset_analysis::top::Value;

use crate::units;

/// A value in at most `width` columns; what is not known is `-`.
pub(super) fn value(value: Value, width: usize) -> String {
    match value {
        Value::Count(n) => count(n, width),
        Value::Number(n) => n.to_string(),
        Value::Bytes(n) => units::short_bytes(n),
        Value::Nanoseconds(0) => "0".to_owned(),
        Value::Nanoseconds(ns) => units::duration(ns).replace(' ', ""),
        Value::Share(share) => units::percent_number(share),
        Value::None => "-".to_owned(),
    }
}

/// A count in full if it fits, else with three digits and a unit.
pub(super) fn count(n: u64, width: usize) -> String {
    let digits = n.to_string();
    if digits.len() <= width { digits } else { units::short_count(n) }
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
    fn intervals_are_short() {
        let all = [100_000_000, 1_000_000_000, 1_500_000_000, 86_400_000_000_000].map(interval);
        assert_eq!(all, ["0.1 s", "1 s", "1.5 s", "24 h 0 min"]);
    }
}
