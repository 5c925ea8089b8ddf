//! Parameters of a command line: which values they take, and how a value gets into the words. hyperfine's rules.

mod decimal;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

pub use decimal::{Decimal, NotDecimal};

/// More values than this are a slip of the finger.
const MAX_VALUES: i128 = 100_000;

/// A parameter and the values that it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, which stands in braces in a command.
    pub name: String,
    /// Its values in order.
    pub values: Vec<String>,
}

/// Why there are no values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// A bound or the step is no number.
    #[error(transparent)]
    Number(#[from] NotDecimal),
    /// The range holds nothing.
    #[error(
        "the range {from} to {to} is empty; the first number must not be larger than the second"
    )]
    Empty {
        /// The first bound.
        from: String,
        /// The second bound.
        to: String,
    },
    /// It would never end.
    #[error("a step of {0} leads nowhere; it must be larger than 0")]
    Step(String),
    /// Bounds with a point and no step.
    #[error("{0} is no whole number, so the step must be given (--parameter-step-size)")]
    StepNeeded(String),
    /// Too many values.
    #[error("the range has more than {MAX_VALUES} values")]
    TooMany,
    /// One name twice.
    #[error("parameter {0:?} is given twice")]
    Twice(String),
}

/// The values from `from` to `to`, both included, `step` apart (1 where not given), in exact decimal arithmetic.
///
/// # Errors
/// Where these are no numbers, or a range that is empty or endless.
pub fn scan(from: &str, to: &str, step: Option<&str>) -> Result<Vec<String>, ParameterError> {
    let [first, last] = [from, to].map(Decimal::parse);
    let (first, last) = (first?, last?);
    let step = match step {
        Some(step) => Decimal::parse(step)?,
        None if first.is_whole() && last.is_whole() => Decimal::ONE,
        None => {
            let text = if first.is_whole() { to } else { from };
            return Err(ParameterError::StepNeeded(text.to_owned()));
        }
    };
    if !step.is_positive() {
        return Err(ParameterError::Step(step.to_string()));
    }
    let scale = first.scale().max(last.scale()).max(step.scale());
    let [at, end, apart] = [first, last, step].map(|number| number.units(scale));
    if at > end {
        return Err(ParameterError::Empty { from: from.to_owned(), to: to.to_owned() });
    }
    let count = (end - at) / apart + 1;
    if count > MAX_VALUES {
        return Err(ParameterError::TooMany);
    }
    // As hyperfine writes them: the first as it was typed, the others with the digits of a sum.
    let digits = first.scale().max(step.scale());
    let later = (1..count).map(|n| Decimal::of_units(at + n * apart, scale).with_scale(digits));
    Ok(std::iter::once(first).chain(later).map(|value| value.to_string()).collect())
}

/// The values of a list: separated by commas; `\,` is a comma within a value and `\\` a backslash.
pub fn list(text: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let escaped = (character == '\\').then(|| characters.next_if(|c| matches!(c, ',' | '\\')));
        match (character, escaped.flatten(), values.last_mut()) {
            (',', None, _) => values.push(String::new()),
            (character, escaped, Some(value)) => value.push(escaped.unwrap_or(character)),
            (_, _, None) => {}
        }
    }
    values
}

/// Every combination of values, those of the first parameter changing fastest; one empty combination without parameters.
///
/// # Errors
/// Where a name is given twice.
pub fn combinations(
    parameters: &[Parameter],
) -> Result<Vec<Vec<(String, String)>>, ParameterError> {
    let mut all: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for (place, parameter) in parameters.iter().enumerate() {
        if parameters[..place].iter().any(|earlier| earlier.name == parameter.name) {
            return Err(ParameterError::Twice(parameter.name.clone()));
        }
        let longer = |value: &String, combination: &Vec<(String, String)>| {
            let pair = (parameter.name.clone(), value.clone());
            combination.iter().cloned().chain([pair]).collect()
        };
        all = parameter
            .values
            .iter()
            .flat_map(|value| {
                all.iter().map(|combination| longer(value, combination)).collect::<Vec<_>>()
            })
            .collect();
    }
    Ok(all)
}

