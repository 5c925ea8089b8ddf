//! What a control group's memory is used for, by its path.

use std::path::Path;

use super::Hierarchies;
use super::headroom::file_bytes;
use super::limited::counter;
use super::parse_limit;

/// The memory of a control group with those below it, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupUsage {
    /// The group's own limit, the smaller of `memory.high` and `memory.max` with version 2; none where it has none. A group above it may have
    /// a smaller one.
    pub limit_bytes: Option<u64>,
    /// What is charged to it, file cache included.
    pub used_bytes: u64,
    /// Its file cache, which the kernel can drop.
    pub file_bytes: u64,
    /// Pages of files that were read back after they had been evicted, since the group was made; none before Linux 5.9.
    pub refaulted_pages: Option<u64>,
}

impl Hierarchies {
    /// The memory of the group `path`, as /proc/PID/cgroup has it; `None` where the kernel does not account it: for the root, and where
    /// no hierarchy with that group accounts memory.
    pub fn usage(&self, path: &str) -> Option<GroupUsage> {
        let (dir, is_v2) = self.find(Path::new(path), |dir| dir.join(STAT).is_file())?;
        usage_in(&dir, is_v2).filter(|_| path != "/")
    }
}

pub(super) const STAT: &str = "memory.stat";

pub(super) fn usage_in(dir: &Path, is_v2: bool) -> Option<GroupUsage> {
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).ok();
    let limit = |name| parse_limit(&read(name)?);
    let (used, limits, refaults): (_, &[&str], _) = match is_v2 {
        true => ("memory.current", &["memory.max", "memory.high"], "workingset_refault_file"),
        false => {
            ("memory.usage_in_bytes", &["memory.limit_in_bytes"], "total_workingset_refault_file")
        }
    };
    let stat = read(STAT)?;
    Some(GroupUsage {
        limit_bytes: limits.iter().copied().filter_map(limit).min(),
        used_bytes: read(used)?.trim().parse().ok()?,
        file_bytes: file_bytes(&stat, is_v2),
        refaulted_pages: counter(&stat, refaults),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_read_and_the_smaller_limit_counts() {
        let dir = std::env::temp_dir().join(format!("hotset-usage-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("mkdir");
        let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).expect("write");
        write(
            "memory.stat",
            "active_file 4000\nworkingset_refault_file 7\ntotal_active_file 5000\n",
        );
        write("memory.current", "9000\n");
        write("memory.max", "max\n");
        let before = usage_in(&dir, true).expect("v2");
        write("memory.high", "20000\n");
        write("memory.max", "30000\n");
        let after = usage_in(&dir, true).expect("v2");
        write("memory.usage_in_bytes", "9100\n");
        write("memory.limit_in_bytes", "9223372036854771712\n");
        let v1 = usage_in(&dir, false).expect("v1");
        std::fs::remove_dir_all(&dir).expect("cleanup");
        let unlimited = GroupUsage {
            limit_bytes: None,
            used_bytes: 9_000,
            file_bytes: 4_000,
            refaulted_pages: Some(7),
        };
        assert_eq!(before, unlimited);
        assert_eq!(after, GroupUsage { limit_bytes: Some(20_000), ..unlimited });
        let other =
            GroupUsage { used_bytes: 9_100, file_bytes: 5_000, refaulted_pages: None, ..unlimited };
        assert_eq!(v1, other);
    }

    #[test]
    fn the_root_and_what_is_not_there_have_none() {
        let groups = Hierarchies::now();
        assert_eq!((groups.usage("/"), groups.usage("/hotset/no/such/group")), (None, None));
    }
}
