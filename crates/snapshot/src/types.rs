//! What a snapshot says.

use hotset_facts::{Dev, PageRange};

/// Where and when it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Bytes of one page, in which all ranges count: a power of two.
    pub page_size: u64,
    /// Seconds since 1970.
    pub created_s: u64,
    /// The kernel's release, at most 255 bytes.
    pub kernel: String,
    /// The version of hotset that wrote it, at most 64 bytes.
    pub written_by: String,
}

/// A file system that holds saved files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystem {
    /// Its device at that time, as `st_dev` says it.
    pub dev: Dev,
    /// Its type (`ext4`), at most 255 bytes.
    pub kind: String,
    /// Where it was mounted, any bytes, at most 32 KiB; empty where that is unknown.
    pub mount: Vec<u8>,
    /// Its UUID as text, if it has one; at most 255 bytes.
    pub uuid: Option<String>,
}

/// A modification time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub struct Mtime {
    /// Seconds since 1970; before it they are negative.
    pub seconds: i64,
    /// Nanoseconds beyond them, below 1,000,000,000.
    pub nanos: u32,
}

/// A file of which pages were cached.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SavedFile {
    /// Its absolute path: any bytes but NUL, without `.`, `..` or empty components, at most 32 KiB.
    pub path: Vec<u8>,
    /// Its file system: the place in [`crate::Reader::file_systems`].
    pub file_system: u32,
    /// Its inode number.
    pub ino: u64,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// When it was last modified.
    pub mtime: Mtime,
    /// How many processes had it open or mapped.
    pub users: u64,
}

/// One thing that a snapshot says, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A file; its ranges follow.
    File(SavedFile),
    /// Ranges of the file before, ascending, apart from each other, within its size; at most 1,024 at a time.
    Ranges(Vec<PageRange>),
}

/// Sums over a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// How many files it holds.
    pub files: u64,
    /// Ranges of all of them.
    pub ranges: u64,
    /// Pages in these ranges.
    pub pages: u64,
}
