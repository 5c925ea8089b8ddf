//! getdents64(2): the entries of a directory, a block at a time.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::fs::FileType;
use rustix::io::Errno;

/// Bytes that are asked for at a time: some 2,000 entries, about what ext4 and xfs give without a second look.
pub(super) const BLOCK_BYTES: usize = 64 << 10;

/// Where `struct linux_dirent64` has its name: behind inode (8 bytes), cookie (8), length (2) and type (1).
const NAME_AT: usize = 19;

/// Entries that were read from a directory and not taken yet.
#[derive(Default)]
pub(super) struct Entries {
    bytes: Vec<u8>,
    at: usize,
    end: usize,
}

/// One entry.
pub(super) struct Entry<'a> {
    /// Its name, any bytes.
    pub(super) name: &'a CStr,
    /// `Unknown` where the file system doesn't say.
    pub(super) kind: FileType,
    /// Where in the directory the next one lies, for lseek(2).
    pub(super) cookie: u64,
}

impl Entries {
    /// Reads the next block; false at the directory's end.
    pub(super) fn fill(&mut self, dir: BorrowedFd<'_>) -> Result<bool, Errno> {
        self.bytes.resize(BLOCK_BYTES, 0);
        (self.at, self.end) = (0, 0);
        // SAFETY: the kernel writes at most as many bytes as the buffer has.
        let read = unsafe {
            libc::syscall(
                libc::SYS_getdents64,
                dir.as_raw_fd(),
                self.bytes.as_mut_ptr(),
                self.bytes.len(),
            )
        };
        match usize::try_from(read) {
            Ok(read) => {
                self.end = read.min(self.bytes.len());
                Ok(read > 0)
            }
            Err(_) => Err(crate::cache::last_errno()),
        }
    }

    /// Bytes of entries that are left.
    pub(super) fn left(&self) -> usize {
        self.end - self.at
    }

    /// The next entry of the block.
    pub(super) fn next(&mut self) -> Option<Entry<'_>> {
        let record = self.bytes.get(self.at..self.end)?;
        let length = record_length(record)?;
        let record = record.get(..length)?;
        self.at += length;
        Some(Entry {
            name: CStr::from_bytes_until_nul(record.get(NAME_AT..)?).ok()?,
            kind: kind_of(record[NAME_AT - 1]),
            cookie: number(record, 8)?,
        })
    }

    /// Takes the first half of what is left out of here (all of a single entry), with the cookie behind it.
    pub(super) fn split(&mut self) -> Option<(Self, u64)> {
        let (start, middle) = (self.at, self.at + self.left() / 2);
        let (mut at, mut cookie) = (start, None);
        while at < middle {
            let record = self.bytes.get(at..self.end)?;
            cookie = number(record, 8);
            at += record_length(record)?;
        }
        let bytes = self.bytes.get(start..at)?.to_vec();
        self.at = at;
        let end = bytes.len();
        Some((Self { bytes, at: 0, end }, cookie?))
    }

    /// The buffer, to be used again.
    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.bytes
    }

    /// No entries yet, in a buffer that was used before.
    pub(super) fn in_buffer(bytes: Vec<u8>) -> Self {
        Self { bytes, at: 0, end: 0 }
    }
}

fn number(record: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(record.get(at..at + 8)?.try_into().ok()?))
}

fn record_length(record: &[u8]) -> Option<usize> {
    let length = usize::from(u16::from_ne_bytes([*record.get(16)?, *record.get(17)?]));
    (length > NAME_AT).then_some(length)
}

fn kind_of(raw: u8) -> FileType {
    match raw {
        libc::DT_REG => FileType::RegularFile,
        libc::DT_DIR => FileType::Directory,
        libc::DT_LNK => FileType::Symlink,
        libc::DT_BLK => FileType::BlockDevice,
        libc::DT_CHR => FileType::CharacterDevice,
        libc::DT_FIFO => FileType::Fifo,
        libc::DT_SOCK => FileType::Socket,
        _ => FileType::Unknown,
    }
}
