//! A limit on one number, and how people write it.

use std::fmt;
use std::str::FromStr;

use crate::Unit;
use crate::units::{bytes, count, duration, parse_duration, parse_size};

/// An amount as it was written: a bare number fits any unit (of time it is nanoseconds), one with a unit only its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount {
    /// The number, in bytes or nanoseconds where it has a unit.
    pub number: u64,
    /// What it was written in; none of a bare number.
    pub unit: Option<Unit>,
}

/// What a number may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// This or less.
    AtMost(Amount),
    /// This and nothing else.
    Exactly(Amount),
    /// This or more.
    AtLeast(Amount),
    /// At most so many percent more than the check's baseline had; 0 is as much.
    AboveBaseline {
        /// Not negative, finite.
        percent: f64,
    },
}

/// A limit on one number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// What the number may be.
    pub bound: Bound,
    /// A number that can't be measured here is no failure.
    pub if_measured: bool,
}

/// What is right where a limit is not.
const EXPECTED: &str = "expected e.g. \"at most 4 MiB\", \"exactly 12\", \"at least 1\" or \"at most 5 % above the baseline\", \
                        with \", if measured\" behind it where the number may be missing";

impl Limit {
    /// Up to `number`.
    pub fn at_most(number: u64) -> Self {
        Self { bound: Bound::AtMost(Amount { number, unit: None }), if_measured: false }
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let line = words.join(" ");
        let (rest, if_measured) = match line.strip_suffix("if measured") {
            Some(rest) => (rest.trim_end().trim_end_matches(',').trim_end(), true),
            None => (line.as_str(), false),
        };
        let bound = bound(rest).map_err(|why| format!("\"{text}\": {why}"))?;
        Ok(Self { bound, if_measured })
    }
}

fn bound(text: &str) -> Result<Bound, String> {
    if let Some(rest) = text.strip_prefix("exactly ") {
        return amount(rest).map(Bound::Exactly);
    }
    if let Some(rest) = text.strip_prefix("at least ") {
        return amount(rest).map(Bound::AtLeast);
    }
    let Some(rest) = text.strip_prefix("at most ") else { return Err(EXPECTED.to_owned()) };
    let Some(percent) = rest.strip_suffix("above the baseline") else {
        return amount(rest).map(Bound::AtMost);
    };
    let number = percent.trim_end().strip_suffix('%').map(|number| number.trim_end().parse());
    match number {
        Some(Ok(percent)) if f64::is_finite(percent) && percent >= 0.0 => {
            Ok(Bound::AboveBaseline { percent })
        }
        _ => Err(format!("\"{}\" is no percentage; expected e.g. 5 %", percent.trim_end())),
    }
}

/// Reads an amount: `1,234`, `4 MiB`, `64K`, `10 ms`.
fn amount(text: &str) -> Result<Amount, String> {
    let compact: String = text.chars().filter(|c| !matches!(c, ' ' | ',' | '_')).collect();
    if let Ok(number) = compact.parse() {
        return Ok(Amount { number, unit: None });
    }
    let small = [("ns", 1.0), ("µs", 1e3), ("us", 1e3)].into_iter().find_map(|(unit, ns)| {
        let number: f64 = compact.strip_suffix(unit)?.parse().ok()?;
        (number >= 0.0 && number.is_finite()).then_some((number * ns).round() as u64)
    });
    if let Some(number) = small {
        return Ok(Amount { number, unit: Some(Unit::Nanoseconds) });
    }
    let timed = compact.strip_suffix("min").map(|minutes| format!("{minutes}m"));
    if timed.is_some() || compact.ends_with(['s', 'h']) {
        let read = parse_duration(timed.as_deref().unwrap_or(&compact));
        let number = read.map(crate::units::nanos).map_err(|why| format!("\"{text}\": {why}"))?;
        return Ok(Amount { number, unit: Some(Unit::Nanoseconds) });
    }
    let number = parse_size(&compact).map_err(|why| format!("\"{text}\": {why}"))?;
    Ok(Amount { number, unit: Some(Unit::Bytes) })
}

