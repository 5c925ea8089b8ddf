//! Bytes of saved results: which schema each is of, and typed values out of them.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Why bytes are no results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// Where: `result 2, cells[3].unit`; empty where it is about the whole.
    pub place: String,
    /// What is wrong, and what would be right.
    pub text: String,
}

impl ReadError {
    pub(crate) fn at(place: impl Into<String>, text: impl Into<String>) -> Self {
        Self { place: place.into(), text: text.into() }
    }

    /// The same, inside of something.
    pub(crate) fn inside(self, outer: &str) -> Self {
        let place = if self.place.is_empty() {
            outer.to_owned()
        } else {
            format!("{outer}, {}", self.place)
        };
        Self { place, text: self.text }
    }

    /// What serde says about a part of the value, with the place in it.
    pub(crate) fn in_part(
        part: &str,
        error: &serde_path_to_error::Error<serde_json::Error>,
    ) -> Self {
        let inner = error.path().to_string();
        let place = match (part, inner.as_str()) {
            ("", ".") => String::new(),
            ("", inner) => inner.to_owned(),
            (part, ".") => part.to_owned(),
            (part, inner) => format!("{part}.{inner}"),
        };
        Self::at(place, error.inner().to_string())
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() {
            f.write_str(&self.text)
        } else {
            write!(f, "{}: {}", self.place, self.text)
        }
    }
}

impl std::error::Error for ReadError {}

/// The results in a file: one object, several in a row or a line each, or arrays of them. Each has its schema's name.
///
/// # Errors
/// Where the bytes are no JSON, end early, hold nothing, or something without a schema.
pub fn results(bytes: &[u8]) -> Result<Vec<(String, Value)>, ReadError> {
    let mut values = Vec::new();
    for value in serde_json::Deserializer::from_slice(bytes).into_iter::<Value>() {
        match value {
            Ok(Value::Array(several)) => values.extend(several),
            Ok(one) => values.push(one),
            Err(error) if error.is_eof() => {
                return Err(ReadError::at(
                    format!("line {}, column {}", error.line(), error.column()),
                    "the file ends in the middle of a result; expected a whole JSON object",
                ));
            }
            Err(error) => {
                return Err(ReadError::at(
                    "",
                    format!("no JSON: {error}; expected what hotset writes with --json"),
                ));
            }
        }
    }
    if values.is_empty() {
        return Err(ReadError::at("", "no result in it; expected what hotset writes with --json"));
    }
    let several = values.len() > 1;
    let schema = |(at, value): (usize, Value)| match value.get("schema").and_then(Value::as_str) {
        Some(schema) => Ok((schema.to_owned(), value)),
        None => {
            let place = if several { format!("result {}", at + 1) } else { String::new() };
            Err(ReadError::at(
                place,
                "it has no \"schema\"; expected what hotset writes with --json",
            ))
        }
    };
    values.into_iter().enumerate().map(schema).collect()
}

/// A value of our wire types out of a result of this schema.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub(crate) fn of_schema<T: DeserializeOwned>(value: Value, schema: &str) -> Result<T, ReadError> {
    match value.get("schema").and_then(Value::as_str) {
        Some(found) if found == schema => {}
        Some(other) => {
            return Err(ReadError::at("schema", format!("\"{other}\"; expected \"{schema}\"")));
        }
        None => return Err(ReadError::at("schema", format!("expected \"{schema}\""))),
    }
    serde_path_to_error::deserialize(value).map_err(|error| ReadError::in_part("", &error))
}
