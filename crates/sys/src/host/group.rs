//! The page cache of one control group, as its `memory.stat` tells it.

use std::path::{Path, PathBuf};

use hotset_facts::{Observed, Reason};

const NO_STAT: Reason = Reason::unsupported(
    "this hierarchy accounts no memory: give the group's directory of the one that does",
);
const GONE: Reason = Reason::not_measured("the control group is gone");
const DENIED: Reason = Reason::denied("the group's memory.stat may not be read here");
const NO_LINE: Reason = Reason::unsupported("this kernel's memory.stat has no such line");
const BACKWARDS: Reason = Reason::lost("the kernel's counter went backwards");

/// The page cache that is charged to a group and to those below it, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupCache {
    /// Pages of files, shared memory among them as in `Cached` of /proc/meminfo.
    pub cached_bytes: Observed<u64>,
    /// Waiting to be written back.
    pub dirty_bytes: Observed<u64>,
    /// Being written back.
    pub writeback_bytes: Observed<u64>,
    /// Mapped by processes.
    pub mapped_bytes: Observed<u64>,
    /// Pages of files that were read back after they had been evicted, in the interval.
    pub refaulted_pages: Observed<u64>,
}

impl GroupCache {
    const fn missing(reason: Reason) -> Self {
        let none = Observed::Missing(reason);
        Self {
            cached_bytes: none,
            dirty_bytes: none,
            writeback_bytes: none,
            mapped_bytes: none,
            refaulted_pages: none,
        }
    }
}

/// Parses a `memory.stat` of version 2, or of version 1 where `total_cache` is among its lines (there the names without
/// `total_` leave the groups below out). `refaulted_pages` is what was counted since the group was made.
fn parse(text: &str) -> GroupCache {
    let lines = || text.lines().filter_map(|line| line.split_once(' '));
    let v1 = lines().any(|(name, _)| name == "total_cache");
    let value = |v1_name: &str, v2_name: &str| {
        let wanted = if v1 { v1_name } else { v2_name };
        let number = lines().find(|(name, _)| *name == wanted);
        number
            .and_then(|(_, number)| number.trim().parse().ok())
            .map_or(Observed::Missing(NO_LINE), Observed::Value)
    };
    GroupCache {
        cached_bytes: value("total_cache", "file"),
        dirty_bytes: value("total_dirty", "file_dirty"),
        writeback_bytes: value("total_writeback", "file_writeback"),
        mapped_bytes: value("total_mapped_file", "file_mapped"),
        refaulted_pages: value("total_workingset_refault_file", "workingset_refault_file"),
    }
}

/// Reads one group's cache again and again.
#[derive(Debug)]
pub struct GroupCacheReader {
    file: PathBuf,
    refaulted: Observed<u64>,
}

impl GroupCacheReader {
    /// For the control group with the directory `group`.
    pub fn new(group: &Path) -> Self {
        let file = group.join("memory.stat");
        let refaulted = read(&file).refaulted_pages;
        Self { file, refaulted }
    }

    /// The group's cache now, and its refaults since the last call.
    pub fn now(&mut self) -> GroupCache {
        let now = read(&self.file);
        let before = std::mem::replace(&mut self.refaulted, now.refaulted_pages);
        let refaulted_pages = match (now.refaulted_pages, before) {
            (Observed::Value(now), Observed::Value(before)) => {
                now.checked_sub(before).map_or(Observed::Missing(BACKWARDS), Observed::Value)
            }
            (Observed::Missing(reason), _) | (_, Observed::Missing(reason)) => {
                Observed::Missing(reason)
            }
        };
        GroupCache { refaulted_pages, ..now }
    }
}

fn read(file: &Path) -> GroupCache {
    match std::fs::read_to_string(file) {
        Ok(text) => parse(&text),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            GroupCache::missing(DENIED)
        }
        Err(_) if file.parent().is_some_and(Path::exists) => GroupCache::missing(NO_STAT),
        Err(_) => GroupCache::missing(GONE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_two_counts_what_is_below_by_itself() {
        let cache = parse(
            "anon 5\nfile 40960\nshmem 1\nfile_mapped 8192\nfile_dirty 4096\nfile_writeback 0\n\
             workingset_refault_anon 9\nworkingset_refault_file 77\n",
        );
        assert_eq!(cache.cached_bytes.value(), Some(40_960));
        assert_eq!(
            (cache.dirty_bytes.value(), cache.writeback_bytes.value()),
            (Some(4096), Some(0))
        );
        assert_eq!(
            (cache.mapped_bytes.value(), cache.refaulted_pages.value()),
            (Some(8192), Some(77))
        );
    }

    #[test]
    fn version_one_means_its_totals() {
        let cache = parse("cache 1\ndirty 2\ntotal_cache 30\ntotal_dirty 20\ntotal_writeback x\n");
        assert_eq!((cache.cached_bytes.value(), cache.dirty_bytes.value()), (Some(30), Some(20)));
        assert_eq!(cache.writeback_bytes, Observed::Missing(NO_LINE));
        assert_eq!(parse(""), GroupCache::missing(NO_LINE));
    }

    #[test]
    fn refaults_are_those_since_the_last_look_and_never_negative() {
        let dir = std::env::temp_dir().join(format!("hotset-group-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("mkdir");
        let file = dir.join("memory.stat");
        let write = |n: u64| {
            std::fs::write(&file, format!("file 1\nworkingset_refault_file {n}\n")).expect("write");
        };
        write(10);
        let mut reader = GroupCacheReader { file: file.clone(), refaulted: Observed::Value(10) };
        write(15);
        assert_eq!(reader.now().refaulted_pages.value(), Some(5));
        write(3);
        assert_eq!(reader.now().refaulted_pages, Observed::Missing(BACKWARDS));
        std::fs::remove_file(&file).expect("remove");
        assert_eq!(reader.now().cached_bytes, Observed::Missing(NO_STAT));
        std::fs::remove_dir_all(&dir).expect("cleanup");
        assert_eq!(reader.now().cached_bytes, Observed::Missing(GONE));
    }
}
