//! The files of a recording.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use hotset_facts::trace::{FileIndex, TraceFile};
use hotset_sys::proc::mountinfo::Mount;

use crate::collector::Collector;
use crate::names::{kind_of, path_by_id};
use crate::record::FileKey;

/// Files that are told apart; a record of another has none.
const MAX_FILES: u32 = 1 << 20;

/// One file.
#[derive(Debug, Clone)]
struct Known {
    index: FileIndex,
    path: Option<PathBuf>,
    /// Its name is the one that a process used: it won't be told better.
    settled: bool,
}

/// All files by what the kernel knows them by.
#[derive(Debug, Default)]
pub(super) struct Files {
    places: HashMap<FileKey, usize>,
    known: Vec<Known>,
    /// The one that was asked for last: most records are of the same.
    last: Option<(FileKey, usize)>,
    added: Vec<TraceFile>,
}

impl Files {
    /// The file of a record, and its path.
    pub(super) fn find(
        &mut self,
        key: FileKey,
        collector: &Collector,
        mounts: &[Mount],
    ) -> Option<(FileIndex, Option<&[u8]>)> {
        if key == FileKey::NONE {
            return None;
        }
        let place = match self.last {
            Some((last, place)) if last == key => place,
            _ => self.place(key, collector, mounts)?,
        };
        self.last = Some((key, place));
        let known = self.known.get_mut(place)?;
        if !known.settled && collector.files.get(&key).is_some_and(|file| file.used) {
            known.path = collector.path(&key, mounts).or(known.path.take());
            known.settled = true;
        }
        Some((known.index, known.path.as_ref().map(|path| path.as_os_str().as_bytes())))
    }

    /// Where it is in the list of all; nothing where that is full.
    fn place(&mut self, key: FileKey, collector: &Collector, mounts: &[Mount]) -> Option<usize> {
        if let Some(place) = self.places.get(&key) {
            return Some(*place);
        }
        let place = self.known.len();
        let index = FileIndex(place.try_into().ok().filter(|index| *index < MAX_FILES)?);
        let (file, settled) = describe(key, collector, mounts);
        self.known.push(Known { index, path: file.path.clone(), settled });
        self.places.insert(key, place);
        self.added.push(file);
        Some(place)
    }

    /// Files that were added since they were asked for last.
    pub(super) fn added(&mut self) -> Vec<TraceFile> {
        std::mem::take(&mut self.added)
    }
}

fn describe(key: FileKey, collector: &Collector, mounts: &[Mount]) -> (TraceFile, bool) {
    let named = collector.files.get(&key);
    let kind = kind_of(key, named.map_or(0, |named| named.mode));
    let path = path_by_id(kind, key.id(), mounts).or_else(|| collector.path(&key, mounts));
    let file = TraceFile {
        path,
        kind,
        id: Some(key.id()),
        size_bytes: named.map(|named| named.size_bytes),
        cached_pages: named.map(|named| named.cached_pages),
    };
    (file, named.is_some_and(|named| named.used))
}
