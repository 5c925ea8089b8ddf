//! The control groups around this process, and the memory that they leave it.

mod detail;
mod group;
mod headroom;
mod limited;
pub mod names;
mod outside;
mod present;
mod search;
mod usage;

use std::path::{Component, Path, PathBuf};

use crate::proc::mountinfo::{self, Mount};

pub use detail::GroupDetail;
pub use group::{Group, GroupError, processes};
pub use headroom::{GroupMemory, Headroom, headroom};
pub use limited::{GroupLeft, LimitEffects, LimitedGroup};
pub use outside::{Limited, outside_limits};
pub use present::{Hierarchies, seen_root};
pub use search::{SearchError, container, unit};
pub use usage::GroupUsage;

/// Version 1 spells "no limit" as the largest number of whole pages; nobody sets a real limit of 4 EiB.
const V1_UNLIMITED: u64 = 1 << 62;

/// The tightest memory limit in bytes among this process's control groups and their ancestors, of either version.
pub fn memory_limit_bytes() -> Option<u64> {
    own_groups().iter().filter_map(tightest).min()
}

fn own_groups() -> Vec<MemoryGroup> {
    let mounts = mountinfo::own().unwrap_or_default();
    let own = std::fs::read("/proc/self/cgroup").unwrap_or_default();
    memory_groups(&own, &mounts)
}

/// Where control groups of version 2 are mounted, if they are.
pub fn v2_mount(mounts: &[Mount]) -> Option<&Path> {
    mounts.iter().find(|mount| mount.fs_type == "cgroup2").map(|mount| mount.mount_point.as_path())
}

/// One control group that can limit memory.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MemoryGroup {
    /// Its directory.
    dir: PathBuf,
    /// Where its hierarchy is mounted: the highest ancestor that can be seen.
    top: PathBuf,
    /// The file that holds the limit.
    limit_file: &'static str,
}

fn memory_groups(own: &[u8], mounts: &[Mount]) -> Vec<MemoryGroup> {
    String::from_utf8_lossy(own).lines().filter_map(|line| memory_group(line, mounts)).collect()
}

/// A line is `hierarchy:controllers:path`; version 2 is hierarchy 0 without controllers.
fn memory_group(line: &str, mounts: &[Mount]) -> Option<MemoryGroup> {
    let mut fields = line.splitn(3, ':');
    let (id, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    let (fs_type, limit_file) = if id == "0" && controllers.is_empty() {
        ("cgroup2", "memory.max")
    } else if has_word(controllers, "memory") {
        ("cgroup", "memory.limit_in_bytes")
    } else {
        return None;
    };
    let mount = mounts.iter().find(|mount| {
        mount.fs_type == fs_type
            && (fs_type == "cgroup2" || has_word(&mount.super_options, "memory"))
    })?;
    let top = mount.mount_point.clone();
    Some(MemoryGroup { dir: inside(mount, Path::new(path)), top, limit_file })
}

fn has_word(list: &str, word: &str) -> bool {
    list.split(',').any(|item| item == word)
}

/// The directory of the group `path` below `mount`, whose root can be a group itself (in a container).
fn inside(mount: &Mount, path: &Path) -> PathBuf {
    let visible = path.strip_prefix(&mount.root).ok();
    // A group outside of this namespace starts with `/..`; what the mount shows is then the nearest ancestor.
    match visible {
        Some(rest) if !rest.components().any(|part| part == Component::ParentDir) => {
            mount.mount_point.join(rest.strip_prefix("/").unwrap_or(rest))
        }
        _ => mount.mount_point.clone(),
    }
}

impl MemoryGroup {
    /// Its own directory and those of its ancestors that can be seen.
    fn dirs(&self) -> impl Iterator<Item = &Path> {
        self.dir.ancestors().take_while(|dir| dir.starts_with(&self.top))
    }
}

fn tightest(group: &MemoryGroup) -> Option<u64> {
    group
        .dirs()
        .filter_map(|dir| std::fs::read_to_string(dir.join(group.limit_file)).ok())
        .filter_map(|text| parse_limit(&text))
        .min()
}

/// `max`, and what version 1 writes for it, is no limit.
fn parse_limit(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|&bytes| bytes < V1_UNLIMITED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounts() -> Vec<Mount> {
        mountinfo::parse(
            b"35 31 0:32 / /cg/memory rw - cgroup cgroup rw,memory\n\
              36 31 0:33 / /cg/cpu rw - cgroup cgroup rw,cpu\n\
              41 31 0:38 /box /cg/unified rw - cgroup2 cgroup2 rw\n",
        )
        .expect("mounts")
    }

    #[test]
    fn both_versions_are_found_below_their_mounts() {
        let groups = memory_groups(b"4:memory:/a/b\n1:cpu:/c\n0::/box/d\n", &mounts());
        let dirs: Vec<&Path> = groups.iter().map(|group| group.dir.as_path()).collect();
        assert_eq!(dirs, [Path::new("/cg/memory/a/b"), Path::new("/cg/unified/d")]);
        assert_eq!(groups[1].limit_file, "memory.max");
    }

    #[test]
    fn a_group_outside_of_the_namespace_is_its_nearest_visible_ancestor() {
        let groups = memory_groups(b"0::/../other\n4:memory:/../x\n", &mounts());
        assert_eq!(groups[0].dir, Path::new("/cg/unified"));
        assert_eq!(groups[1].dir, Path::new("/cg/memory"));
    }

    #[test]
    fn the_tightest_ancestor_wins() {
        let top = std::env::temp_dir().join(format!("hotset-cgroup-{}", std::process::id()));
        let dir = top.join("a/b");
        std::fs::create_dir_all(&dir).expect("mkdir");
        for (path, text) in [("memory.max", "max\n"), ("a/memory.max", "1000\n")] {
            std::fs::write(top.join(path), text).expect("write");
        }
        std::fs::write(dir.join("memory.max"), "5000\n").expect("write");
        let limit = tightest(&MemoryGroup { dir, top: top.clone(), limit_file: "memory.max" });
        std::fs::remove_dir_all(&top).expect("cleanup");
        assert_eq!(limit, Some(1000));
    }

    #[test]
    fn no_limit_is_none() {
        assert_eq!(parse_limit("max\n"), None);
        assert_eq!(parse_limit("9223372036854771712\n"), None);
        assert_eq!(parse_limit("536870912\n"), Some(536_870_912));
    }
}
