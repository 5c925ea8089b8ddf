//! `hotset.profile/1`: one JSON object for one run. The schema is `schema/profile-1.schema.json`.
//!
//! The wire types are this module's own, so that renaming a field elsewhere never breaks a reader. A number that could
//! not be measured is `null`; no key is ever left out.

mod counters;
mod environment_in;
mod rows;
mod run;

use std::io;

use hotset_analysis::Summary;

pub(crate) use environment_in::EnvironmentIn;
pub(crate) use rows::{bytes_of, path_keys};
use run::ProfileV1;
pub(crate) use run::{EnvironmentV1, rfc3339};

/// Writes one run as a line of JSON, schema `hotset.profile/1`, with a line end: row by row, in many small writes, so
/// give it a buffer. What it needs itself does not grow with the run.
///
/// Paths that are no valid UTF-8 are given with U+FFFD in `path` and exactly in `path_hex`.
///
/// # Errors
/// As `out` gives them.
pub fn write_profile_json(summary: &Summary, out: &mut dyn io::Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &ProfileV1(summary))?;
    out.write_all(b"\n")
}

/// A value as one line. Our wire types have string keys and no failing parts, so serialising them cannot fail.
pub(crate) fn to_line(value: &impl serde::Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests;
