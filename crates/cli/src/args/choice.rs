//! Values that are chosen by name, for options whose values other crates define.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A value, its name, and what the help says of it.
pub(super) type Choice<T> = (T, &'static str, &'static str);

/// A parser of these values.
pub(super) fn choice<T: Copy + Send + Sync>(
    choices: &'static [Choice<T>],
) -> impl TypedValueParser<Value = T> {
    let names = choices.iter().map(|(_, name, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names).try_map(|typed| {
        let found = choices.iter().find(|(_, name, _)| *name == typed);
        found.map(|(value, ..)| *value).ok_or("no such value")
    })
}
