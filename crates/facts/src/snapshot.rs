//! What saving and restoring a set of cached pages came to.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};

use crate::format::{Cgroup, File};
use crate::{Skipped, Unreadable};

/// What was saved.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = crate::format::about("file", "Where to; null where it went to standard output.")))]
pub struct SaveReport {
    /// Where to; null where it went to standard output.
    #[serde(flatten, with = "File::<Option<String>>")]
    pub file: Option<PathBuf>,
    /// Bytes in a page.
    #[serde(rename = "page_size_bytes")]
    pub page_bytes: u64,
    /// Files with cached pages: those that were saved.
    pub files: u64,
    /// Their ranges.
    pub ranges: u64,
    /// The pages in these.
    pub pages: u64,
    /// The bytes that all this took.
    pub snapshot_bytes: u64,
    /// Files without a cached page.
    pub uncached_files: u64,
    /// Files and directories that could not be told about, the first of them by name.
    #[serde(rename = "unreadable")]
    pub refused: NamedFew,
    /// What was passed over by kind.
    pub skipped: Skipped,
    /// Processes whose open files nobody may see, so that their use of files isn't counted.
    pub hidden_processes: u64,
    /// True where it was stopped; nothing is kept then.
    pub interrupted: bool,
}

/// Paths with reasons, of which only the first are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedFew {
    /// All of them, counted.
    pub count: u64,
    /// The first of them.
    pub named: Vec<Unreadable>,
}

impl NamedFew {
    /// More than a person reads, and no more than fits in memory.
    pub const MOST_NAMED: usize = 10_000;

    /// Counts one, and keeps it if there is room.
    pub fn add(&mut self, path: impl Into<PathBuf>, reason: impl Into<String>) {
        self.count += 1;
        if self.named.len() < Self::MOST_NAMED {
            self.named.push(Unreadable { path: path.into(), reason: reason.into() });
        }
    }

    /// Adds those of another part.
    pub fn merge(&mut self, other: Self) {
        self.count += other.count;
        let room = Self::MOST_NAMED - self.named.len().min(Self::MOST_NAMED);
        self.named.extend(other.named.into_iter().take(room));
    }
}

/// Why restoring ended before its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RestoreStop {
    /// Somebody asked for it.
    Interrupted,
    /// More would push out what was just restored.
    #[cfg_attr(feature = "schema", schemars(transform = crate::format::about("cgroup", "The control group that sets the limit; null where it is the host.")))]
    Memory {
        /// What the host or the control group leaves for file cache, in bytes.
        room_bytes: u64,
        /// The control group that sets the limit; null where it is the host.
        #[serde(flatten, with = "Cgroup::<Option<String>>")]
        group: Option<PathBuf>,
    },
}

/// What was restored. All pages count in pages of this host, which are those of the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = crate::format::about("file", "The snapshot.")))]
pub struct RestoreReport {
    /// The snapshot.
    #[serde(flatten, with = "File")]
    pub file: PathBuf,
    /// Bytes in a page.
    #[serde(rename = "page_size_bytes")]
    pub page_bytes: u64,
    /// When it was made, in seconds since 1970.
    pub created_s: u64,
    /// Files that the snapshot holds.
    pub files: u64,
    /// Pages that it holds.
    pub pages: u64,
    /// Files that are as they were when they were saved, as far as was looked.
    pub unchanged_files: u64,
    /// Files that are not as they were: nothing of them was read.
    pub changed: NamedFew,
    /// Files that are gone.
    pub vanished: NamedFew,
    /// Files that can't be opened, read or asked about.
    #[serde(rename = "unreadable")]
    pub refused: NamedFew,
    /// Pages of unchanged files that the budget leaves out; without a budget none.
    pub beyond_budget_pages: u64,
    /// Pages that were to be cached in the end.
    pub wanted_pages: u64,
    /// Pages among them that were cached before.
    pub cached_before_pages: u64,
    /// Pages among them that were missing and asked for.
    pub fetched_pages: u64,
    /// Pages among them that are cached and up to date in the end. Written as null where nothing was to be read.
    #[serde(skip_serializing, deserialize_with = "or_zero")]
    pub cached_after_pages: u64,
    /// Pages among them of which nobody tells this user whether they are cached.
    pub unknown_pages: u64,
    /// Time of reading alone, without verifying, in nanoseconds.
    pub read_ns: u64,
    /// True where nothing was to be read.
    pub dry_run: bool,
    /// Why it ended early; null where it did not.
    #[serde(deserialize_with = "crate::format::required")]
    pub stopped: Option<RestoreStop>,
}

fn or_zero<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

impl RestoreReport {
    /// Whether all that the snapshot holds is cached, or would be (for a dry run), but for what a budget leaves out.
    pub fn is_complete(&self) -> bool {
        let passed_over = self.changed.count + self.vanished.count + self.refused.count;
        let reached = self.dry_run || self.cached_after_pages == self.wanted_pages;
        passed_over == 0 && reached && self.stopped.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_are_named_and_all_are_counted() {
        let mut few = NamedFew::default();
        for n in 0..NamedFew::MOST_NAMED + 5 {
            few.add(format!("/{n}"), "gone");
        }
        let mut other = NamedFew::default();
        other.add("/x", "gone");
        few.merge(other);
        assert_eq!(few.named.len(), NamedFew::MOST_NAMED);
        assert_eq!(few.count, NamedFew::MOST_NAMED as u64 + 6);
    }
}
