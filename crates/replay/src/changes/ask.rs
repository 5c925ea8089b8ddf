//! Changes as they are asked for: `buffer=64K`.

use std::fmt;

use hotset_facts::units::{number, parse_size};

use super::{Change, ChangeError, all};

/// What a change is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// Bytes, at least one.
    Size,
    /// A whole number of at least two.
    Count,
    /// Requests that are in flight together: at least two.
    Depth,
}

impl Argument {
    fn parse(self, text: &str) -> Result<u64, String> {
        match self {
            Self::Size => match parse_size(text)? {
                0 => Err("expected at least one byte".to_owned()),
                bytes => Ok(bytes),
            },
            Self::Count => number(2..=1_000_000_000_u64)(text),
            Self::Depth => number(2..=4096_u64)(text),
        }
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Size => "SIZE",
            Self::Count => "N",
            Self::Depth => "DEPTH",
        })
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.argument {
            Some(argument) => write!(f, "{}={argument}", self.name),
            None => f.write_str(self.name),
        }
    }
}

/// A change with its argument. It is displayed as it was asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    change: &'static Change,
    text: String,
    value: u64,
}

impl Asked {
    /// Which change it is.
    pub fn change(&self) -> &'static Change {
        self.change
    }

    /// Its argument, as bytes or a number; 0 of a change that takes none.
    pub fn value(&self) -> u64 {
        self.value
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Reads a change as it is asked for: its name, and where it takes one, `=` and its argument.
///
/// # Errors
/// Where there is no such change, or its argument is missing, wrong or not asked for: with the text, and what would be right.
pub fn parse(text: &str) -> Result<Asked, ChangeError> {
    let (name, argument) = match text.split_once('=') {
        Some((name, argument)) => (name, Some(argument)),
        None => (text, None),
    };
    let Some(change) = all().iter().find(|change| change.name == name) else {
        return Err(ChangeError::Unknown { text: text.to_owned() });
    };
    let value = match (change.argument, argument) {
        (None, None) => Ok(0),
        (None, Some(_)) => Err("it takes no argument".to_owned()),
        (Some(_), None) => Err("its argument is missing".to_owned()),
        (Some(kind), Some(argument)) => kind.parse(argument),
    };
    match value {
        Ok(value) => Ok(Asked { change, text: text.to_owned(), value }),
        Err(why) => Err(ChangeError::Argument { text: text.to_owned(), change, why }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_read_and_told_as_it_was_asked_for() {
        for (text, value) in
            [("buffer=64K", 65_536), ("sync-every=10", 10), ("cached", 0), ("buffer=1", 1)]
        {
            let asked = parse(text).expect("a change");
            assert_eq!((asked.value(), asked.to_string().as_str()), (value, text));
            assert!(text.starts_with(asked.change().name));
        }
    }

    #[test]
    fn what_is_no_change_is_told_what_would_be() {
        let error = |text: &str| parse(text).expect_err("no change").to_string();
        let unknown = error("bufer=64K");
        assert!(unknown.starts_with("unknown change \"bufer=64K\""), "{unknown}");
        for change in all() {
            assert!(unknown.contains(&change.to_string()), "{unknown}");
        }
        for (text, why) in [
            ("buffer", "argument is missing"),
            ("buffer=", "expected a number"),
            ("buffer=0", "at least one byte"),
            ("sync-every=1", "from 2 to"),
            ("sync-every=1.5", "from 2 to"),
            ("io_uring=1", "from 2 to"),
            ("cached=1", "no argument"),
            ("", "unknown change"),
        ] {
            let said = error(text);
            assert!(said.contains(why) && said.contains(&format!("{text:?}")), "{said}");
        }
        assert!(error("buffer=x").contains("buffer=SIZE"), "{}", error("buffer=x"));
    }

    #[test]
    fn each_change_has_a_name_of_its_own_and_a_summary_of_one_line() {
        for (at, change) in all().iter().enumerate() {
            let same = all().iter().skip(at + 1).find(|other| other.name == change.name);
            assert!(same.is_none(), "{}", change.name);
            let characters = change.summary.chars().count();
            assert!((10..=60).contains(&characters), "{}: {characters}", change.summary);
            assert!(change.summary.starts_with(char::is_uppercase), "{}", change.summary);
            let sentences = [Some(change.programmer), change.risks];
            for text in sentences.into_iter().flatten() {
                assert!(text.ends_with('.') && !text.contains("  "), "{}: {text}", change.name);
            }
            assert!(change.risks.is_some() || !change.syncs_less, "{}", change.name);
        }
    }
}
