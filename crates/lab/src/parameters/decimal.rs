//! Exact decimal numbers, as people type them.

use std::fmt;

/// More digits than this would not be told apart, and could overflow.
const MAX_DIGITS: usize = 28;

/// A number that is `units` times ten to the minus `scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    units: i128,
    scale: u32,
}

/// What can't be read as a decimal number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no number of at most {MAX_DIGITS} digits, such as 3 or -0.25")]
pub struct NotDecimal(String);

impl Decimal {
    /// The number one.
    pub const ONE: Self = Self { units: 1, scale: 0 };

    /// Reads digits with at most one point, after an optional sign.
    ///
    /// # Errors
    /// Where it is something else, or has too many digits.
    pub fn parse(text: &str) -> Result<Self, NotDecimal> {
        Self::read(text).ok_or_else(|| NotDecimal(text.to_owned()))
    }

    fn read(text: &str) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let together = format!("{whole}{fraction}");
        let sound = (1..=MAX_DIGITS).contains(&together.len())
            && together.bytes().all(|byte| byte.is_ascii_digit());
        let units: i128 = together.parse().ok().filter(|_| sound)?;
        let scale = u32::try_from(fraction.len()).ok()?;
        Some(Self { units: if negative { -units } else { units }, scale })
    }

    /// True where it has no digits after a point.
    pub fn is_whole(self) -> bool {
        self.scale == 0
    }

    /// True above zero.
    pub fn is_positive(self) -> bool {
        self.units > 0
    }

    /// Digits after the point.
    pub fn scale(self) -> u32 {
        self.scale
    }

    /// The number in units of ten to the minus `scale`, which is at least its own scale and at most 28.
    pub(super) fn units(self, scale: u32) -> i128 {
        self.units.saturating_mul(10_i128.saturating_pow(scale.saturating_sub(self.scale)))
    }

    pub(super) fn of_units(units: i128, scale: u32) -> Self {
        Self { units, scale }
    }

    /// With fewer digits after the point, which must be zeros.
    pub(super) fn with_scale(self, scale: u32) -> Self {
        let surplus = 10_i128.saturating_pow(self.scale.saturating_sub(scale));
        Self { units: self.units / surplus, scale: scale.min(self.scale) }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.units < 0 { "-" } else { "" };
        let magnitude = self.units.unsigned_abs();
        if self.scale == 0 {
            return write!(f, "{sign}{magnitude}");
        }
        let one = 10_u128.saturating_pow(self.scale);
        let width = self.scale as usize;
        write!(f, "{sign}{}.{:0width$}", magnitude / one, magnitude % one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_as_they_were_typed() {
        for text in ["0", "17", "-3", "0.10", "-0.05", "12345678901234567890.12345678"] {
            assert_eq!(Decimal::parse(text).expect("number").to_string(), text);
        }
        assert_eq!(Decimal::parse(".5").expect("number").to_string(), "0.5");
        assert_eq!(Decimal::parse("+2.").expect("number").to_string(), "2");
    }

    #[test]
    fn what_is_no_number_is_refused_by_name() {
        for text in
            ["", "-", ".", "1e3", "0x1", "1 ", "1.2.3", "--1", "12345678901234567890123456789"]
        {
            let error = Decimal::parse(text).expect_err(text);
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
    }
}
