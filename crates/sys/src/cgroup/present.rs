//! Where control groups are, and whether they still are.

use std::path::{Component, Path, PathBuf};

use super::{has_word, inside};
use crate::proc::mountinfo::{self, Mount};

/// Where the hierarchies of control groups are mounted, as they were when this was made.
#[derive(Debug, Clone)]
pub struct Hierarchies {
    mounts: Vec<Mount>,
}

impl Hierarchies {
    /// Those that this process sees.
    pub fn now() -> Self {
        let mut mounts = mountinfo::own().unwrap_or_default();
        mounts.retain(|mount| mount.fs_type.starts_with("cgroup"));
        for mount in &mut mounts {
            if let Some(root) = seen_root(mount) {
                mount.root = root;
            }
        }
        Self { mounts }
    }

    /// Version 2 first, then the hierarchy that accounts memory.
    fn in_order(&self) -> Vec<&Mount> {
        let mut mounts: Vec<&Mount> = self.mounts.iter().collect();
        mounts.sort_by_key(|mount| {
            let accounts_memory = has_word(&mount.super_options, "memory");
            (mount.fs_type != "cgroup2", !accounts_memory)
        });
        mounts
    }

    /// Where the hierarchy is mounted in which units and containers have their groups. On a host with both versions, the one of
    /// version 2 may be there without any: then it is the one that accounts memory.
    pub(super) fn named(&self) -> Option<PathBuf> {
        let mounts = self.in_order();
        let has_groups = |mount: &&&Mount| {
            let entries = std::fs::read_dir(&mount.mount_point).into_iter().flatten().flatten();
            entries.into_iter().any(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        };
        let found = mounts.iter().find(has_groups).or(mounts.first());
        found.map(|mount| mount.mount_point.clone())
    }

    /// The directory of the group `path` that `is_group` accepts, and whether it is of version 2.
    pub(super) fn find(
        &self,
        path: &Path,
        is_group: impl Fn(&Path) -> bool,
    ) -> Option<(PathBuf, bool)> {
        let mut places = self
            .in_order()
            .into_iter()
            .filter_map(|mount| Some((place(mount, path)?, mount.fs_type == "cgroup2")));
        places.find(|(dir, _)| is_group(dir))
    }

    /// Whether the group `path`, as /proc/PID/cgroup has it, is there. True also where that can't be known, because no
    /// hierarchy is mounted or none shows that group's place.
    pub fn has(&self, path: &str) -> bool {
        let path = Path::new(path);
        let mut places = self.mounts.iter().filter_map(|mount| place(mount, path)).peekable();
        places.peek().is_none() || places.any(|dir| dir.is_dir())
    }
}

/// The root of a mount that shows more than the namespace of control groups that this process is in: `/`. The kernel writes
/// the way up from the namespace's own root (`/../..`), which says nothing of what the groups are called there.
pub fn seen_root(mount: &Mount) -> Option<PathBuf> {
    let above = mount.root.components().any(|part| part == Component::ParentDir);
    above.then(|| PathBuf::from("/"))
}

/// Its directory, where the mount shows that part of the hierarchy.
fn place(mount: &Mount, path: &Path) -> Option<PathBuf> {
    let dir = inside(mount, path);
    (dir != mount.mount_point || path == mount.root).then_some(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_there_and_an_invented_one_is_not() {
        let groups = Hierarchies::now();
        let own = std::fs::read_to_string("/proc/self/cgroup").expect("/proc");
        let own = own.lines().find_map(|line| line.splitn(3, ':').nth(2)).expect("a group");
        assert!(groups.has(own), "{own}");
        if !groups.mounts.is_empty() {
            assert!(!groups.has("/hotset/no/such/group"));
        }
    }

    #[test]
    fn a_mount_from_above_the_namespace_begins_at_its_own_root() {
        let line = b"41 31 0:38 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n\
                     42 31 0:38 /box /box rw - cgroup2 cgroup2 rw\n";
        let mounts = mountinfo::parse(line).expect("mounts");
        assert_eq!(seen_root(&mounts[0]), Some(PathBuf::from("/")));
        assert_eq!(seen_root(&mounts[1]), None);
    }

    #[test]
    fn of_several_hierarchies_version_two_is_meant_and_then_the_one_of_memory() {
        let line = b"35 31 0:32 / /cg/cpu rw - cgroup cgroup rw,cpu\n\
                     36 31 0:33 / /cg/memory rw - cgroup cgroup rw,memory\n\
                     41 31 0:38 /box /cg/unified rw - cgroup2 cgroup2 rw\n";
        let all = Hierarchies { mounts: mountinfo::parse(line).expect("mounts") };
        let find = |path: &str| all.find(Path::new(path), |_| true);
        assert_eq!(find("/box/a"), Some((PathBuf::from("/cg/unified/a"), true)));
        assert_eq!(find("/a"), Some((PathBuf::from("/cg/memory/a"), false)), "not in the box");
        let without_memory = all.find(Path::new("/a"), |dir| !dir.starts_with("/cg/memory"));
        assert_eq!(without_memory, Some((PathBuf::from("/cg/cpu/a"), false)));
    }

    #[test]
    fn what_no_mount_shows_is_not_said_to_be_gone() {
        let none = Hierarchies { mounts: Vec::new() };
        assert!(none.has("/system.slice/x.service"));
        let line = b"41 31 0:38 /box /no/such/mount rw - cgroup2 cgroup2 rw\n";
        let boxed = Hierarchies { mounts: mountinfo::parse(line).expect("a mount") };
        assert!(boxed.has("/elsewhere"), "outside of what is mounted");
        assert!(!boxed.has("/box/a"));
    }
}
