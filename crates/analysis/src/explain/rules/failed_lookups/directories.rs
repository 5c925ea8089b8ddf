//! Directories, and which of them are parts of a search.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::directories::directory_of;
use crate::explain::FileShare;

/// Directories and names that are told apart. Of what comes beyond, nothing is claimed.
const MOST_DIRECTORIES: usize = 1 << 14;
const MOST_NAMES: usize = 1 << 17;
/// A path has at most so many bytes in Linux.
const PATH_MAX: usize = 4096;
/// A directory of a search path is asked for many names that are asked for in other directories too. One that a program probes
/// (.gitignore in each directory) is asked for up to three of them, as git asks each directory of a work tree.
const MIN_SEARCHED_NAMES: u64 = 4;
/// A finding names at most this many directories.
const NAMED: usize = 3;

#[derive(Debug, Default)]
struct Directory {
    failed: u64,
    failed_ns: u64,
    own_ns: u64,
    found: u64,
    /// Of these, names that another directory was asked for too.
    found_after_search: u64,
}

#[derive(Debug)]
struct Name {
    /// The directory that was asked first.
    first: u32,
    /// Another was asked too.
    in_several: bool,
    found: u64,
}

/// What a search comes to.
#[derive(Debug, Default)]
pub(super) struct Searched {
    pub(super) failed: u64,
    pub(super) failed_ns: u64,
    /// The threads' own time between tries.
    pub(super) own_ns: u64,
    /// Lookups that found one of the names that are searched for.
    pub(super) found: u64,
    pub(super) directories: u64,
    /// Directories in which nothing was ever found.
    pub(super) silent: u64,
    /// The directory with most results of searches, and its share of them, 0 to 1.
    pub(super) best: Option<(PathBuf, f64)>,
    /// Those without results first, then those with most failures; and how many more there are.
    pub(super) worst: (Vec<FileShare>, u64),
}

/// Lookups by directory.
#[derive(Debug, Default)]
pub(super) struct Directories {
    at: HashMap<PathBuf, u32>,
    rows: Vec<Directory>,
    names: HashMap<u64, u32>,
    name_rows: Vec<Name>,
    /// Directories, and names that were not there, by their places.
    failed_names: HashSet<(u32, u32)>,
}

impl Directories {
    /// A path was not there.
    pub(super) fn failed(&mut self, path: &[u8], ns: u64, own_ns: u64) {
        let Some((directory, name)) = self.places(path) else { return };
        let Some(row) = self.rows.get_mut(directory as usize) else { return };
        row.failed += 1;
        row.failed_ns = row.failed_ns.saturating_add(ns);
        row.own_ns = row.own_ns.saturating_add(own_ns);
        if self.failed_names.len() < MOST_NAMES {
            self.failed_names.insert((directory, name));
        }
    }

    /// A path was there.
    pub(super) fn found(&mut self, path: &[u8]) {
        let Some((directory, name)) = self.places(path) else { return };
        let (Some(row), Some(name)) =
            (self.rows.get_mut(directory as usize), self.name_rows.get_mut(name as usize))
        else {
            return;
        };
        row.found += 1;
        row.found_after_search += u64::from(name.in_several);
        name.found += 1;
    }

    /// The places of a path's directory and name.
    fn places(&mut self, path: &[u8]) -> Option<(u32, u32)> {
        let path = Path::new(OsStr::from_bytes(path.get(..PATH_MAX).unwrap_or(path)));
        let directory = directory_of(path);
        let directory = match self.at.get(directory) {
            Some(&place) => place,
            None if self.rows.len() >= MOST_DIRECTORIES => return None,
            None => {
                let place = self.rows.len() as u32;
                self.at.insert(directory.to_path_buf(), place);
                self.rows.push(Directory::default());
                place
            }
        };
        let mut hasher = DefaultHasher::new();
        path.file_name()?.hash(&mut hasher);
        let hash = hasher.finish();
        let name = match self.names.get(&hash) {
            Some(&place) => place,
            None if self.name_rows.len() >= MOST_NAMES => return None,
            None => {
                let place = self.name_rows.len() as u32;
                self.names.insert(hash, place);
                self.name_rows.push(Name { first: directory, in_several: false, found: 0 });
                place
            }
        };
        let row = self.name_rows.get_mut(name as usize)?;
        row.in_several |= row.first != directory;
        Some((directory, name))
    }

    /// What the directories that are parts of a search come to.
    pub(super) fn searched(&self) -> Searched {
        let is_sought = |name: u32| self.name_rows.get(name as usize).is_some_and(|n| n.in_several);
        let sought = || self.failed_names.iter().filter(|(_, name)| is_sought(*name));
        let mut names_of: HashMap<u32, u64> = HashMap::new();
        for (directory, _) in sought() {
            *names_of.entry(*directory).or_default() += 1;
        }
        names_of.retain(|_, names| *names >= MIN_SEARCHED_NAMES);
        let of_search = sought().filter(|(directory, _)| names_of.contains_key(directory));
        let names: HashSet<u32> = of_search.map(|(_, name)| *name).collect();
        let mut all = Searched::default();
        let mut worst: Vec<(&PathBuf, &Directory)> = Vec::new();
        for (path, &place) in self.at.iter().filter(|(_, place)| names_of.contains_key(place)) {
            let Some(row) = self.rows.get(place as usize) else { continue };
            all.failed = all.failed.saturating_add(row.failed);
            all.failed_ns = all.failed_ns.saturating_add(row.failed_ns);
            all.own_ns = all.own_ns.saturating_add(row.own_ns);
            all.directories += 1;
            all.silent += u64::from(row.found == 0);
            worst.push((path, row));
        }
        let found = |name: &u32| self.name_rows.get(*name as usize).map_or(0, |name| name.found);
        all.found = names.iter().map(found).sum();
        all.best = self.best();
        worst.sort_unstable_by_key(|&(path, row)| (row.found > 0, Reverse(row.failed), path));
        let more = worst.len().saturating_sub(NAMED) as u64;
        let named = worst.into_iter().take(NAMED).map(|(path, row)| FileShare {
            file: None,
            path: Some(path.clone()),
            records: row.failed,
            time_ns: row.failed_ns,
        });
        all.worst = (named.collect(), more);
        all
    }

    fn best(&self) -> Option<(PathBuf, f64)> {
        let all: u64 = self.rows.iter().map(|row| row.found_after_search).sum();
        let found = |place: &u32| self.rows.get(*place as usize).map(|row| row.found_after_search);
        let best = self.at.iter().filter_map(|(path, place)| Some((found(place)?, Reverse(path))));
        let (most, Reverse(path)) = best.max()?;
        (most > 0).then(|| (path.clone(), most as f64 / all as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_beyond_the_bound_claim_nothing() {
        let mut all = Directories::default();
        for directory in 0..MOST_DIRECTORIES + 10 {
            all.failed(format!("/d{directory}/name").as_bytes(), 1, 0);
        }
        assert_eq!((all.rows.len(), all.searched().failed), (MOST_DIRECTORIES, 0));
    }
}
