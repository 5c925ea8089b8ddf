//! `hotset.profile/1`: one JSON object for one run. The schema is `schema/profile-1.schema.json`.
//!
//! The wire types are this module's own, so that renaming a field elsewhere never breaks a reader. A number that could
//! not be measured is `null`; no key is ever left out.

mod io;
mod rows;
mod run;

use hotset_analysis::Summary;

use run::ProfileV1;

/// One run as a line of JSON, schema `hotset.profile/1`, with a line end.
///
/// Paths that are no valid UTF-8 are given with U+FFFD in `path` and exactly in `path_hex`.
pub fn profile_json(summary: &Summary) -> Vec<u8> {
    to_line(&ProfileV1::from(summary))
}

/// A value as one line. Our wire types have string keys and no failing parts, so serialising them cannot fail.
pub(crate) fn to_line(value: &impl serde::Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests;
