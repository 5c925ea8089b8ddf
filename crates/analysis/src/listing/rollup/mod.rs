//! Sums a directory, as du(1) has them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use hotset_facts::{ListedFile, ListingTotals};

use super::numbers::{RowNumbers, pages_of};
use super::order::Order;

/// The row of a directory: all the files below it, however deep.
#[derive(Debug, Clone, PartialEq)]
pub struct DirectoryRow {
    /// The directory; for a file that was named itself, the file.
    pub path: PathBuf,
    /// The sums.
    pub numbers: RowNumbers,
}

/// Sums a directory of what a walk finds. Holds an entry for each directory down to the wanted depth, and nothing a file.
#[derive(Debug)]
pub struct RollUp {
    page_bytes: u64,
    max_depth: Option<u32>,
    /// By root, then by the components below it: what lies right in it, or below the depth that is told apart.
    own: BTreeMap<(usize, Vec<u8>), ListingTotals>,
}

impl RollUp {
    /// `max_depth` levels below a root have rows of their own; 0 is the roots alone.
    pub fn new(page_bytes: u64, max_depth: Option<u32>) -> Self {
        Self { page_bytes, max_depth, own: BTreeMap::new() }
    }

    /// Counts a file found below (or as) the root of this number.
    pub fn add(&mut self, number: usize, root: &Path, file: &ListedFile) {
        let below = file.path.strip_prefix(root).unwrap_or(&file.path);
        let directory = below.parent().unwrap_or(Path::new(""));
        let levels = self.max_depth.map_or(usize::MAX, |depth| depth as usize);
        let key = key_of(directory, levels);
        let totals = self.own.entry((number, key)).or_default();
        totals.add(pages_of(file, self.page_bytes), file.size_bytes, &file.state);
    }

    /// Adds what another thread summed up.
    pub fn merge(&mut self, other: Self) {
        for (key, totals) in other.own {
            self.own.entry(key).or_default().merge(&totals);
        }
    }

    /// A row a directory. Without an order, those below a directory stand before it, as du(1) prints them; then come the
    /// roots' own rows, each after what lies below it.
    pub fn into_rows(self, roots: &[PathBuf], order: Option<Order>) -> Vec<DirectoryRow> {
        let mut sums: BTreeMap<(usize, Vec<u8>), ListingTotals> = BTreeMap::new();
        for ((root, key), own) in self.own {
            let ends = key.iter().enumerate().filter(|(_, byte)| **byte == 0).map(|(at, _)| at + 1);
            for end in ends.chain([0]) {
                sums.entry((root, key[..end].to_vec())).or_default().merge(&own);
            }
        }
        let mut rows: Vec<((usize, Vec<u8>), DirectoryRow)> = Vec::with_capacity(sums.len());
        for ((root, key), totals) in sums {
            let path = path_of(roots.get(root).map_or(Path::new(""), |root| root), &key);
            let numbers = RowNumbers::of_totals(&totals, self.page_bytes);
            rows.push(((root, key), DirectoryRow { path, numbers }));
        }
        match order {
            Some(order) => rows.sort_by(|(_, a), (_, b)| {
                order.compare_rows((&a.path, &a.numbers), (&b.path, &b.numbers))
            }),
            None => rows.sort_by(|(a, _), (b, _)| a.0.cmp(&b.0).then_with(|| parents_last(a, b))),
        }
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

/// The first components of a path below a root, each ended by a NUL, which no name holds: so that a prefix that ends with
/// one is a directory above.
fn key_of(directory: &Path, levels: usize) -> Vec<u8> {
    let mut key = Vec::new();
    for component in directory.components().take(levels) {
        key.extend_from_slice(component.as_os_str().as_bytes());
        key.push(0);
    }
    key
}

fn path_of(root: &Path, key: &[u8]) -> PathBuf {
    let mut path = root.to_path_buf();
    for name in key.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        path.push(OsStr::from_bytes(name));
    }
    path
}

/// By name, but a directory after all that lies below it.
fn parents_last(a: &(usize, Vec<u8>), b: &(usize, Vec<u8>)) -> std::cmp::Ordering {
    let (a, b) = (&a.1, &b.1);
    if a.starts_with(b) || b.starts_with(a) { b.len().cmp(&a.len()) } else { a.cmp(b) }
}

#[cfg(test)]
mod tests;
