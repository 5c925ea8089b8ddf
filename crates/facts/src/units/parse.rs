//! Sizes and durations as they are typed.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// Reads `4096`, `64K`, `1.5M`, `2GiB`: bytes, with units of 1024; `KB`, `MB` and so on are units of 1000, as dd(1) has
/// them. Upper and lower case are the same.
///
/// # Errors
/// Says what was expected.
pub fn parse_size(text: &str) -> Result<u64, String> {
    const EXPECTED: &str = "expected a number with K, M, G or T, e.g. 64K or 1.5GiB";
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = unit_bytes(unit).ok_or_else(|| format!("unknown unit {unit:?}; {EXPECTED}"))?;
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor).ok_or_else(|| "more than 16 EiB".to_owned());
    }
    let number: f64 = number.parse().map_err(|_| EXPECTED.to_owned())?;
    let bytes = number * factor as f64;
    if factor == 1 && bytes.fract() != 0.0 {
        return Err("expected a whole number of bytes".to_owned());
    }
    if bytes >= u64::MAX as f64 { Err("more than 16 EiB".to_owned()) } else { Ok(bytes as u64) }
}

fn unit_bytes(unit: &str) -> Option<u64> {
    let lower = unit.to_ascii_lowercase();
    let mut letters = lower.chars();
    let power = match letters.next() {
        None => return Some(1),
        Some('b') if lower.len() == 1 => return Some(1),
        Some(letter) => 1 + "kmgtpe".find(letter)? as u32,
    };
    match letters.as_str() {
        "" | "ib" => 1024_u64.checked_pow(power),
        "b" => 1000_u64.checked_pow(power),
        _ => None,
    }
}

/// Reads a whole number within bounds; the error says which these are.
pub fn number<N>(
    bounds: RangeInclusive<N>,
) -> impl Fn(&str) -> Result<N, String> + Clone + Send + Sync + 'static
where
    N: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text| match text.parse() {
        Ok(number) if bounds.contains(&number) => Ok(number),
        _ => Err(format!("expected a whole number from {} to {}", bounds.start(), bounds.end())),
    }
}

/// Reads `5%` or `0.5 %` as a share, such as 0.05; up to 1000 %.
///
/// # Errors
/// Says what was expected.
pub fn parse_percent(text: &str) -> Result<f64, String> {
    const MOST: f64 = 1000.0;
    let number = text.strip_suffix('%').and_then(|number| number.trim_end().parse::<f64>().ok());
    match number {
        Some(percent) if (0.0..=MOST).contains(&percent) => Ok(percent / 100.0),
        _ => Err("expected a percentage from 0% to 1000%, e.g. 5% or 0.5%".to_owned()),
    }
}

/// The longest duration: more than a year is a typing error.
const MAX_DURATION: Duration = Duration::from_secs(366 * 24 * 3600);

/// Reads `10s`, `500ms`, `1.5m`, `2h`; a bare number is seconds.
///
/// # Errors
/// Says what was expected.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 =
        number.parse().map_err(|_| "expected a number with ms, s, m or h, e.g. 10s".to_owned())?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "" | "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(format!("unknown unit {unit:?}; expected ms, s, m or h")),
    };
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() && duration <= MAX_DURATION => Ok(duration),
        _ => Err("expected more than 0 and at most 366 days".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_their_sign() {
        let all = ["5%", "0.5%", "12.5 %", "0%", "1000%"].map(|text| parse_percent(text).ok());
        assert_eq!(all, [0.05, 0.005, 0.125, 0.0, 10.0].map(Some));
        for wrong in ["5", "", "%", "-1%", "1001%", "5ms", "5%%", "NaN%", "0,5%"] {
            assert!(parse_percent(wrong).is_err_and(|error| error.contains("5%")), "{wrong}");
        }
    }

    #[test]
    fn sizes_have_units_of_1024_unless_they_say_otherwise() {
        let all = ["0", "4096", "64K", "1m", "1.5G", "2GiB", "3mib", "10kB", "16E", "7b"];
        let read = all.map(|text| parse_size(text).ok());
        let (kib, mib, gib) = (1 << 10, 1 << 20, 1_u64 << 30);
        let wanted = [0, 4096, 64 * kib, mib, gib + gib / 2, 2 * gib, 3 * mib, 10_000];
        assert_eq!(read[..8], wanted.map(Some));
        assert_eq!(read[8..], [None, Some(7)]);
    }

    #[test]
    fn what_is_no_size_says_what_would_be() {
        for bad in ["", "K", "-1", "1X", "1 K", "1KiBs", "1.2.3", "99999999999999999999", "1é"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
        assert_eq!(parse_size("3.0"), Ok(3));
        assert!(parse_size("3.5").unwrap_err().contains("whole number of bytes"));
        assert!(parse_size("5Q").unwrap_err().contains("\"Q\""));
    }

    #[test]
    fn what_is_no_number_is_told_which_would_be() {
        let rounds = number(1..=9_u32);
        assert_eq!((rounds("1"), rounds("9")), (Ok(1), Ok(9)));
        for text in ["", "x", "0", "10", "1.5", "-1", "99999999999"] {
            assert_eq!(
                rounds(text),
                Err("expected a whole number from 1 to 9".to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn durations() {
        assert_eq!(parse_duration("10"), Ok(Duration::from_secs(10)));
        assert_eq!(parse_duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        for bad in ["", "s", "0", "-1", "10d", "1e9h", "99999999999999999999", "nan", "5 s"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
