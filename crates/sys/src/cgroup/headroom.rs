//! How much file cache fits: into the control groups around this process, and into the host.

use std::path::{Path, PathBuf};

use super::{MemoryGroup, own_groups, parse_limit};
use crate::proc::{kilobytes, value_of};

const MEMINFO: &str = "/proc/meminfo";

/// Cache is charged in batches by every CPU, and reclaim begins before the limit is reached: so much of a limit is left alone.
const MARGIN_PART: u64 = 64;

/// One control group's limit and what counts against it, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMemory {
    /// Its directory.
    pub dir: PathBuf,
    /// The limit.
    pub limit_bytes: u64,
    /// What is charged to it, file cache included.
    pub used_bytes: u64,
    /// Its file cache, which the kernel can drop.
    pub file_bytes: u64,
}

impl GroupMemory {
    /// What can be cached at most, counting the cache that is there: the rest is memory that the kernel can't drop.
    pub fn room_bytes(&self) -> u64 {
        let fixed = self.used_bytes.saturating_sub(self.file_bytes);
        self.limit_bytes.saturating_sub(fixed).saturating_sub(self.limit_bytes / MARGIN_PART)
    }
}

/// How much file cache can be held, all in all, with what is cached already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headroom {
    /// The control group that leaves the least, where any has a limit.
    pub group: Option<GroupMemory>,
    /// What the host can give (`MemAvailable`), in bytes; nothing where /proc doesn't tell.
    pub host_bytes: Option<u64>,
}

impl Headroom {
    /// The smaller of the two.
    pub fn room_bytes(&self) -> u64 {
        let group = self.group.as_ref().map_or(u64::MAX, GroupMemory::room_bytes);
        group.min(self.host_bytes.unwrap_or(u64::MAX))
    }
}

/// Looks at the groups of this process, of either version, with their ancestors, and at the host.
pub fn headroom() -> Headroom {
    let group = own_groups()
        .iter()
        .flat_map(|group| group.dirs().filter_map(|dir| memory_of(group, dir)).collect::<Vec<_>>())
        .min_by_key(GroupMemory::room_bytes);
    let host_bytes = std::fs::read(MEMINFO).ok().and_then(|text| available(&text));
    Headroom { group, host_bytes }
}

fn memory_of(group: &MemoryGroup, dir: &Path) -> Option<GroupMemory> {
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).ok();
    let v2 = group.limit_file == "memory.max";
    let limit_bytes = parse_limit(&read(group.limit_file)?)?;
    let usage = if v2 { "memory.current" } else { "memory.usage_in_bytes" };
    let used_bytes = read(usage)?.trim().parse().ok()?;
    let file_bytes = file_bytes(&read("memory.stat")?, v2);
    Some(GroupMemory { dir: dir.to_owned(), limit_bytes, used_bytes, file_bytes })
}

/// The two file lists hold neither shared memory nor what is locked. Version 1 counts children under `total_` names.
pub(super) fn file_bytes(stat: &str, v2: bool) -> u64 {
    let names: [&str; 2] = if v2 {
        ["inactive_file", "active_file"]
    } else {
        ["total_inactive_file", "total_active_file"]
    };
    stat.lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(name, _)| names.contains(name))
        .filter_map(|(_, bytes)| bytes.trim().parse::<u64>().ok())
        .sum()
}

fn available(meminfo: &[u8]) -> Option<u64> {
    kilobytes(value_of(meminfo, "MemAvailable")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn what_can_be_dropped_is_room() {
        let group = GroupMemory {
            dir: PathBuf::new(),
            limit_bytes: 640 * MIB,
            used_bytes: 500 * MIB,
            file_bytes: 400 * MIB,
        };
        assert_eq!(group.room_bytes(), (640 - 100 - 10) * MIB);
        let full = GroupMemory { used_bytes: 700 * MIB, file_bytes: 0, ..group };
        assert_eq!(full.room_bytes(), 0);
    }

    #[test]
    fn both_versions_count_children_and_leave_shared_memory_out() {
        let v1 =
            "cache 9\nshmem 5\ninactive_file 1\ntotal_inactive_file 10\ntotal_active_file 20\n";
        assert_eq!(file_bytes(v1, false), 30);
        assert_eq!(file_bytes("file 90\nshmem 5\ninactive_file 10\nactive_file 21\n", true), 31);
    }

    #[test]
    fn a_group_of_either_version_is_read() {
        let dir = std::env::temp_dir().join(format!("hotset-headroom-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("mkdir");
        let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).expect("write");
        write("memory.limit_in_bytes", "1000000\n");
        write("memory.usage_in_bytes", "5000\n");
        write("memory.stat", "total_active_file 4000\nactive_file 4100\n");
        write("memory.max", "2000000\n");
        write("memory.current", "6000\n");
        let group = |limit_file| MemoryGroup { dir: dir.clone(), top: dir.clone(), limit_file };
        let v1 = memory_of(&group("memory.limit_in_bytes"), &dir).expect("v1");
        let v2 = memory_of(&group("memory.max"), &dir).expect("v2");
        write("memory.max", "max\n");
        let none = memory_of(&group("memory.max"), &dir);
        std::fs::remove_dir_all(&dir).expect("cleanup");
        assert_eq!((v1.limit_bytes, v1.used_bytes, v1.file_bytes), (1_000_000, 5000, 4000));
        assert_eq!((v2.limit_bytes, v2.used_bytes, v2.file_bytes), (2_000_000, 6000, 4100));
        assert_eq!(none, None);
    }

    #[test]
    fn the_host_says_what_it_can_give() {
        assert_eq!(available(b"MemTotal: 9 kB\nMemAvailable:   12 kB\n"), Some(12 << 10));
        assert!(headroom().host_bytes.is_some_and(|bytes| bytes > 0));
    }
}
