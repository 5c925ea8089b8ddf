//! `hotset.lab/1`: an object for each experiment, written and read. The schema is `schema/lab-1.schema.json`.
//!
//! Times are in nanoseconds, as each cell's `unit` says. A number that could not be measured is null, and `missing` says
//! why; no key is ever left out. What a session holds is read back as it was; medians, intervals and answers are derived
//! again by whoever reads it.

mod cells;
mod missing;
mod read;
mod whole;

use std::io;

use super::LabResult;

pub use read::{read_lab, sessions};

/// The schema's name.
pub const SCHEMA: &str = "hotset.lab/1";

/// Writes experiments as JSON, schema `hotset.lab/1`: a line each.
///
/// # Errors
/// As `out` gives them.
pub fn write_lab_json(results: &[LabResult], out: &mut dyn io::Write) -> io::Result<()> {
    for result in results {
        serde_json::to_writer(&mut *out, &whole::LabV1::of(&result.summary))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
