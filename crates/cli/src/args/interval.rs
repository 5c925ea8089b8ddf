//! An interval, as `stat`, `top` and `export` take it.

use std::time::Duration;

use hotset_facts::units::parse_duration;
use hotset_watch::interval::{MAX_INTERVAL, MIN_INTERVAL};

/// Parses seconds, decimals allowed, or a duration with a unit.
pub(crate) fn parse_interval(text: &str) -> Result<Duration, String> {
    let refused = || {
        let (least, most) = (MIN_INTERVAL.as_secs_f64(), MAX_INTERVAL.as_secs_f64());
        format!("expected seconds from {least} to {most}, such as 1, 0.5 or 1m")
    };
    parse_duration(text)
        .ok()
        .filter(|interval| (MIN_INTERVAL..=MAX_INTERVAL).contains(interval))
        .ok_or_else(refused)
}

/// Parses how many lines are wanted.
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|&count| count > 0)
        .ok_or_else(|| format!("expected a whole number from 1 to {}", u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_accepted_range_and_nothing_else() {
        assert_eq!(parse_interval("0.1"), Ok(Duration::from_millis(100)));
        assert_eq!(parse_interval("2.25"), Ok(Duration::from_millis(2_250)));
        assert_eq!(parse_interval("86400"), Ok(Duration::from_secs(86_400)));
        assert_eq!(parse_interval("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(parse_interval("5m"), Ok(Duration::from_secs(300)));
        let bad =
            ["", ".", "0", "0.0999", "-1", "86400.1", "1e1", "nan", "inf", "1d", "ten", "1,5"];
        for text in bad.into_iter().chain(["99999999999999999999999", "1.2.3", " 1", "+1"]) {
            let error = parse_interval(text).expect_err(text);
            assert!(error.contains("from 0.1 to 86400"), "{error}");
        }
    }

    #[test]
    fn a_count_is_at_least_one() {
        assert_eq!(parse_count("3"), Ok(3));
        for text in ["0", "-1", "1.5", "many", "", "18446744073709551616"] {
            assert!(parse_count(text).expect_err(text).contains("from 1 to"), "{text}");
        }
    }
}
