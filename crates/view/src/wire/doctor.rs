//! `hotset.doctor/1`: what this host lets hotset see.

use hotset_facts::Support;

use super::{Document, Envelope, ReadError};

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.doctor/1";

/// One line of JSON, schema `hotset.doctor/1`.
pub fn doctor_json(support: &Support) -> Vec<u8> {
    Envelope::new(SCHEMA, support).to_line()
}

/// What [`doctor_json`] wrote.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_doctor(document: &Document<'_>) -> Result<Support, ReadError> {
    document.read(SCHEMA)
}
