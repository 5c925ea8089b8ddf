//! An interval in seconds, as `stat`, `top` and `export` take it.

use std::time::Duration;

use hotset_watch::interval::{MAX_INTERVAL, MIN_INTERVAL};

/// Parses seconds, decimals allowed.
pub(crate) fn parse_interval(text: &str) -> Result<Duration, String> {
    let refused = || {
        let (least, most) = (MIN_INTERVAL.as_secs_f64(), MAX_INTERVAL.as_secs_f64());
        format!("expected seconds from {least} to {most}, such as 1 or 0.5")
    };
    // f64 would also take "inf", "nan" and "1e3".
    if !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(refused());
    }
    let seconds: f64 = text.parse().map_err(|_| refused())?;
    Duration::try_from_secs_f64(seconds)
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
        let bad =
            ["", ".", "0", "0.0999", "-1", "86400.1", "1e1", "nan", "inf", "1s", "ten", "1,5"];
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
