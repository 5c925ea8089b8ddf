//! Copies of what a replay changes: made anew before each replay, from what is there now.

mod file;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use hotset_facts::replay::{FileRole, NameKind, ReplayPlan};

pub(super) use file::Origin;
use file::{CopiedFile, whole_pages};

/// What is there of copies before the first step.
#[derive(Debug, Default)]
pub(super) struct Copies {
    directories: BTreeSet<PathBuf>,
    /// Names of symbolic links, and how long what they hold is.
    links: BTreeMap<PathBuf, usize>,
    files: Vec<CopiedFile>,
    /// Files that nobody reads or writes.
    empty: Vec<PathBuf>,
    /// All names but those of directories.
    names: BTreeSet<PathBuf>,
    /// Files by their place in the plan.
    places: HashMap<u32, usize>,
}

/// What making them came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Made {
    /// Bytes that were written.
    pub(super) bytes: u64,
    /// Files whose bytes were made up, at least in part: their original is gone, or shorter.
    pub(super) made_up: u64,
}

/// An absolute path as one below a root; `..` leads nowhere above it.
pub(super) fn inside(path: &Path) -> PathBuf {
    let mut below = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => below.push(name),
            Component::ParentDir => drop(below.pop()),
            _ => {}
        }
    }
    below
}

impl Copies {
    /// What a plan needs.
    pub(super) fn of(plan: &ReplayPlan) -> Self {
        let path = |place: u32| {
            let path = plan.paths.get(place as usize)?;
            Some(PathBuf::from(OsString::from_vec(path.bytes.clone())))
        };
        let there: HashSet<u32> = plan.there.iter().map(|name| name.path).collect();
        let all = (0..).zip(&plan.paths).filter(|(_, path)| path.role == FileRole::Copy);
        let absent = all.filter(|(place, _)| !there.contains(place));
        // Made by a step, or asked for and not found.
        let absent: HashSet<PathBuf> = absent.filter_map(|(place, _)| path(place)).collect();
        let mut copies = Self::default();
        for name in &plan.there {
            let Some(own) = path(name.path) else { continue };
            match name.kind {
                NameKind::Directory => drop(copies.directories.insert(inside(&own))),
                NameKind::Link => {
                    copies.names.insert(inside(&own));
                    copies.links.insert(inside(&own), name.link_bytes as usize);
                }
                NameKind::File => copies.file(plan, name.file, own),
            }
        }
        let all = plan.paths.iter().filter(|path| path.role == FileRole::Copy);
        for path in all {
            let own = PathBuf::from(OsString::from_vec(path.bytes.clone()));
            copies.directories_above(&own, &absent);
        }
        copies
    }

    fn file(&mut self, plan: &ReplayPlan, place: Option<u32>, own: PathBuf) {
        let name = inside(&own);
        self.names.insert(name.clone());
        let file = place.and_then(|place| Some((place, plan.files.get(place as usize)?)));
        let Some((place, file)) = file else {
            self.empty.push(name);
            return;
        };
        if let Some(known) = self.places.get(&place).and_then(|at| self.files.get_mut(*at)) {
            known.names.push(name);
            return;
        }
        self.places.insert(place, self.files.len());
        let size_bytes = file.size_bytes;
        let ranges = whole_pages(&file.touched, size_bytes);
        let (is_changed, is_new) = (file.is_changed, !file.parts.is_empty());
        let (names, source) = (vec![name], own);
        self.files.push(CopiedFile { names, source, size_bytes, ranges, is_changed, is_new });
    }

    /// The directories on the way to a copy, but for those that are not there before the first step.
    fn directories_above(&mut self, path: &Path, absent: &HashSet<PathBuf>) {
        let above: Vec<&Path> = path.ancestors().skip(1).collect();
        for directory in above.into_iter().rev() {
            if absent.contains(directory) {
                return;
            }
            let below = inside(directory);
            // A path that goes through a file leads nowhere, as when it was recorded.
            if self.names.contains(&below) {
                return;
            }
            self.directories.insert(below);
        }
    }

    /// Whether a replay changes nothing, and needs no copy.
    pub(super) fn is_empty(&self) -> bool {
        self.directories.is_empty() && self.names.is_empty()
    }

    /// Bytes on a disk that they take at most.
    pub(super) fn bytes(&self) -> u64 {
        let ranges = self.files.iter().flat_map(|file| &file.ranges);
        ranges.map(|(begin, end)| end - begin).sum()
    }

    /// Makes them in an empty directory, on the disk. Those that no step changes are made once, in `kept`, and get other names each
    /// time.
    ///
    /// # Errors
    /// Names the copy that can't be made.
    pub(super) fn make(&self, directory: &Path, kept: &Path, from: &Origin) -> io::Result<Made> {
        let named = |path: &Path, error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        };
        let at = |name: &Path| directory.join(name);
        for name in &self.directories {
            fs::create_dir_all(at(name)).map_err(|error| named(name, error))?;
        }
        let mut made = Made::default();
        for (place, file) in self.files.iter().enumerate() {
            let Some((first, others)) = file.names.split_first() else { continue };
            // Plans with changes share `kept`: they have the same files at the same places, and behind them files of their own.
            let name = format!("{place}-{}", file.size_bytes);
            let whole = if file.is_changed { at(first) } else { kept.join(name) };
            if !whole.exists() {
                made.bytes += file.ranges.iter().map(|(begin, end)| end - begin).sum::<u64>();
                let is_made_up = file.make(&whole, from).map_err(|error| named(first, error))?;
                made.made_up += u64::from(is_made_up);
            }
            let others = if file.is_changed { others } else { &file.names };
            for other in others {
                fs::hard_link(&whole, at(other)).map_err(|error| named(other, error))?;
            }
        }
        for name in &self.empty {
            File::create(at(name)).map_err(|error| named(name, error))?;
        }
        for (name, words) in &self.links {
            // Followed, what it holds would lead out of the copies.
            std::os::unix::fs::symlink("x".repeat((*words).max(1)), at(name))
                .map_err(|error| named(name, error))?;
        }
        // What is dirty beside what a replay writes would be written by its first sync.
        rustix::fs::syncfs(File::open(directory)?)?;
        Ok(made)
    }
}
