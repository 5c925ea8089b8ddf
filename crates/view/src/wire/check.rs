//! `hotset.check/1`: what came of the checks of a budget.

use hotset_analysis::check::CheckReport;

use super::Envelope;

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.check/1";

/// One line of JSON, schema `hotset.check/1`.
pub fn check_json(report: &CheckReport) -> Vec<u8> {
    Envelope::new(SCHEMA, report).to_line()
}
