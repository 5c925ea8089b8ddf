//! What one thread of the walk counts: sums, and the files with most pages within a bound.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::path::{Path, PathBuf};

use hotset_facts::{
    CachedFile, CachedFileSystem, FileId, Observed, PageHolder, Residency, Unreadable,
};

use crate::cache::Prober;
use crate::tree::{Found, Visitor};

/// Unreadable paths that are kept by name.
const MAX_UNREADABLE: usize = 100;

/// One thread's part.
pub(super) struct Counter {
    prober: Prober,
    sums: Vec<Sums>,
    heap: BinaryHeap<Reverse<Row>>,
    top: usize,
    min_size_bytes: u64,
    pub(super) unreadable: Vec<Unreadable>,
    pub(super) unreadable_count: u64,
    pub(super) unknown_files: u64,
}

#[derive(Clone, Copy, Default)]
struct Sums {
    files: u64,
    cached_files: u64,
    pages: u64,
}

/// A file of the list, ordered by its pages.
struct Row {
    pages: u64,
    id: FileId,
    root: usize,
    path: PathBuf,
    state: Residency,
}

impl Row {
    fn key(&self) -> (u64, Reverse<FileId>) {
        (self.pages, Reverse(self.id))
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Row {}

impl PartialOrd for Row {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Row {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Counter {
    pub(super) fn new(roots: usize, top: usize, min_size_bytes: u64) -> Self {
        Self {
            prober: Prober::new(),
            sums: vec![Sums::default(); roots],
            heap: BinaryHeap::new(),
            top,
            min_size_bytes,
            unreadable: Vec::new(),
            unreadable_count: 0,
            unknown_files: 0,
        }
    }

    fn keep(&mut self, row: Row) {
        self.heap.push(Reverse(row));
        if self.heap.len() > self.top {
            self.heap.pop();
        }
    }

    /// Whether a file with so many pages may still get into the list.
    fn has_room(&self, pages: u64) -> bool {
        let least = self.heap.peek().map_or(0, |least| least.0.pages);
        self.top > 0 && (self.heap.len() < self.top || pages >= least)
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            sum.files += more.files;
            sum.cached_files += more.cached_files;
            sum.pages += more.pages;
        }
        other.heap.into_iter().for_each(|row| self.keep(row.0));
        let room = MAX_UNREADABLE.saturating_sub(self.unreadable.len());
        self.unreadable.extend(other.unreadable.into_iter().take(room));
        self.unreadable_count += other.unreadable_count;
        self.unknown_files += other.unknown_files;
    }

    /// Books the sums to the file systems, and gives the list, most pages first.
    pub(super) fn finish(&mut self, file_systems: &mut [CachedFileSystem]) -> Vec<CachedFile> {
        for (fs, sums) in file_systems.iter_mut().zip(&self.sums) {
            fs.inodes = sums.files;
            fs.cached_inodes = sums.cached_files;
            fs.pages.regular = sums.pages;
        }
        self.unreadable.sort();
        let mut rows: Vec<Row> = self.heap.drain().map(|row| row.0).collect();
        rows.sort_by_key(|row| Reverse(row.key()));
        rows.into_iter().map(file_of).collect()
    }
}

fn file_of(row: Row) -> CachedFile {
    CachedFile {
        id: row.id,
        file_system: row.root,
        holder: PageHolder::Regular,
        device: None,
        size_bytes: row.state.size_bytes,
        cached_pages: row.pages,
        deleted: false,
        path: Observed::Value(row.path),
        reachable: true,
        state: Observed::Value(row.state),
        holders: Vec::new(),
        mapped: None,
    }
}

impl Visitor for Counter {
    fn file(&mut self, file: &Found<'_>) {
        let Ok(state) = self.prober.residency(file) else {
            self.unknown_files += 1;
            return;
        };
        let pages = state.cached_pages;
        if let Some(sums) = self.sums.get_mut(file.root) {
            sums.files += 1;
            sums.cached_files += u64::from(pages > 0);
            sums.pages += pages;
        }
        if pages > 0 && state.size_bytes >= self.min_size_bytes && self.has_room(pages) {
            let (id, root, path) = (file.id, file.root, file.path.to_owned());
            self.keep(Row { pages, id, root, path, state });
        }
    }

    fn unreadable(&mut self, path: &Path, error: &dyn fmt::Display) {
        self.unreadable_count += 1;
        if self.unreadable.len() < MAX_UNREADABLE {
            self.unreadable.push(Unreadable { path: path.to_owned(), reason: error.to_string() });
        }
    }
}
