//! From nodes to paths, and from devices.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use hotset_facts::{Dev, FileId, FileKind};
use hotset_sys::proc::mountinfo::Mount;
use rustix::fs::FileType;

use crate::record::{ALL_FILE_SYSTEMS, FileKey};

/// Directories nest at most this deep in a path of PATH_MAX bytes; beyond, the chain must be a loop.
const MAX_DEPTH: usize = 2048;

/// Directories that are kept, about 20 MiB of them.
const MAX_NODES: usize = 262_144;

/// One directory.
#[derive(Debug, Clone)]
struct Node {
    parent: u64,
    dev: u32,
    name: Box<[u8]>,
}

/// All directories that the sensor named.
#[derive(Debug, Default)]
pub(crate) struct Names {
    nodes: HashMap<u64, Node>,
}

impl Names {
    /// Keeps a directory; false where there are too many already.
    pub(crate) fn add(&mut self, id: u64, parent: u64, dev: u32, name: Vec<u8>) -> bool {
        if self.nodes.len() >= MAX_NODES && !self.nodes.contains_key(&id) {
            return false;
        }
        self.nodes.insert(id, Node { parent, dev, name: name.into_boxed_slice() });
        true
    }

    /// Directories that are kept.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Drops every directory that is neither among `used` nor above one of these.
    pub(crate) fn retain(&mut self, used: impl Iterator<Item = u64>) {
        let mut kept = HashSet::new();
        for id in used {
            let mut next = id;
            while kept.insert(next) {
                match self.nodes.get(&next) {
                    Some(node) if node.parent != 0 => next = node.parent,
                    _ => break,
                }
            }
        }
        self.nodes.retain(|id, _| kept.contains(id));
        self.nodes.shrink_to_fit();
    }

    /// The path of a directory; `None` where a record of its chain was lost.
    pub(crate) fn directory(&self, id: u64, mounts: &[Mount]) -> Option<PathBuf> {
        let mut parts: Vec<&[u8]> = Vec::new();
        let mut next = id;
        for _ in 0..MAX_DEPTH {
            let node = self.nodes.get(&next)?;
            if node.parent == 0 {
                let path = join(parts.into_iter().rev());
                return Some(match node.dev {
                    0 => path,
                    dev => mounted_at(Dev::from_kernel(dev), &path, mounts).unwrap_or(path),
                });
            }
            parts.push(&node.name);
            next = node.parent;
        }
        None
    }

    /// The path of a name in a directory; a parent of 0 means that there is none (a memfd, a detached file).
    pub(crate) fn path(&self, parent: u64, name: &[u8], mounts: &[Mount]) -> Option<PathBuf> {
        if parent == 0 {
            return (!name.is_empty()).then(|| join([name].into_iter()));
        }
        let mut path = self.directory(parent, mounts)?;
        path.push(OsString::from_vec(name.to_vec()));
        Some(path)
    }
}

/// An absolute path of these names.
pub(crate) fn join<'a>(parts: impl Iterator<Item = &'a [u8]>) -> PathBuf {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.push(b'/');
        bytes.extend_from_slice(part);
    }
    if bytes.is_empty() {
        bytes.push(b'/');
    }
    PathBuf::from(OsString::from_vec(bytes))
}

/// A path within a file system under the place where that file system is mounted; `None` where no mount shows it. Of several
/// mounts the one whose root lies nearest above the path is right, and among equals the first, which is the oldest.
pub(crate) fn mounted_at(dev: Dev, path: &Path, mounts: &[Mount]) -> Option<PathBuf> {
    let candidates =
        mounts.iter().filter(|mount| mount.dev == dev && path.starts_with(&mount.root));
    let depth = |mount: &Mount| mount.root.components().count();
    let mount = candidates.min_by_key(|mount| depth(mount))?;
    Some(under(&mount.mount_point, path.strip_prefix(&mount.root).unwrap_or(path)))
}

/// Joins without the trailing slash that `Path::join("")` leaves.
fn under(base: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().as_bytes().is_empty() { base.to_path_buf() } else { base.join(rest) }
}

/// A raw device, or the metadata of the file system on it: the kernel keeps both in the device's own inode.
fn block_device_path(bdev: Dev, ino: u64) -> Option<PathBuf> {
    // The inodes of block devices live in a file system of their own; their number is the device's.
    let dev = if bdev.major == 0 { Dev::from_kernel(u32::try_from(ino).ok()?) } else { bdev };
    device_path(dev)
}

/// A block device by its number: /sys knows its name.
pub(crate) fn device_path(device: Dev) -> Option<PathBuf> {
    let link = std::fs::read_link(format!("/sys/dev/block/{device}")).ok()?;
    Some(Path::new("/dev").join(link.file_name()?))
}

