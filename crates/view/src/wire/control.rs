//! `hotset.control/1`: what `warm`, `evict` and `pin` reached.

use std::path::PathBuf;

use hotset_facts::{
    ControlReport, ControlTotals, ControlVerb, ControlledFile, FileId, NotCached, Observed, Stayed,
    Unevictable, Unreadable,
};
use serde::{Deserialize, Serialize};

use super::adapt::{List, Maybe, Wire as _, converted, remote};
use super::environment::FileIdDef;
use super::observed::Null;
use super::path::{Path, UnreadableDef};
use super::unevictable::UnevictableDef;
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
    #[serde(flatten, with = "ReportDef")]
    pub report: ControlReport,
    /// Bytes of a base page.
    pub page_size_bytes: u64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Whole<'a> {
    #[serde(flatten, with = "ReportDef")]
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
    #[serde(flatten, with = "FileDef")]
    file: &'a ControlledFile,
    /// The state that was asked for was reached.
    reached: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ControlReport")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ReportDef {
    #[serde(with = "VerbDef")]
    verb: ControlVerb,
    #[serde(with = "List::<FileDef>", skip_serializing)]
    files: Vec<ControlledFile>,
    /// Files beyond those that have a row; they are in the totals.
    files_left_out: u64,
    /// What could not be looked at.
    #[serde(with = "List::<UnreadableDef>")]
    unreadable: Vec<Unreadable>,
    /// What was passed over because the page cache can't hold it.
    not_cacheable: u64,
    #[serde(with = "TotalsDef")]
    totals: ControlTotals,
    /// What a person should know beside the numbers.
    notes: Vec<String>,
    /// It was stopped before its end.
    interrupted: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ControlVerb", rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum VerbDef {
    Warm,
    Evict,
    Pin,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ControlledFile")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FileDef {
    #[serde(flatten, with = "Path")]
    path: PathBuf,
    #[serde(flatten, with = "FileIdDef")]
    id: FileId,
    /// Its size.
    size_bytes: u64,
    /// Pages that it spans.
    pages: u64,
    /// Pages of it that were cached.
    #[serde(with = "Null::<u64>")]
    cached_before: Observed<u64>,
    /// Pages of it that are cached now.
    #[serde(with = "Null::<u64>")]
    cached_after: Observed<u64>,
    /// Why pages that were to be evicted stayed.
    #[serde(with = "List::<StayedDef>")]
    stayed: Vec<Stayed>,
    /// Why pages that were to be warmed or pinned are missing; null where none is.
    #[serde(with = "Maybe::<NotCachedDef>")]
    not_cached: Option<NotCached>,
    /// What went wrong; null where nothing did.
    error: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Stayed")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct StayedDef {
    #[serde(with = "UnevictableDef")]
    reason: Unevictable,
    /// How many pages; null where nobody can count them.
    pages: Option<u64>,
    #[serde(flatten, with = "HolderKeys")]
    holder: Option<(u32, String)>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "NotCached", rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum NotCachedDef {
    Unreadable,
    Budget,
    Memory,
    Interrupted,
    Unknown,
}

/// The process that holds the pages; null where none was found.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct HolderKeys {
    pid: Option<u32>,
    comm: Option<String>,
}

impl From<Option<(u32, String)>> for HolderKeys {
    fn from(holder: Option<(u32, String)>) -> Self {
        let (pid, comm) = holder.unzip();
        Self { pid, comm }
    }
}

impl From<HolderKeys> for Option<(u32, String)> {
    fn from(keys: HolderKeys) -> Self {
        keys.pid.map(|pid| (pid, keys.comm.unwrap_or_default()))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ControlTotals")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct TotalsDef {
    /// All files.
    files: u64,
    /// Files whose state is as it should be.
    files_reached: u64,
    /// Files whose state nobody knows; they are in no number of pages.
    files_unknown: u64,
    /// Their bytes.
    size_bytes: u64,
    /// Their pages.
    pages: u64,
    /// Pages that were cached.
    cached_before: u64,
    /// Pages that are cached now.
    cached_after: u64,
    /// Bytes that were read for it.
    fetched_bytes: u64,
    /// How long it took.
    wall_ns: u64,
}

remote!(FileDef => ControlledFile, StayedDef => Stayed, NotCachedDef => NotCached);
converted!(HolderKeys => Option<(u32, String)>);
