//! What a probe is told to do: words `key=value`.

use std::ffi::OsString;

/// A word `key=value` for a probe.
pub type Word = (&'static str, OsString);

/// Words as arguments of a program.
pub(crate) fn arguments(words: &[Word]) -> impl Iterator<Item = OsString> {
    words.iter().map(|(key, value)| {
        let mut word = OsString::from(format!("{key}="));
        word.push(value);
        word
    })
}
