//! The files of a session: who they are, what they are called, and how long that is kept.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use hotset_facts::{Dev, FileId, FileKind, LiveFile, Observed, Reason};
use hotset_sys::proc::mountinfo::{self, Mount};

use crate::event::{Event, NamedFile, decode};
use crate::names::{Names, kind_of, path_by_id};
use crate::record::FileKey;

/// Distinct files that are kept.
const MAX_FILES: usize = 262_144;
/// Directories beyond which those without a file are dropped.
const MAX_DIRECTORIES: usize = 65_536;
/// A name comes with a row; without one it is dropped after so many samples.
const UNUSED_SAMPLES: u32 = 2;

const NAME_LOST: Reason = Reason::lost("the record of its name did not fit into the ring");
const NAMES_OFF: Reason = Reason::not_measured("files are not told apart");
const NO_FILE: Reason = Reason::not_measured("a call without a file at hand");
const ALL_FILE_SYSTEMS: Reason = Reason::not_measured("all file systems");
const NOT_MOUNTED: Reason = Reason::not_measured("not mounted where hotset looks");

#[derive(Debug)]
struct Name {
    parent: u64,
    name: Box<[u8]>,
    used: bool,
}

#[derive(Debug)]
struct Entry {
    key: FileKey,
    kind: FileKind,
    name: Option<Name>,
    path: Option<Arc<PathBuf>>,
    deleted: bool,
    /// The device by which its file system is mounted.
    mounted: u32,
    rows: u32,
    /// The sample before which it was named last or lost its last row.
    touched: u32,
    /// The sample that it stands in last, and where.
    shown: (u32, u32),
}

/// All files that have a row, or a name that arrived before its row was seen.
#[derive(Debug)]
pub(crate) struct Files {
    entries: Vec<Option<Entry>>,
    vacant: Vec<u32>,
    by_key: HashMap<FileKey, u32>,
    names: Names,
    /// Those that may be dropped soon.
    unused: Vec<u32>,
    mounts: Vec<Mount>,
    purge_at: usize,
    wanted: bool,
    /// The number of the sample to come; in 32 bits it wraps after 13 years of the shortest interval.
    now: u32,
    /// Records that could not be decoded or kept.
    pub(crate) lost: u64,
}

impl Files {
    pub(crate) fn new(wanted: bool) -> Self {
        Self {
            entries: Vec::new(),
            vacant: Vec::new(),
            by_key: HashMap::new(),
            names: Names::default(),
            unused: Vec::new(),
            mounts: Vec::new(),
            purge_at: MAX_DIRECTORIES,
            wanted,
            now: 0,
            lost: 0,
        }
    }

