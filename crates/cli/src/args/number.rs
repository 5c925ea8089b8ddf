//! Whole numbers within bounds, whose errors say which these are.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Reads a whole number within bounds.
pub(super) fn number<N>(
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

/// Reads the number of a process.
pub(super) fn pid(text: &str) -> Result<u32, String> {
    // PID_MAX_LIMIT of include/linux/threads.h.
    const LARGEST: u32 = 1 << 22;
    number(1..=LARGEST)(text).map_err(|_| format!("expected a PID, from 1 to {LARGEST}"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(pid("4194304"), Ok(4_194_304));
        assert!(pid("0").is_err() && pid("4194305").is_err() && pid("self").is_err());
    }
}
