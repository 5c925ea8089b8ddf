//! Which mounts to walk.

use std::collections::HashMap;
use std::path::Path;

use hotset_facts::{CachedFileSystem, Dev, FileSystemKind, PagesByHolder, Reason};

use crate::proc::mountinfo::Mount;

/// File systems whose files have no pages, or none of their own.
const WITHOUT_PAGES: [&str; 22] = [
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "rpc_pipefs",
    "securityfs",
    "selinuxfs",
    "smackfs",
    "sysfs",
    "tracefs",
    "hugetlbfs",
];
/// Those whose server may be away, or far.
const REMOTE: [&str; 10] =
    ["9p", "afs", "ceph", "cifs", "fuse", "fuseblk", "glusterfs", "nfs", "nfs4", "smb3"];

const FAR: Reason = Reason::not_measured("not walked: its files may be far away");
const LAYERS: Reason = Reason::not_measured("not walked: its layers are counted where they lie");
const COVERED: Reason = Reason::not_measured("not walked: another mount covers it");

fn is_remote(fs_type: &str) -> bool {
    REMOTE.contains(&fs_type) || fs_type.starts_with("fuse.")
}

/// One place for each file system, that of its topmost directory; with a reason where it is not to be walked.
pub(super) fn places(mounts: &[Mount]) -> Vec<CachedFileSystem> {
    let mut best: HashMap<Dev, &Mount> = HashMap::new();
    let depth = |mount: &Mount| mount.root.components().count();
    for mount in mounts.iter().filter(|mount| !WITHOUT_PAGES.contains(&mount.fs_type.as_str())) {
        let kept = best.entry(mount.dev).or_insert(mount);
        // Of equals the first that nothing covers.
        let better = (is_covered(kept), depth(kept)) > (is_covered(mount), depth(mount));
        if better {
            *kept = mount;
        }
    }
    let mut all: Vec<&Mount> = best.into_values().collect();
    all.sort_by_key(|mount| mount.id);
    all.into_iter().map(place_of).collect()
}

fn place_of(mount: &Mount) -> CachedFileSystem {
    let gap = if is_remote(&mount.fs_type) {
        Some(FAR)
    } else if mount.fs_type == "overlay" && mount.mount_point != Path::new("/") {
        Some(LAYERS)
    } else if is_covered(mount) {
        Some(COVERED)
    } else {
        None
    };
    let memory = matches!(mount.fs_type.as_str(), "tmpfs" | "rootfs");
    CachedFileSystem {
        dev: mount.dev,
        fs_type: mount.fs_type.clone(),
        name: mount.source.strip_prefix("/dev/").unwrap_or(&mount.source).to_owned(),
        kind: if memory { FileSystemKind::SharedMemory } else { FileSystemKind::Ordinary },
        mount_point: Some(mount.mount_point.clone()),
        inodes: 0,
        cached_inodes: 0,
        pages: PagesByHolder::default(),
        deleted_pages: 0,
        deleted_files: 0,
        gap,
    }
}

/// True where the path leads to something else by now. A server is not asked, and btrfs has devices of its own.
fn is_covered(mount: &Mount) -> bool {
    if is_remote(&mount.fs_type) || mount.fs_type == "btrfs" {
        return false;
    }
    rustix::fs::stat(&mount.mount_point).map_or(true, |stat| crate::file_id(&stat).dev != mount.dev)
}
