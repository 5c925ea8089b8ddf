//! What warming, evicting or pinning files reached, and what stands in the way.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::format::Path;
use crate::{FileId, MemInfo, Observed, Stayed, Unreadable};

crate::words! {
    /// What was done to the files.
    pub enum ControlVerb {
        /// Brought into the cache.
        Warm = "warm",
        /// Taken out of it.
        Evict = "evict",
        /// Held in it.
        Pin = "pin",
    }
}

crate::words! {
    /// Why pages that were to be cached are not.
    pub enum NotCached {
        /// The device can't read them.
        Unreadable = "unreadable",
        /// The budget was spent before.
        Budget = "budget",
        /// There is no memory for more.
        Memory = "memory",
        /// It was told to stop before.
        Interrupted = "interrupted",
        /// For a reason that the kernel does not tell: something else may have evicted them again.
        Unknown = "unknown",
    }
}

/// What was reached for one file. Pages are those of the range that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = crate::format::about("path", "Its path as it was asked for or found.")))]
pub struct ControlledFile {
    /// Its path as it was asked for or found, any bytes.
    #[serde(flatten, with = "Path")]
    pub path: PathBuf,
    /// Its identity.
    #[serde(flatten)]
    pub id: FileId,
    /// Its size in bytes, when all was done.
    pub size_bytes: u64,
    /// Base pages that were to be warmed, evicted or pinned.
    pub pages: u64,
    /// Pages of these in the cache before.
    pub cached_before: Observed<u64>,
    /// Pages of these in the cache after; for warming and pinning only what is up to date.
    pub cached_after: Observed<u64>,
    /// Pages that were to be evicted and stayed, by reason.
    pub stayed: Vec<Stayed>,
    /// Why pages that were to be warmed or pinned are missing; null where none is.
    #[serde(deserialize_with = "crate::format::required")]
    pub not_cached: Option<NotCached>,
    /// What went wrong, for people; null where nothing did.
    #[serde(deserialize_with = "crate::format::required")]
    pub error: Option<String>,
}

impl ControlledFile {
    /// Pages that are not where `verb` should have brought them; nothing where nobody can tell.
    pub fn short_pages(&self, verb: ControlVerb) -> Option<u64> {
        let after = self.cached_after.value()?;
        Some(match verb {
            ControlVerb::Evict => after,
            ControlVerb::Warm | ControlVerb::Pin => self.pages.saturating_sub(after),
        })
    }

    /// True where all is as it should be, and known to be.
    pub fn is_reached(&self, verb: ControlVerb) -> bool {
        self.error.is_none() && self.short_pages(verb) == Some(0)
    }
}

/// Sums over files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ControlTotals {
    /// Files that were found.
    pub files: u64,
    /// Files among them that are as they should be.
    pub files_reached: u64,
    /// Files whose state after nobody can tell.
    pub files_unknown: u64,
    /// Their sizes in bytes.
    pub size_bytes: u64,
    /// Pages that were to be warmed, evicted or pinned, of the files whose state is known.
    pub pages: u64,
    /// Pages cached before.
    pub cached_before: u64,
    /// Pages cached after.
    pub cached_after: u64,
    /// Bytes that were fetched from devices.
    pub fetched_bytes: u64,
    /// Nanoseconds that it took.
    pub wall_ns: u64,
}

impl ControlTotals {
    /// Counts a file in.
    pub fn add(&mut self, verb: ControlVerb, file: &ControlledFile) {
        self.files += 1;
        self.size_bytes = self.size_bytes.saturating_add(file.size_bytes);
        self.files_reached += u64::from(file.is_reached(verb));
        match file.cached_after {
            Observed::Value(after) => {
                self.pages = self.pages.saturating_add(file.pages);
                self.cached_before =
                    self.cached_before.saturating_add(file.cached_before.value().unwrap_or(0));
                self.cached_after = self.cached_after.saturating_add(after);
            }
            Observed::Missing(_) => self.files_unknown += 1,
        }
    }

    /// Counts in what another counted.
    pub fn merge(&mut self, other: &Self) {
        self.files = self.files.saturating_add(other.files);
        self.files_reached = self.files_reached.saturating_add(other.files_reached);
        self.files_unknown = self.files_unknown.saturating_add(other.files_unknown);
        self.size_bytes = self.size_bytes.saturating_add(other.size_bytes);
        self.pages = self.pages.saturating_add(other.pages);
        self.cached_before = self.cached_before.saturating_add(other.cached_before);
        self.cached_after = self.cached_after.saturating_add(other.cached_after);
        self.fetched_bytes = self.fetched_bytes.saturating_add(other.fetched_bytes);
        self.wall_ns = self.wall_ns.saturating_add(other.wall_ns);
    }
}

