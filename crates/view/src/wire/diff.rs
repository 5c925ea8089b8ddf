//! `hotset.diff/1`: what two runs or two recordings differ in.

use hotset_analysis::diff::Difference;

use super::{Document, Envelope, ReadError};

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.diff/1";

/// One line of JSON, schema `hotset.diff/1`.
pub fn diff_json(difference: &Difference) -> Vec<u8> {
    Envelope::new(SCHEMA, difference).to_line()
}

/// What [`diff_json`] wrote.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_diff(document: &Document<'_>) -> Result<Difference, ReadError> {
    document.read(SCHEMA)
}
