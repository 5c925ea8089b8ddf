//! Sessions out of JSON.

use hotset_facts::LabSession;
use serde_json::Value;

use super::whole::LabV1;
use crate::results::{ReadError, documents, of_schema};

/// A session out of a result of schema `hotset.lab/1`.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_lab(value: Value) -> Result<LabSession, ReadError> {
    let whole: LabV1 = of_schema(value, super::SCHEMA)?;
    whole.read()
}

/// All sessions of a file that holds nothing else.
///
/// # Errors
/// As [`documents`] and [`read_lab`].
pub fn sessions(bytes: &[u8]) -> Result<Vec<LabSession>, ReadError> {
    let results = documents(bytes)?;
    let several = results.len() > 1;
    let read = |(at, document): (usize, crate::results::Document<'_>)| {
        let inside = |error: ReadError| match several {
            true => error.inside(&format!("result {}", at + 1)),
            false => error,
        };
        document.value().and_then(read_lab).map_err(inside)
    };
    results.into_iter().enumerate().map(read).collect()
}
