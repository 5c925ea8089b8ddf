//! From the kernel's rows to facts.

use std::path::PathBuf;

use hotset_facts::{
    CachedFile, CachedFileSystem, Dev, FileId, FileSystemKind, Observed, PageHolder, PagesByHolder,
    Reason,
};
use hotset_sys::proc::mountinfo::Mount;
use rustix::fs::FileType;

use super::paths::Found;
use super::record::{Inode, Superblock};
use super::walk::Walked;
use crate::names::device_path;
use crate::names::mounted_at;

/// <linux/magic.h>
const TMPFS_MAGIC: u64 = 0x0102_1994;
const BDEVFS_MAGIC: u64 = 0x6264_6576;
const HUGETLBFS_MAGIC: u64 = 0x9584_58f6;

const NO_DEVICE: Reason = Reason::unsupported("/sys/dev/block does not name this device");
const NOT_ASKED: Reason = Reason::not_measured("nobody asked");

pub(super) fn kind_of(magic: u64) -> FileSystemKind {
    match magic {
        TMPFS_MAGIC => FileSystemKind::SharedMemory,
        BDEVFS_MAGIC => FileSystemKind::BlockDevices,
        HUGETLBFS_MAGIC => FileSystemKind::HugePages,
        _ => FileSystemKind::Ordinary,
    }
}

fn holder_of(mode: u32) -> PageHolder {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile => PageHolder::Regular,
        FileType::Directory => PageHolder::Directory,
        FileType::Symlink => PageHolder::Symlink,
        FileType::BlockDevice => PageHolder::BlockDevice,
        _ => PageHolder::Internal,
    }
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// One file system with its sums.
pub(super) fn file_system_of(walked: &Walked, mounts: &[Mount]) -> CachedFileSystem {
    let Superblock { dev, magic, r#type, id, .. } = &walked.superblock;
    let sums = &walked.sums;
    let [regular, directories, symlinks, block_devices, internal] = sums.pages;
    let dev = Dev::from_kernel(*dev);
    CachedFileSystem {
        dev,
        fs_type: text(r#type),
        name: text(id),
        kind: kind_of(*magic),
        mount_point: mount_point(dev, mounts),
        inodes: sums.visited,
        cached_inodes: sums.inodes_with_pages,
        pages: PagesByHolder { regular, directories, symlinks, block_devices, internal },
        deleted_pages: sums.unlinked_pages,
        deleted_files: sums.unlinked_files,
        gap: walked.gap,
    }
}

/// Where a file system is mounted: its root if anywhere, else the largest part of it.
fn mount_point(dev: Dev, mounts: &[Mount]) -> Option<PathBuf> {
    let depth = |mount: &&Mount| mount.root.components().count();
    let found = mounts.iter().filter(|mount| mount.dev == dev).min_by_key(depth);
    found.map(|mount| mount.mount_point.clone())
}

/// One file, with the path as it is seen from here.
pub(super) fn file_of(
    row: &Inode,
    file_system: usize,
    found: Found,
    of: &CachedFileSystem,
    mounts: &[Mount],
) -> CachedFile {
    let dev = Dev::from_kernel(row.dev);
    let holder = holder_of(row.mode);
    let device = (holder == PageHolder::BlockDevice).then(|| Dev::from_kernel(row.rdev));
    // A file system's own inodes have no link either.
    let deleted = (row.nlink == 0 || found.unhashed) && holder == PageHolder::Regular;
    let mut reachable = false;
    let path = match (device, found.path) {
        (Some(device), _) => {
            device_path(device).map_or(Observed::Missing(NO_DEVICE), Observed::Value)
        }
        (None, Observed::Value(path)) => {
            let seen = mounted_at(dev, &path, mounts).filter(|_| of.mount_point.is_some());
            reachable = seen.is_some() && !deleted;
            Observed::Value(seen.unwrap_or(path))
        }
        (None, missing) => missing,
    };
    CachedFile {
        id: FileId::new(dev, row.ino),
        file_system,
        holder,
        device,
        size_bytes: row.size_bytes,
        cached_pages: row.pages,
        deleted,
        path,
        reachable,
        state: Observed::Missing(NOT_ASKED),
        holders: Vec::new(),
        mapped: Some(row.mapped != 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_the_magic_and_the_mode() {
        assert_eq!(kind_of(0xef53), FileSystemKind::Ordinary);
        assert_eq!(kind_of(TMPFS_MAGIC), FileSystemKind::SharedMemory);
        assert_eq!(holder_of(0o100_644), PageHolder::Regular);
        assert_eq!(holder_of(0), PageHolder::Internal);
        assert_eq!(text(b"ext4\0\0junk"), "ext4");
    }
}
