//! `hotset.control/1`: what `warm`, `evict` and `pin` reached.

use hotset_facts::{ControlReport, ControlledFile};
use serde::{Deserialize, Serialize};

use super::{Document, Envelope, ReadError};

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.control/1";

/// One line of JSON, schema `hotset.control/1`.
pub fn control_json(report: &ControlReport, page_size_bytes: u64) -> Vec<u8> {
    let file = |file| FileKeys { file, reached: file.is_reached(report.verb) };
    Envelope::new(
        SCHEMA,
        Whole {
            report,
            files: report.files.iter().map(file).collect(),
            reached: report.is_reached(),
            page_size_bytes,
        },
    )
    .to_line()
}

/// What [`control_json`] wrote.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_control(document: &Document<'_>) -> Result<ControlDocument, ReadError> {
    document.read(SCHEMA)
}

/// A report, and the size of the pages that it counts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ControlDocument {
    /// What was reached.
    #[serde(flatten)]
    pub report: ControlReport,
    /// Bytes of a base page.
    pub page_size_bytes: u64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Whole<'a> {
    #[serde(flatten)]
    report: &'a ControlReport,
    /// The files, as far as they have a row.
    files: Vec<FileKeys<'a>>,
    /// The state that was asked for was reached, of all.
    reached: bool,
    /// Bytes of a base page.
    page_size_bytes: u64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FileKeys<'a> {
    #[serde(flatten)]
    file: &'a ControlledFile,
    /// The state that was asked for was reached.
    reached: bool,
}
