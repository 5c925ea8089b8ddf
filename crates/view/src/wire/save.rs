//! `hotset.save/1` and `hotset.restore/1`: what saving and restoring a set of cached pages came to.

use std::path::PathBuf;

use hotset_facts::{NamedFew, RestoreReport, RestoreStop, SaveReport, Skipped, Unreadable};
use serde::{Deserialize, Serialize};

use super::adapt::{List, Maybe, Owned, Wire as _, converted, remote};
use super::path::{CgroupPath, File, OptionalFile, UnreadableDef};
use super::{Document, Envelope, ReadError};

/// The schema's name.
pub(crate) const SAVE: &str = "hotset.save/1";
/// The schema's name.
pub(crate) const RESTORE: &str = "hotset.restore/1";

/// One line of JSON, schema `hotset.save/1`.
pub fn save_json(report: &SaveReport) -> Vec<u8> {
    Envelope::new(SAVE, Saved { report }).to_line()
}

/// What [`save_json`] wrote.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_save(document: &Document<'_>) -> Result<SaveReport, ReadError> {
    document.read::<Owned<SaveDef>>(SAVE).map(|read| read.0)
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
    document.read::<Owned<RestoreDef>>(RESTORE).map(|read| read.0)
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Saved<'a> {
    #[serde(flatten, with = "SaveDef")]
    report: &'a SaveReport,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Restored<'a> {
    #[serde(flatten, with = "RestoreDef")]
    report: &'a RestoreReport,
    /// Pages among the wanted that are cached in the end; null where nothing was to be read.
    cached_after_pages: Option<u64>,
    /// All that the snapshot holds is cached, or would be, but for what a budget leaves out.
    complete: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "SaveReport")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SaveDef {
    #[serde(flatten, with = "OptionalFile")]
    file: Option<PathBuf>,
    /// Bytes of a base page.
    #[serde(rename = "page_size_bytes")]
    page_bytes: u64,
    /// Files with cached pages: those that were saved.
    files: u64,
    /// Their ranges.
    ranges: u64,
    /// The pages in these.
    pages: u64,
    /// The bytes that all this took.
    snapshot_bytes: u64,
    /// Files without a cached page.
    uncached_files: u64,
    #[serde(flatten, with = "UnreadableFew")]
    refused: NamedFew,
    #[serde(with = "SkippedDef")]
    skipped: Skipped,
    /// Processes whose open files nobody may see, so that their use of files isn't counted.
    hidden_processes: u64,
    /// It was stopped; nothing is kept then.
    interrupted: bool,
}

/// What was passed over, by kind.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Skipped")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SkippedDef {
    /// Sockets, pipes and what else has no pages.
    not_cacheable: u64,
    /// Further names of files that were seen already.
    repeated_links: u64,
    /// Symbolic links.
    symlinks: u64,
    /// What is on another file system.
    other_file_systems: u64,
    /// What went away while it was looked at.
    vanished: u64,
}

/// Paths with reasons, and how many there were.
macro_rules! named_few {
    ($name:ident { $named:ident, $count:ident }) => {
        #[derive(Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        struct $name {
            /// How many.
            $count: u64,
            /// The first of them.
            #[serde(with = "List::<UnreadableDef>")]
            $named: Vec<Unreadable>,
        }

        impl From<NamedFew> for $name {
            fn from(few: NamedFew) -> Self {
                Self { $count: few.count, $named: few.named }
            }
        }

        impl From<$name> for NamedFew {
            fn from(keys: $name) -> Self {
                Self { count: keys.$count, named: keys.$named }
            }
        }

        converted!($name => NamedFew);
    };
}

named_few!(UnreadableFew { unreadable, unreadable_count });
named_few!(ChangedFew { changed, changed_count });
named_few!(VanishedFew { vanished, vanished_count });

#[derive(Serialize, Deserialize)]
#[serde(remote = "RestoreReport")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RestoreDef {
    #[serde(flatten, with = "File")]
    file: PathBuf,
    /// Bytes of a base page.
    #[serde(rename = "page_size_bytes")]
    page_bytes: u64,
    /// When the snapshot was made, in seconds since 1970.
    created_s: u64,
    /// Files that the snapshot holds.
    files: u64,
    /// Pages that it holds.
    pages: u64,
    /// Files that are as they were when they were saved.
    unchanged_files: u64,
    #[serde(flatten, with = "ChangedFew")]
    changed: NamedFew,
    #[serde(flatten, with = "VanishedFew")]
    vanished: NamedFew,
    #[serde(flatten, with = "UnreadableFew")]
    refused: NamedFew,
    /// Pages of unchanged files that the budget leaves out.
    beyond_budget_pages: u64,
    /// Pages that were to be cached in the end.
    wanted_pages: u64,
    /// Pages among them that were cached before.
    cached_before_pages: u64,
    /// Pages among them that were missing and asked for.
    fetched_pages: u64,
    #[serde(deserialize_with = "OrZero::deserialize", skip_serializing)]
    cached_after_pages: u64,
    /// Pages among them of which nobody tells this user whether they are cached.
    unknown_pages: u64,
    /// Time of reading alone, without verifying.
    read_ns: u64,
    /// Nothing was to be read.
    dry_run: bool,
    /// Why it ended early; null where it did not.
    #[serde(with = "Maybe::<StopKeys>")]
    stopped: Option<RestoreStop>,
}

/// A count that the fact has as 0 where it was not looked at.
#[derive(Deserialize)]
#[serde(transparent)]
struct OrZero(Option<u64>);

impl OrZero {
    fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        let read: Self = serde::Deserialize::deserialize(from)?;
        Ok(read.0.unwrap_or_default())
    }
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct StopKeys {
    reason: StopWord,
    /// What the host or the control group leaves for file cache.
    room_bytes: Option<u64>,
    /// The control group that sets the limit; null where it is the host.
    #[serde(flatten, with = "CgroupPath")]
    cgroup: Option<PathBuf>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum StopWord {
    Interrupted,
    Memory,
}

impl From<RestoreStop> for StopKeys {
    fn from(stop: RestoreStop) -> Self {
        match stop {
            RestoreStop::Interrupted => {
                Self { reason: StopWord::Interrupted, room_bytes: None, cgroup: None }
            }
            RestoreStop::Memory { room_bytes, group } => {
                Self { reason: StopWord::Memory, room_bytes: Some(room_bytes), cgroup: group }
            }
        }
    }
}

impl From<StopKeys> for RestoreStop {
    fn from(keys: StopKeys) -> Self {
        match keys.reason {
            StopWord::Interrupted => Self::Interrupted,
            StopWord::Memory => {
                Self::Memory { room_bytes: keys.room_bytes.unwrap_or_default(), group: keys.cgroup }
            }
        }
    }
}

remote!(SaveDef => SaveReport, RestoreDef => RestoreReport, SkippedDef => Skipped);
converted!(StopKeys => RestoreStop);
