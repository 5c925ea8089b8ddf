//! Bytes of saved results: which documents are in them, of which schema, and what is wrong with them.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::observed::from_object;

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

/// One document of a file: its text is parsed when its format is known.
#[derive(Debug, Clone)]
pub struct Document<'a> {
    /// The schema that it names.
    pub schema: Cow<'a, str>,
    /// The version of hotset that wrote it, as it says.
    pub hotset: Cow<'a, str>,
    pub(crate) text: &'a RawValue,
}

impl Document<'_> {
    /// All of it, for documents that are small.
    pub(crate) fn value(&self) -> Result<Value, ReadError> {
        serde_json::from_str(self.text.get()).map_err(|error| ReadError::at("", error.to_string()))
    }

    /// What it holds by a declaration.
    pub(crate) fn read<T: DeserializeOwned>(&self, schema: &str) -> Result<T, ReadError> {
        self.must_be(schema)?;
        from_object(self.value()?)
    }

    pub(crate) fn must_be(&self, schema: &str) -> Result<(), ReadError> {
        if self.schema == schema {
            return Ok(());
        }
        Err(ReadError::at("schema", format!("\"{}\"; expected \"{schema}\"", self.schema)))
    }
}

/// The documents in a file: one object, several in a row or a line each, or arrays of them. Each has its schema's name.
///
/// # Errors
/// Where the bytes are not JSON, end early, hold nothing, or something without a schema.
pub fn documents(bytes: &[u8]) -> Result<Vec<Document<'_>>, ReadError> {
    let mut texts: Vec<&RawValue> = Vec::new();
    for text in serde_json::Deserializer::from_slice(bytes).into_iter::<&RawValue>() {
        let text = text.map_err(|error| no_json(&error, bytes))?;
        if text.get().starts_with('[') {
            texts.extend(
                serde_json::from_str::<Vec<&RawValue>>(text.get())
                    .map_err(|error| no_json(&error, text.get().as_bytes()))?,
            );
        } else {
            texts.push(text);
        }
    }
    if texts.is_empty() {
        return Err(ReadError::at("", "no result in it; expected what hotset writes with --json"));
    }
    let several = texts.len() > 1;
    let mut documents = Vec::with_capacity(texts.len());
    for (at, text) in texts.into_iter().enumerate() {
        documents.push(document(text).map_err(|error| match several {
            true => error.inside(&format!("result {}", at + 1)),
            false => error,
        })?);
    }
    Ok(documents)
}

fn no_json(error: &serde_json::Error, bytes: &[u8]) -> ReadError {
    if error.is_eof() || is_cut_number(error, bytes) {
        let place = format!("line {}, column {}", error.line(), error.column());
        let text = "the file ends in the middle of a result; expected a whole JSON object";
        return ReadError::at(place, text);
    }
    ReadError::at("", format!("not JSON: {error}; expected what hotset writes with --json"))
}

/// Whether the bytes end within a number, such as `-` or `1.`: to the parser that is a wrong number, and no early end.
fn is_cut_number(error: &serde_json::Error, bytes: &[u8]) -> bool {
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    let columns = bytes.rsplit(|byte| *byte == b'\n').next().map_or(0, <[u8]>::len);
    let is_at_end = (error.line(), error.column()) == (lines, columns);
    let goes_on = matches!(bytes.last(), Some(b'-' | b'+' | b'.' | b'e' | b'E'));
    is_at_end && goes_on && error.to_string().starts_with("invalid number")
}

fn document(text: &RawValue) -> Result<Document<'_>, ReadError> {
    #[derive(Deserialize)]
    struct Keys<'a> {
        #[serde(borrow)]
        schema: Option<Cow<'a, str>>,
        #[serde(borrow)]
        hotset: Option<Cow<'a, str>>,
    }
    let keys: Option<Keys<'_>> = serde_json::from_str(text.get()).ok();
    let lacks = |key: &str| {
        let text = format!("it has no \"{key}\"; expected what hotset writes with --json");
        ReadError::at("", text)
    };
    let (schema, hotset) = keys.map_or((None, None), |keys| (keys.schema, keys.hotset));
    let schema = schema.ok_or_else(|| lacks("schema"))?;
    Ok(Document { schema, hotset: hotset.ok_or_else(|| lacks("hotset"))?, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_cut_off_anywhere_ends_in_the_middle() {
        let whole = "{\"schema\": \"hotset.x/1\", \"hotset\": \"0\",\n \"a\": [-1.5e-7, 0.25, 12, true, null, \"\\u00e9\\n\"]}";
        assert!(documents(whole.as_bytes()).is_ok());
        for end in 1..whole.len() {
            let cut = documents(&whole.as_bytes()[..end]).map(|_| ());
            let said = cut.expect_err(&whole[..end]).to_string();
            assert!(said.contains("ends in the middle"), "{}: {said}", &whole[..end]);
        }
    }

    #[test]
    fn what_is_wrong_before_its_end_is_not_json() {
        for wrong in ["hello\n", "{\"a\": 1.}", "{\"a\": -}", "[-\n]", "{\"a\": 01", "\n-x"] {
            let said = documents(wrong.as_bytes()).map(|_| ()).expect_err(wrong).to_string();
            assert!(said.contains("not JSON"), "{wrong}: {said}");
        }
    }
}