    /// Takes one ring record.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        match decode(bytes) {
            Ok(Event::Node { id, parent, dev, name }) => {
                if !self.names.add(id, parent, dev, name) {
                    self.lost += 1;
                }
            }
            Ok(Event::File { key, file }) => self.named(key, file),
            _ => self.lost += 1,
        }
    }

    pub(crate) fn named(&mut self, key: FileKey, file: NamedFile) {
        let now = self.now;
        let Some(index) = self.find_or_add(key, file.mode) else { return };
        let Some(Some(entry)) = self.entries.get_mut(index as usize) else { return };
        entry.touched = now;
        entry.deleted = file.deleted;
        entry.mounted = file.mounted;
        let better = entry.name.as_ref().is_none_or(|known| file.used || !known.used);
        let same = entry.name.as_ref().is_some_and(|known| {
            known.parent == file.parent
                && leaf(known, entry.path.as_deref()) == &*file.name
                && known.used == file.used
        });
        if better && !same {
            entry.name = Some(Name { parent: file.parent, name: file.name, used: file.used });
            entry.path = None;
        }
    }

    fn find_or_add(&mut self, key: FileKey, mode: u32) -> Option<u32> {
        if let Some(&index) = self.by_key.get(&key) {
            return Some(index);
        }
        if self.by_key.len() >= MAX_FILES {
            self.lost += 1;
            return None;
        }
        let entry = Entry {
            key,
            kind: kind_of(key, mode),
            name: None,
            path: None,
            deleted: false,
            mounted: key.dev,
            rows: 0,
            touched: self.now,
            shown: (0, 0),
        };
        let index = match self.vacant.pop() {
            Some(index) => index,
            None => {
                self.entries.push(None);
                (self.entries.len() - 1) as u32
            }
        };
        self.entries[index as usize] = Some(entry);
        self.by_key.insert(key, index);
        self.unused.push(index);
        Some(index)
    }

    /// Whether files are told apart; if not, there is one for each file system.
    pub(crate) fn are_apart(&self) -> bool {
        self.wanted
    }

    /// A row of this file began; `None` where there are too many files.
    pub(crate) fn hold(&mut self, key: FileKey, mode: u32) -> Option<u32> {
        let key = if self.wanted { key } else { FileKey { ino: 0, generation: 0, ..key } };
        let index = self.find_or_add(key, mode)?;
        self.entries.get_mut(index as usize)?.as_mut()?.rows += 1;
        Some(index)
    }

    /// A row says by which device the file's file system is mounted; 0 where it does not know.
    pub(crate) fn mounted(&mut self, index: u32, device: u32) {
        if device != 0
            && let Some(Some(entry)) = self.entries.get_mut(index as usize)
        {
            entry.mounted = device;
        }
    }

    /// A row of it is gone.
    pub(crate) fn release(&mut self, index: u32) {
        let now = self.now;
        if let Some(Some(entry)) = self.entries.get_mut(index as usize) {
            entry.rows = entry.rows.saturating_sub(1);
            if entry.rows == 0 {
                entry.touched = now;
                self.unused.push(index);
            }
        }
    }

    /// The place of a file in the list of this sample, put there at first need.
    pub(crate) fn place(&mut self, index: u32, list: &mut Vec<LiveFile>) -> Option<u32> {
        let now = self.now;
        let entry = self.entries.get_mut(index as usize)?.as_mut()?;
        if entry.shown.0 == now {
            return Some(entry.shown.1);
        }
        entry.shown = (now, list.len() as u32);
        if self.wanted {
            find_path(entry, &self.names, &self.mounts);
        }
        let missing = match entry.key {
            _ if !self.wanted => NAMES_OFF,
            FileKey::NONE => NO_FILE,
            _ if entry.kind == FileKind::AllFileSystems => ALL_FILE_SYSTEMS,
            _ if entry.kind == FileKind::FileSystem => NOT_MOUNTED,
            _ => NAME_LOST,
        };
        list.push(LiveFile {
            id: entry.key.id(),
            kind: entry.kind,
            path: entry.path.clone().map_or(Observed::Missing(missing), Observed::Value),
            deleted: entry.deleted,
            mounted: Dev::from_kernel(entry.mounted),
        });
        Some(entry.shown.1)
    }

    /// Gives a file of a sample the path that came up since.
    pub(crate) fn name_again(&mut self, shown: &mut LiveFile) {
        let Some(index) = self.find(shown.id) else { return };
        let Some(Some(entry)) = self.entries.get_mut(index as usize) else { return };
        find_path(entry, &self.names, &self.mounts);
        if let Some(path) = &entry.path {
            shown.path = Observed::Value(Arc::clone(path));
            shown.deleted = entry.deleted;
            shown.mounted = Dev::from_kernel(entry.mounted);
        }
    }

    /// A sample begins: its number. Mounts are read anew, for names that have none of their own.
    pub(crate) fn begin(&mut self, now: u64) {
        self.now = now as u32;
        if self.wanted
            && let Ok(mounts) = mountinfo::own()
        {
            self.mounts = mounts;
        }
    }

    /// Drops files that have no row any more, and says whether the sensor must send all directories again.
    pub(crate) fn end(&mut self) -> bool {
        let now = self.now;
        let candidates = std::mem::take(&mut self.unused);
        for index in candidates {
            let Some(Some(entry)) = self.entries.get(index as usize) else { continue };
            if entry.rows > 0 {
                continue;
            }
            if entry.touched + UNUSED_SAMPLES > now {
                self.unused.push(index);
                continue;
            }
            self.by_key.remove(&entry.key);
            self.entries[index as usize] = None;
            self.vacant.push(index);
        }
        if self.names.len() < self.purge_at {
            return false;
        }
        let used = self.entries.iter().flatten().filter_map(|entry| entry.name.as_ref());
        self.names.retain(used.map(|name| name.parent));
        self.purge_at = (self.names.len() * 2).max(MAX_DIRECTORIES);
        true
    }

    /// Which file, by its identity.
    pub(crate) fn find(&self, id: FileId) -> Option<u32> {
        let dev = id.dev.major << 20 | id.dev.minor;
        let generation = id.generation.unwrap_or(0);
        self.by_key.get(&FileKey { ino: id.ino, dev, generation }).copied()
    }

    /// Keeps a directory as if the sensor had sent it.
    #[cfg(test)]
    pub(crate) fn take_directory(&mut self, id: u64, parent: u64, name: &[u8]) {
        self.names.add(id, parent, 0, name.to_vec());
    }

    /// Files that are kept.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.by_key.len()
    }
}

/// A file's name in its directory: with a path, that is the end of it.
fn leaf<'a>(name: &'a Name, path: Option<&'a PathBuf>) -> &'a [u8] {
    let end = path.and_then(|path| path.file_name());
    end.map_or(&name.name, |end| end.as_bytes())
}

/// Whether a file's name did not arrive, or not yet.
pub(crate) fn is_unnamed(shown: &LiveFile) -> bool {
    shown.path.reason() == Some(NAME_LOST)
}

/// Puts the names of a file together, where that was not done and can be.
fn find_path(entry: &mut Entry, names: &Names, mounts: &[Mount]) {
    if entry.path.is_some() {
        return;
    }
    entry.path = path_of(entry, names, mounts).map(Arc::new);
    if let (Some(_), Some(name)) = (&entry.path, &mut entry.name) {
        // The path ends with it.
        name.name = Box::default();
    }
}

fn path_of(entry: &Entry, names: &Names, mounts: &[Mount]) -> Option<PathBuf> {
    if let Some(path) = path_by_id(entry.kind, entry.key.id(), mounts) {
        return Some(path);
    }
    let name = entry.name.as_ref()?;
    let mut path = names.path(name.parent, &name.name, mounts)?;
    path.shrink_to_fit();
    Some(path)
}

#[cfg(test)]
mod tests;
