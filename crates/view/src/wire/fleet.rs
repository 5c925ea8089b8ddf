//! `hotset.fleet/1`: what the analyses of a fleet found. The Python package writes it; here it is read, to be shown.

use hotset_facts::fleet::FleetAnswers;

use super::{Document, Envelope, ReadError};

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.fleet/1";

/// One line of JSON, schema `hotset.fleet/1`.
pub fn fleet_json(answers: &FleetAnswers) -> Vec<u8> {
    Envelope::new(SCHEMA, answers).to_line()
}

/// What [`fleet_json`] wrote, or the analyses.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_fleet(document: &Document<'_>) -> Result<FleetAnswers, ReadError> {
    let answers: FleetAnswers = document.read(SCHEMA)?;
    for (at, analysis) in answers.analyses.iter().enumerate() {
        let columns = analysis.columns.len();
        if let Some(row) = analysis.rows.iter().position(|row| row.len() != columns) {
            let found = analysis.rows[row].len();
            let text = format!("{found} values; expected one for each of {columns} columns");
            return Err(ReadError::at(format!("analyses[{at}].rows[{row}]"), text));
        }
    }
    Ok(answers)
}
