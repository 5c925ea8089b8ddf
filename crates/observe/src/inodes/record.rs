//! The mirror of `bpf/include/inodes.h`.

use crate::record::{Plain, mirror};

pub(super) const KINDS: usize = 5;
pub(super) const PAGE_BUCKETS: usize = 32;
/// Rows that the table holds.
pub(super) const INODE_ROWS: u64 = 65_536;

pub(super) const WALK_MORE: u32 = 0;
pub(super) const WALK_COMPLETE: u32 = 1;
pub(super) const WALK_GONE: u32 = 3;
pub(super) const WALK_FULL: u32 = 4;

pub(super) const PATH_COMPLETE: u32 = 0;
pub(super) const PATH_GONE: u32 = 1;
pub(super) const PATH_NO_NAME: u32 = 2;

mirror! {
    /// The context of `superblocks`.
    List {
        fd: u32,
        count: u32,
        status: u32,
        unused: u32,
    }
}

mirror! {
    /// One superblock.
    Superblock {
        pointer: u64,
        magic: u64,
        dev: u32,
        unused: u32,
        r#type: [u8; 16],
        id: [u8; 32],
    }
}

mirror! {
    /// The context of `inodes`: one superblock's walk, and its sums so far.
    Walk {
        superblock: u64,
        cursor: u64,
        cursor_ino: u64,
        min_pages: u64,
        min_size_bytes: u64,
        visited: u64,
        rows: u64,
        candidates: u64,
        inodes_with_pages: u64,
        pages: [u64; KINDS],
        unlinked_pages: u64,
        unlinked_files: u64,
        sizes: [u64; PAGE_BUCKETS],
        dev: u32,
        cursor_generation: u32,
        limit: u32,
        status: u32,
    }
}

mirror! {
    /// An inode with a row of its own.
    Inode {
        pointer: u64,
        superblock: u64,
        ino: u64,
        pages: u64,
        size_bytes: u64,
        dev: u32,
        rdev: u32,
        nlink: u32,
        mode: u32,
        mapped: u32,
        unused: u32,
    }
}

mirror! {
    /// The context of `path`.
    InodePath {
        inode: u64,
        superblock: u64,
        ino: u64,
        length: u32,
        status: u32,
        unhashed: u32,
        unused: u32,
    }
}