/// A number of this unit, so that [`Limit`] reads exactly it again.
pub fn exact(number: u64, unit: Unit) -> String {
    const BINARY: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    match unit {
        Unit::Bytes if number > 0 => {
            let power = (number.trailing_zeros() / 10).min(BINARY.len() as u32 - 1);
            format!("{} {}", count(number >> (10 * power)), BINARY[power as usize])
        }
        Unit::Nanoseconds if number > 0 => format!("{} ns", count(number)),
        _ => count(number),
    }
}

/// A number of this unit, rounded to three digits where it has a unit.
pub fn rounded(number: u64, unit: Unit) -> String {
    match unit {
        Unit::Bytes => bytes(number),
        Unit::Nanoseconds => duration(number),
        Unit::Count | Unit::Pages => count(number),
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amount = |of: Amount| exact(of.number, of.unit.unwrap_or(Unit::Count));
        match self.bound {
            Bound::AtMost(most) => write!(f, "at most {}", amount(most))?,
            Bound::Exactly(number) => write!(f, "exactly {}", amount(number))?,
            Bound::AtLeast(least) => write!(f, "at least {}", amount(least))?,
            Bound::AboveBaseline { percent } => {
                write!(f, "at most {percent} % above the baseline")?
            }
        }
        if self.if_measured { f.write_str(", if measured") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Bound, bool), String> {
        text.parse().map(|limit: Limit| (limit.bound, limit.if_measured))
    }

    fn of(number: u64, unit: Option<Unit>) -> Amount {
        Amount { number, unit }
    }

    #[test]
    fn limits_are_written_as_people_say_them() {
        let bytes = Some(Unit::Bytes);
        let time = Some(Unit::Nanoseconds);
        let good = [
            ("at most 12", Bound::AtMost(of(12, None)), false),
            ("at most  4 MiB", Bound::AtMost(of(4 << 20, bytes)), false),
            ("exactly 1,234", Bound::Exactly(of(1234, None)), false),
            ("exactly 0, if measured", Bound::Exactly(of(0, None)), true),
            ("at least 64K if measured", Bound::AtLeast(of(64 << 10, bytes)), true),
            ("at most 10 ms", Bound::AtMost(of(10_000_000, time)), false),
            ("at most 2 min", Bound::AtMost(of(120_000_000_000, time)), false),
            ("at most 250 µs", Bound::AtMost(of(250_000, time)), false),
            ("at most 7.5 % above the baseline", Bound::AboveBaseline { percent: 7.5 }, false),
            ("at most 0% above the baseline", Bound::AboveBaseline { percent: 0.0 }, false),
        ];
        for (text, bound, if_measured) in good {
            assert_eq!(read(text), Ok((bound, if_measured)), "{text}");
        }
    }

    #[test]
    fn what_is_no_limit_is_told_which_would_be() {
        for bad in [
            "",
            "12",
            "most 12",
            "at most",
            "at most x",
            "exactly -1",
            "if measured",
            "at most 5 %",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        for bad in [
            "at most -1 % above the baseline",
            "at most nan % above the baseline",
            "at most above the baseline",
        ] {
            assert!(read(bad).unwrap_err().contains("percentage"), "{bad}");
        }
        assert!(read("at most 4 MiX").unwrap_err().contains("MiX"));
        assert!(read("under 4").unwrap_err().contains("expected e.g."));
    }

    #[test]
    fn what_is_written_reads_back() {
        for text in [
            "at most 12",
            "exactly 43 KiB",
            "at least 1,025 B",
            "at most 3 GiB, if measured",
            "exactly 123,456",
            "at most 7.5 % above the baseline",
        ] {
            let limit: Limit = text.parse().expect(text);
            assert_eq!(limit.to_string(), text);
        }
        assert_eq!(exact(0, Unit::Bytes), "0");
        assert_eq!(exact(u64::MAX, Unit::Bytes), "18,446,744,073,709,551,615 B");
    }
}