/// What a row stands for, by the device and inode number in its key and the mode of the inode. A row that is no file's has no mode.
pub(crate) fn kind_of(key: FileKey, mode: u32) -> FileKind {
    match (key.dev, key.ino, FileType::from_raw_mode(mode)) {
        (0, ALL_FILE_SYSTEMS, _) => FileKind::AllFileSystems,
        (1.., 0, _) => FileKind::FileSystem,
        (.., FileType::BlockDevice) => FileKind::BlockDevice,
        (.., FileType::Directory) => FileKind::Directory,
        _ => FileKind::Regular,
    }
}

/// The path of what is known without a name that the sensor sent: a device, or where a file system is mounted.
pub(crate) fn path_by_id(kind: FileKind, id: FileId, mounts: &[Mount]) -> Option<PathBuf> {
    match kind {
        FileKind::BlockDevice => block_device_path(id.dev, id.ino),
        FileKind::FileSystem => {
            let shown = mounts.iter().filter(|mount| mount.dev == id.dev);
            let highest = shown.min_by_key(|mount| mount.root.components().count())?;
            Some(highest.mount_point.clone())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(root: &str, at: &str, minor: u32) -> Mount {
        Mount {
            id: 1,
            parent: 0,
            dev: Dev { major: 8, minor },
            root: root.into(),
            mount_point: at.into(),
            options: String::new(),
            super_options: String::new(),
            fs_type: "ext4".into(),
            source: "/dev/sda".into(),
        }
    }

    fn names() -> Names {
        let mut names = Names::default();
        names.add(1, 0, 0, Vec::new());
        names.add(2, 1, 0, b"srv".to_vec());
        names.add(3, 2, 0, b"da\nta\xff".to_vec());
        names.add(10, 0, (8 << 20) | 3, Vec::new());
        names.add(11, 10, 0, b"lib".to_vec());
        names
    }

    #[test]
    fn a_chain_becomes_a_path() {
        let path = names().path(3, b"file", &[]).unwrap();
        assert_eq!(path.as_os_str().as_bytes(), b"/srv/da\nta\xff/file");
        assert_eq!(names().directory(1, &[]).unwrap(), Path::new("/"));
    }

    #[test]
    fn a_bare_inode_gets_the_mount_point() {
        let mounts =
            [mount("/", "/mnt", 3), mount("/lib", "/elsewhere", 3), mount("/", "/other", 4)];
        assert_eq!(names().path(11, b"x.so", &mounts).unwrap(), Path::new("/mnt/lib/x.so"));
        assert_eq!(names().directory(10, &mounts).unwrap(), Path::new("/mnt"));
    }

    #[test]
    fn a_subtree_mount_loses_its_root() {
        let mounts = [mount("/lib", "/elsewhere", 3)];
        assert_eq!(names().path(11, b"x.so", &mounts).unwrap(), Path::new("/elsewhere/x.so"));
    }

    #[test]
    fn a_lost_link_is_no_path() {
        let mut names = names();
        names.add(20, 19, 0, b"orphan".to_vec());
        assert_eq!(names.path(20, b"file", &[]), None);
        names.add(30, 31, 0, b"a".to_vec());
        names.add(31, 30, 0, b"b".to_vec());
        assert_eq!(names.path(30, b"loop", &[]), None);
    }

    #[test]
    fn what_is_above_a_kept_directory_is_kept() {
        let mut names = names();
        names.retain([2, 99].into_iter());
        assert_eq!(names.len(), 2);
        assert_eq!(names.directory(2, &[]).unwrap(), Path::new("/srv"));
        assert_eq!(names.directory(3, &[]), None);
    }

    #[test]
    fn a_row_that_is_no_file_s_is_told_by_its_key() {
        let dev = (8 << 20) | 3;
        let key = |dev, ino| FileKey { ino, dev, generation: 1 };
        assert_eq!(kind_of(key(dev, 7), 0o100_644), FileKind::Regular);
        assert_eq!(kind_of(key(dev, 7), 0o040_755), FileKind::Directory);
        assert_eq!(kind_of(key(dev, 7), 0o060_644), FileKind::BlockDevice);
        assert_eq!(kind_of(key(dev, 0), 0), FileKind::FileSystem);
        assert_eq!(kind_of(key(0, ALL_FILE_SYSTEMS), 0), FileKind::AllFileSystems);
        assert_eq!(kind_of(FileKey::NONE, 0), FileKind::Regular, "the others of a process");
        let mounts = [mount("/", "/mnt", 3), mount("/lib", "/elsewhere", 4)];
        let of = |minor| FileId::new(Dev { major: 8, minor }, 0);
        assert_eq!(path_by_id(FileKind::FileSystem, of(3), &mounts).unwrap(), Path::new("/mnt"));
        assert_eq!(
            path_by_id(FileKind::FileSystem, of(4), &mounts).unwrap(),
            Path::new("/elsewhere")
        );
        assert_eq!(path_by_id(FileKind::FileSystem, of(5), &mounts), None, "mounted nowhere here");
    }

    #[test]
    fn a_file_without_a_directory_keeps_its_name() {
        assert_eq!(names().path(0, b"memfd:x", &[]).unwrap(), Path::new("/memfd:x"));
    }
}