/// What a command that changes cache states has to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ControlReport {
    /// What was done.
    pub verb: ControlVerb,
    /// The files: all where they were asked for, else those that are not as they should be, in order of path.
    #[serde(skip_serializing)]
    pub files: Vec<ControlledFile>,
    /// Files that are not as they should be and have no row in `files`, because there were too many to keep.
    pub files_left_out: u64,
    /// Paths that nothing could be done about.
    pub unreadable: Vec<Unreadable>,
    /// Sockets, pipes, devices and files of /proc and the like, which have no cache.
    pub not_cacheable: u64,
    /// Sums over all files.
    pub totals: ControlTotals,
    /// What else the reader has to know, a sentence each.
    pub notes: Vec<String>,
    /// True where it was told to stop before the end.
    pub interrupted: bool,
}

/// What a reader of such a report has to know beside what it says of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ControlNote {
    /// More is wanted in the cache than there is memory for.
    ShortOfMemory {
        /// Bytes that are wanted in the cache.
        needed_bytes: u64,
        /// Bytes of cache that there is room for.
        room_bytes: u64,
        /// The control group whose limit that is, and the limit in bytes; nothing where it is the host's memory.
        group: Option<(PathBuf, u64)>,
    },
    /// Pages that were looked at again in the end had been evicted.
    EvictedAgain {
        /// Pages that had been.
        lost_pages: u64,
        /// Pages that were looked at.
        seen_pages: u64,
    },
    /// All clean cache of the host was dropped.
    Dropped {
        /// /proc/meminfo right before.
        before: MemInfo,
        /// The same right after.
        after: MemInfo,
    },
}

/// What became of a pinned file's name since the last look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Followed {
    /// The file is as it was.
    Same,
    /// The file has another size, and is held whole.
    Resized {
        /// Bytes before.
        from: u64,
        /// Bytes now.
        to: u64,
    },
    /// The name leads to another file, which is held now instead of the old one.
    Replaced {
        /// Bytes of the new one.
        size_bytes: u64,
    },
    /// The name is gone, and nothing is held: a file that nobody could reach would keep its space on disk.
    Gone,
}

impl ControlReport {
    /// True where everything is as it should be.
    pub fn is_reached(&self) -> bool {
        self.unreadable.is_empty()
            && !self.interrupted
            && self.totals.files_reached == self.totals.files
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;

    fn file(pages: u64, after: Observed<u64>) -> ControlledFile {
        ControlledFile {
            path: "x".into(),
            id: FileId::default(),
            size_bytes: pages * 4096,
            pages,
            cached_before: Observed::Value(1),
            cached_after: after,
            stayed: Vec::new(),
            not_cached: None,
            error: None,
        }
    }

    #[test]
    fn what_nobody_knows_is_not_reached() {
        let unknown = file(5, Observed::Missing(Reason::denied("not the owner")));
        let mut totals = ControlTotals::default();
        for verb in [ControlVerb::Warm, ControlVerb::Evict] {
            assert!(!unknown.is_reached(verb));
        }
        totals.add(ControlVerb::Warm, &unknown);
        totals.add(ControlVerb::Warm, &file(7, Observed::Value(7)));
        assert_eq!((totals.files, totals.files_reached, totals.files_unknown), (2, 1, 1));
        assert_eq!((totals.pages, totals.cached_after), (7, 7));
    }

    #[test]
    fn sums_of_huge_sparse_files_end_at_the_most() {
        let huge = ControlledFile { size_bytes: 7 << 60, ..file(0, Observed::Value(0)) };
        let mut totals = ControlTotals::default();
        (0..3).for_each(|_| totals.add(ControlVerb::Evict, &huge));
        assert_eq!((totals.files, totals.size_bytes), (3, u64::MAX));
    }

    #[test]
    fn evicting_wants_none_and_warming_all() {
        let half = file(4, Observed::Value(1));
        assert_eq!(half.short_pages(ControlVerb::Evict), Some(1));
        assert_eq!(half.short_pages(ControlVerb::Warm), Some(3));
        assert!(file(0, Observed::Value(0)).is_reached(ControlVerb::Pin));
        let failed = ControlledFile { error: Some("EIO".into()), ..file(4, Observed::Value(4)) };
        assert!(!failed.is_reached(ControlVerb::Warm));
    }
}
