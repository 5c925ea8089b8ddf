//! Values that are chosen by name, for options whose values other crates define.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A value, with its name and what the help says of it.
pub(super) struct Choice<T: 'static>(
    pub(super) &'static str,
    pub(super) T,
    pub(super) &'static str,
);

/// A parser of these values.
pub(super) fn choice<T: Copy + Send + Sync>(
    choices: &'static [Choice<T>],
) -> impl TypedValueParser<Value = T> {
    let names = choices.iter().map(|Choice(name, _, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names).try_map(|typed| {
        let found = choices.iter().find(|Choice(name, ..)| *name == typed);
        found.map(|Choice(_, value, _)| *value).ok_or("no such value")
    })
}
