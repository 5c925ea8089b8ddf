//! `hotset.save/1` and `hotset.restore/1`: what saving and restoring a set of cached pages came to.

use hotset_facts::{RestoreReport, SaveReport};
use serde::Serialize;

use super::{Document, Envelope, ReadError};

/// The schema's name.
pub(crate) const SAVE: &str = "hotset.save/1";
/// The schema's name.
pub(crate) const RESTORE: &str = "hotset.restore/1";

/// One line of JSON, schema `hotset.save/1`.
pub fn save_json(report: &SaveReport) -> Vec<u8> {
    Envelope::new(SAVE, report).to_line()
}

/// What [`save_json`] wrote.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_save(document: &Document<'_>) -> Result<SaveReport, ReadError> {
    document.read(SAVE)
}

/// One line of JSON, schema `hotset.restore/1`.
pub fn restore_json(report: &RestoreReport) -> Vec<u8> {
    let cached_after_pages = (!report.dry_run).then_some(report.cached_after_pages);
    let complete = report.is_complete();
    Envelope::new(RESTORE, Restored { report, cached_after_pages, complete }).to_line()
}

/// What [`restore_json`] wrote.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_restore(document: &Document<'_>) -> Result<RestoreReport, ReadError> {
    document.read(RESTORE)
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Restored<'a> {
    #[serde(flatten)]
    report: &'a RestoreReport,
    /// Pages among the wanted that are cached in the end; null where nothing was to be read.
    cached_after_pages: Option<u64>,
    /// All that the snapshot holds is cached, or would be, but for what a budget leaves out.
    complete: bool,
}
