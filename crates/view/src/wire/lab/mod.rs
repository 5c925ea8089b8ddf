//! `hotset.lab/1`: one experiment of `hotset lab`. A file has a line for each.
//!
//! Times are in nanoseconds, as each cell's `unit` says. Medians, intervals and answers follow from the samples.

mod cell;
#[cfg(test)]
mod tests;

use std::io;

use hotset_analysis::bench::Warning;
use hotset_analysis::lab::{LabAnswer, LabComparison};
use hotset_facts::LabSession;
use serde::Serialize;

use self::cell::CellKeys;
use super::{Document, Envelope, ReadError};
use crate::lab::LabResult;

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.lab/1";

/// Writes experiments as JSON, schema `hotset.lab/1`: a line each.
///
/// # Errors
/// As `out` gives them.
pub fn write_lab_json(results: &[LabResult], out: &mut dyn io::Write) -> io::Result<()> {
    for result in results {
        let session = &result.summary.session;
        let envelope = Envelope::of_version(SCHEMA, &session.version, Whole::of(result));
        out.write_all(&envelope.to_line())?;
    }
    Ok(())
}

/// What [`write_lab_json`] wrote in one line.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_lab(document: &Document<'_>) -> Result<LabSession, ReadError> {
    let mut session: LabSession = document.read(SCHEMA)?;
    session.version = document.hotset.clone().into_owned();
    Ok(session)
}

/// The session and what follows from it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Whole<'a> {
    #[serde(flatten)]
    session: &'a LabSession,
    /// What was measured, and each cell in numbers.
    cells: Vec<CellKeys<'a>>,
    /// What was asked and what the cells say, the most important first.
    answers: &'a [LabAnswer],
    /// How the session compares with a baseline; null where none was named.
    baseline: Option<&'a LabComparison>,
    /// Doubts and advice, the gravest first.
    doubts: &'a [Warning],
}

impl<'a> Whole<'a> {
    fn of(result: &'a LabResult) -> Self {
        let summary = &result.summary;
        let cells = summary.session.cells.iter().zip(&summary.cells);
        Self {
            session: &summary.session,
            cells: cells.map(|(cell, numbers)| CellKeys::of(cell, numbers)).collect(),
            answers: &summary.answers,
            baseline: summary.baseline.as_ref(),
            doubts: &summary.doubts,
        }
    }
}
