//! What a listing of cache states says: a row a file, and what has no row.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::format::Path;
use crate::{CacheCell, FileId, Observed, Residency};

/// One file of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFile {
    /// Its path as it was asked for or found, any bytes.
    pub path: PathBuf,
    /// Its identity.
    pub id: FileId,
    /// Its size in bytes; the capacity for a block device.
    pub size_bytes: u64,
    /// How much of it is cached, or why nobody can tell.
    pub state: Observed<Residency>,
    /// Where the cached pages lie, in file order; empty where nobody asked or can tell.
    pub cells: Vec<CacheCell>,
}

/// A path without a row, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = crate::format::about("path", "The path as it was asked for or found.")))]
pub struct Unreadable {
    /// The path as it was asked for or found.
    #[serde(flatten, with = "Path")]
    pub path: PathBuf,
    /// What the kernel said, for people.
    pub reason: String,
}

/// Sums over the files of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ListingTotals {
    /// Files seen, each hard-linked one once.
    pub files: u64,
    /// Their sizes in bytes.
    pub size_bytes: u64,
    /// The pages that these sizes span.
    pub pages: u64,
    /// Pages in the cache, of the files whose state is known.
    pub cached_pages: u64,
    /// Pages of the files whose state is known: what `cached_pages` is a share of.
    pub known_pages: u64,
    /// Dirty pages, of the files where that is known.
    pub dirty_pages: u64,
    /// Pages under writeback, of the files where that is known.
    pub writeback_pages: u64,
    /// Pages evicted lately, of the files where that is known.
    pub recently_evicted_pages: u64,
    /// Files whose state is not known.
    pub unknown_files: u64,
}

impl ListingTotals {
    /// Counts one file.
    pub fn add(&mut self, file_pages: u64, size_bytes: u64, state: &Observed<Residency>) {
        self.files += 1;
        self.size_bytes = self.size_bytes.saturating_add(size_bytes);
        self.pages = self.pages.saturating_add(file_pages);
        let Observed::Value(state) = state else {
            self.unknown_files += 1;
            return;
        };
        self.known_pages = self.known_pages.saturating_add(state.pages);
        self.cached_pages += state.cached_pages;
        self.dirty_pages += state.dirty_pages.value().unwrap_or(0);
        self.writeback_pages += state.writeback_pages.value().unwrap_or(0);
        self.recently_evicted_pages += state.recently_evicted_pages.value().unwrap_or(0);
    }

    /// Adds the sums of another part of the same listing.
    pub fn merge(&mut self, other: &Self) {
        self.files += other.files;
        self.size_bytes = self.size_bytes.saturating_add(other.size_bytes);
        self.pages = self.pages.saturating_add(other.pages);
        self.cached_pages += other.cached_pages;
        self.known_pages = self.known_pages.saturating_add(other.known_pages);
        self.dirty_pages += other.dirty_pages;
        self.writeback_pages += other.writeback_pages;
        self.recently_evicted_pages += other.recently_evicted_pages;
        self.unknown_files += other.unknown_files;
    }
}

/// What a listing passed over, counted and not named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Skipped {
    /// Sockets, pipes, character devices, and files of /proc and the like, which have no pages of their own.
    pub not_cacheable: u64,
    /// Further names of files that were counted under another name.
    pub repeated_links: u64,
    /// Symbolic links that were not followed.
    pub symlinks: u64,
    /// Directories of other file systems that were not entered.
    pub other_file_systems: u64,
    /// Files that vanished between being listed and being opened.
    pub vanished: u64,
}

impl Skipped {
    /// Adds what another part of the same listing passed over.
    pub fn merge(&mut self, other: &Self) {
        self.not_cacheable += other.not_cacheable;
        self.repeated_links += other.repeated_links;
        self.symlinks += other.symlinks;
        self.other_file_systems += other.other_file_systems;
        self.vanished += other.vanished;
    }
}