/// The word with each `{name}` replaced by its value, once: braces that come with a value stay.
pub fn replace(word: &OsStr, values: &[(String, String)]) -> OsString {
    let mut rest = word.as_bytes();
    let mut done = Vec::with_capacity(rest.len());
    while let Some((&byte, tail)) = rest.split_first() {
        let named = values.iter().find_map(|(name, value)| {
            let after = tail.strip_prefix(name.as_bytes())?.strip_prefix(b"}")?;
            Some((value, after))
        });
        match named.filter(|_| byte == b'{') {
            Some((value, after)) => {
                done.extend_from_slice(value.as_bytes());
                rest = after;
            }
            None => {
                done.push(byte);
                rest = tail;
            }
        }
    }
    OsString::from_vec(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(from: &str, to: &str, step: Option<&str>) -> String {
        scan(from, to, step).expect("values").join(" ")
    }

    #[test]
    fn both_ends_of_a_scan_are_included() {
        assert_eq!(scanned("1", "4", None), "1 2 3 4");
        assert_eq!(scanned("-2", "4", Some("3")), "-2 1 4");
        assert_eq!(scanned("1", "1", None), "1");
        assert_eq!(scanned("1", "8", Some("3")), "1 4 7");
    }

    #[test]
    fn tenths_add_up_exactly() {
        assert_eq!(scanned("0.1", "0.7", Some("0.2")), "0.1 0.3 0.5 0.7");
        assert_eq!(scanned("0", "1", Some("0.5")), "0 0.5 1.0");
        assert_eq!(scanned("-0.25", "0.25", Some(".25")), "-0.25 0.00 0.25");
    }

    #[test]
    fn ranges_without_sense_are_named() {
        assert!(matches!(scan("2", "1", None), Err(ParameterError::Empty { .. })));
        assert!(matches!(scan("1", "2", Some("0")), Err(ParameterError::Step(_))));
        assert!(matches!(scan("1", "2", Some("-1")), Err(ParameterError::Step(_))));
        assert!(matches!(scan("0.5", "2", None), Err(ParameterError::StepNeeded(_))));
        assert!(matches!(scan("1", "x", None), Err(ParameterError::Number(_))));
        assert_eq!(scan("0", "100000", None), Err(ParameterError::TooMany));
        assert_eq!(scan("1", "100000", None).expect("values").len(), 100_000);
    }

    #[test]
    fn lists_split_at_commas_that_are_not_escaped() {
        assert_eq!(list("a,b"), ["a", "b"]);
        assert_eq!(list(r"a\,b,\\,c\d,"), ["a,b", r"\", r"c\d", ""]);
        assert_eq!(list(""), [""]);
    }

    #[test]
    fn the_first_parameter_changes_fastest() {
        let parameter = |name: &str, values: [&str; 2]| Parameter {
            name: name.to_owned(),
            values: values.map(str::to_owned).to_vec(),
        };
        let both = [parameter("x", ["1", "2"]), parameter("y", ["a", "b"])];
        let words: Vec<String> = combinations(&both)
            .expect("combinations")
            .iter()
            .map(|values| replace("{x}{y}".as_ref(), values).into_string().expect("UTF-8"))
            .collect();
        assert_eq!(words, ["1a", "2a", "1b", "2b"]);
        assert_eq!(combinations(&[]).expect("one"), [vec![]]);
        let twice = [both[0].clone(), both[0].clone()];
        assert_eq!(combinations(&twice), Err(ParameterError::Twice("x".to_owned())));
    }

    #[test]
    fn a_value_is_put_in_once_and_bytes_stay_bytes() {
        let values = [("a".to_owned(), "{b}".to_owned()), ("b".to_owned(), "{a}".to_owned())];
        assert_eq!(replace("{a}{b}{c}{a".as_ref(), &values), "{b}{a}{c}{a");
        let word = OsStr::from_bytes(b"\xff{a}");
        assert_eq!(replace(word, &values).as_bytes(), b"\xff{b}");
    }
}
