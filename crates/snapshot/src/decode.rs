//! Bytes into records, checked.

use hotset_facts::{Dev, PageRange};

use crate::check::{self, MAX_PATH_BYTES, MAX_RANGES, MAX_TEXT_BYTES, Wrong};
use crate::cursor::Cursor;
use crate::error::SnapshotError;
use crate::types::{FileSystem, Header, Mtime, SavedFile, Totals};

/// A failed check at `offset`.
pub(crate) fn wrong(offset: u64) -> impl FnOnce(Wrong) -> SnapshotError {
    move |(expected, found)| SnapshotError::damaged(offset, expected, found)
}

pub(crate) fn header(cursor: &mut Cursor<'_>, written_by: String) -> Result<Header, SnapshotError> {
    let start = cursor.offset();
    let header = Header {
        page_size: cursor.varint(u64::MAX, "a page size")?,
        created_s: cursor.varint(u64::MAX, "a time")?,
        kernel: cursor.text(MAX_TEXT_BYTES, "a kernel's release of at most 255 bytes")?,
        written_by,
    };
    check::header(&header).map_err(wrong(start))?;
    require_end(cursor)?;
    Ok(header)
}

pub(crate) fn file_system(
    cursor: &mut Cursor<'_>,
    known: usize,
) -> Result<FileSystem, SnapshotError> {
    let start = cursor.offset();
    let fs = FileSystem {
        dev: Dev {
            major: narrow(cursor, "a major device number")?,
            minor: narrow(cursor, "a minor device number")?,
        },
        kind: cursor.text(MAX_TEXT_BYTES, "a file system's type of at most 255 bytes")?,
        mount: cursor.bytes(MAX_PATH_BYTES, "a mount point of at most 32 KiB")?.to_vec(),
        uuid: Some(cursor.text(MAX_TEXT_BYTES, "a UUID of at most 255 bytes")?)
            .filter(|uuid| !uuid.is_empty()),
    };
    check::file_system(known, &fs).map_err(wrong(start))?;
    Ok(fs)
}

/// `previous` is the path of the file before in this block.
pub(crate) fn file(
    cursor: &mut Cursor<'_>,
    previous: &[u8],
    file_systems: usize,
) -> Result<SavedFile, SnapshotError> {
    let start = cursor.offset();
    let file_system = narrow(cursor, "the number of a file system")?;
    let shared = cursor.varint(previous.len() as u64, "no more than the path before has")?;
    let rest = cursor.bytes(MAX_PATH_BYTES, "a path of at most 32 KiB")?;
    let path = [&previous[..shared as usize], rest].concat();
    let file = SavedFile {
        path,
        file_system,
        ino: cursor.varint(u64::MAX, "an inode number")?,
        size_bytes: cursor.varint(u64::MAX, "a size")?,
        mtime: Mtime {
            seconds: cursor.signed("a modification time")?,
            nanos: narrow(cursor, "the nanoseconds of a modification time")?,
        },
        users: cursor.varint(u64::MAX, "a number of processes")?,
    };
    check::file(&file, file_systems).map_err(wrong(start))?;
    Ok(file)
}

/// Ranges of a file whose last one ended at `end`.
pub(crate) fn ranges(
    cursor: &mut Cursor<'_>,
    mut end: Option<u64>,
    file_pages: u64,
) -> Result<Vec<PageRange>, SnapshotError> {
    let start = cursor.offset();
    let count = cursor.varint(MAX_RANGES as u64, "at most 1,024 ranges")?;
    check::require(count > 0, "at least one range", || "none".to_owned()).map_err(wrong(start))?;
    let mut ranges = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let at = cursor.offset();
        let gap = cursor.varint(file_pages, "a distance within the file")?;
        let length = cursor.varint(file_pages, "a length within the file")?;
        // Both are below 2^63, and so is `end`.
        let range = PageRange { first: end.unwrap_or(0) + gap, count: length + 1 };
        end = Some(check::range(range, end, file_pages).map_err(wrong(at))?);
        ranges.push(range);
    }
    Ok(ranges)
}

/// The sums that were written, and the CRC of all before the trailer.
pub(crate) fn trailer(cursor: &mut Cursor<'_>) -> Result<(Totals, u32), SnapshotError> {
    let totals = Totals {
        files: cursor.varint(u64::MAX, "a number of files")?,
        ranges: cursor.varint(u64::MAX, "a number of ranges")?,
        pages: cursor.varint(u64::MAX, "a number of pages")?,
    };
    let check = cursor.take(4, "the checksum of the whole")?;
    let check = u32::from_le_bytes([check[0], check[1], check[2], check[3]]);
    require_end(cursor)?;
    Ok((totals, check))
}

fn narrow(cursor: &mut Cursor<'_>, expected: &'static str) -> Result<u32, SnapshotError> {
    cursor.varint(u32::MAX.into(), expected).map(|value| value as u32)
}

fn require_end(cursor: &Cursor<'_>) -> Result<(), SnapshotError> {
    if cursor.is_at_end() {
        return Ok(());
    }
    Err(SnapshotError::damaged(cursor.offset(), "the block's end", "more bytes"))
}
