//! The files of a command, and what it did with them when they were learned.

use std::path::PathBuf;

use hotset_facts::{
    FileId, FileRow, FileSet, Io, LearnedBy, LearnedIo, SetMember, StuckPages, Unevictable,
    Unreadable, WantedState,
};
use serde::{Deserialize, Serialize};

use super::run::State;
use crate::wire::adapt::{List, Wire as _, converted, remote};
use crate::wire::environment::FileIdDef;
use crate::wire::io::IoDef;
use crate::wire::path::{Path, UnreadableDef};
use crate::wire::profile::FileDef;
use crate::wire::unevictable::UnevictableDef;

/// The files that a command reads, maps and writes.
#[derive(Serialize, Deserialize)]
#[serde(remote = "FileSet")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SetDef {
    #[serde(with = "LearnedByDef")]
    learned_by: LearnedBy,
    #[serde(with = "List::<MemberDef>")]
    members: Vec<SetMember>,
    /// Files that belong here but could not be opened; their state is neither set nor verified.
    #[serde(with = "List::<UnreadableDef>")]
    unreadable: Vec<Unreadable>,
}

/// How the files became known: in a run under the sensor, in a run whose system calls were traced, by a list; or not.
#[derive(Serialize, Deserialize)]
#[serde(remote = "LearnedBy", rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum LearnedByDef {
    Sensor,
    Trace,
    Given,
    Nothing,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "SetMember")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MemberDef {
    #[serde(flatten, with = "Path")]
    path: PathBuf,
    #[serde(flatten, with = "FileIdDef")]
    id: FileId,
    /// Its size when it was learned.
    size_bytes: u64,
    /// Its time of last change when it was learned, in nanoseconds since 1970.
    mtime_ns: i64,
    /// The command reads it.
    read: bool,
    /// The command maps or executes it.
    mapped: bool,
    /// The command writes it.
    written: bool,
    #[serde(flatten, with = "StuckKeys")]
    cannot_evict: Option<StuckPages>,
}

/// Pages that stay in the cache; null where none does.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct StuckKeys {
    /// How many stayed when eviction was last tried.
    stuck_pages: Option<u64>,
    /// What kept them.
    stuck_reason: Option<StuckWord>,
}

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct StuckWord(#[serde(with = "UnevictableDef")] Unevictable);

impl From<Option<StuckPages>> for StuckKeys {
    fn from(stuck: Option<StuckPages>) -> Self {
        Self {
            stuck_pages: stuck.map(|stuck| stuck.pages),
            stuck_reason: stuck.map(|stuck| StuckWord(stuck.reason)),
        }
    }
}

impl From<StuckKeys> for Option<StuckPages> {
    fn from(keys: StuckKeys) -> Self {
        let reason = keys.stuck_reason.map_or(Unevictable::Unknown, |word| word.0);
        keys.stuck_pages.map(|pages| StuckPages { pages, reason })
    }
}

/// What the sensor saw of a command's I/O.
#[derive(Serialize, Deserialize)]
#[serde(remote = "LearnedIo")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct LearnedDef {
    /// The state in which that run began.
    #[serde(with = "State")]
    state: WantedState,
    /// Its wall time.
    wall_ns: u64,
    /// The sum over all files.
    #[serde(with = "IoDef")]
    totals: Io,
    /// A row a file, most from the device first.
    #[serde(with = "List::<FileDef>")]
    files: Vec<FileRow>,
}

remote!(SetDef => FileSet, MemberDef => SetMember, LearnedDef => LearnedIo);
converted!(StuckKeys => Option<StuckPages>);
