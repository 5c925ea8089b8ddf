//! What both sides require of every value, so that nothing can be written that would not be read.

use hotset_facts::PageRange;

use crate::types::{FileSystem, Header, SavedFile};

/// Bytes of a path or mount point.
pub(crate) const MAX_PATH_BYTES: usize = 32 * 1024;
/// Bytes of any other text.
pub(crate) const MAX_TEXT_BYTES: usize = 255;
/// Bytes of the writer's version.
pub(crate) const MAX_VERSION_BYTES: usize = 64;
/// File systems: a table that a reader keeps.
pub(crate) const MAX_FILE_SYSTEMS: usize = 4096;
/// Ranges in one record.
pub(crate) const MAX_RANGES: usize = 1024;
/// The largest file offset that Linux has.
const MAX_SIZE_BYTES: u64 = i64::MAX as u64;

/// What was expected, and what is there instead.
pub(crate) type Wrong = (&'static str, String);

pub(crate) fn require(
    good: bool,
    expected: &'static str,
    found: impl FnOnce() -> String,
) -> Result<(), Wrong> {
    if good { Ok(()) } else { Err((expected, found())) }
}

pub(crate) fn header(header: &Header) -> Result<(), Wrong> {
    let page = header.page_size;
    require(
        page.is_power_of_two() && (1 << 10..=1 << 20).contains(&page),
        "a page size that is a power of two from 1 KiB to 1 MiB",
        || page.to_string(),
    )?;
    let seconds = header.created_s;
    require(i64::try_from(seconds).is_ok(), "a time in seconds since 1970", || {
        seconds.to_string()
    })?;
    text(&header.kernel)
}

pub(crate) fn written_by(text: &str) -> Result<(), Wrong> {
    require(text.len() <= MAX_VERSION_BYTES, "a version of at most 64 bytes", || {
        format!("{} bytes", text.len())
    })
}

fn text(text: &str) -> Result<(), Wrong> {
    require(text.len() <= MAX_TEXT_BYTES, "at most 255 bytes of text", || {
        format!("{} bytes", text.len())
    })
}

pub(crate) fn file_system(known: usize, fs: &FileSystem) -> Result<(), Wrong> {
    require(known < MAX_FILE_SYSTEMS, "at most 4,096 file systems", || "one more".to_owned())?;
    text(&fs.kind)?;
    text(fs.uuid.as_deref().unwrap_or_default())?;
    require(fs.mount.len() <= MAX_PATH_BYTES, "a mount point of at most 32 KiB", || {
        format!("{} bytes", fs.mount.len())
    })
}

pub(crate) fn file(file: &SavedFile, file_systems: usize) -> Result<(), Wrong> {
    path(&file.path)?;
    require(
        (file.file_system as usize) < file_systems,
        "a file system that was named before",
        || format!("number {} of {file_systems}", file.file_system),
    )?;
    let size = file.size_bytes;
    require(size <= MAX_SIZE_BYTES, "a size below 8 EiB", || size.to_string())?;
    let nanos = file.mtime.nanos;
    require(nanos < 1_000_000_000, "less than 1,000,000,000 nanoseconds", || nanos.to_string())
}

pub(crate) fn path(path: &[u8]) -> Result<(), Wrong> {
    let found = || path[..path.len().min(256)].escape_ascii().to_string();
    require(path.len() <= MAX_PATH_BYTES, "a path of at most 32 KiB", || {
        format!("{} bytes", path.len())
    })?;
    require(path.first() == Some(&b'/'), "an absolute path", found)?;
    require(!path.contains(&0), "a path without NUL", found)?;
    let plain = |part: &[u8]| !matches!(part, b"" | b"." | b"..");
    require(
        path[1..].split(|&byte| byte == b'/').all(plain),
        "a path without `.`, `..` or empty components",
        found,
    )
}

/// One more range of a file whose last one ended at page `end`; answers where this one ends.
pub(crate) fn range(range: PageRange, end: Option<u64>, file_pages: u64) -> Result<u64, Wrong> {
    let found = || format!("{} pages from page {}", range.count, range.first);
    require(range.count > 0, "a range of at least one page", found)?;
    require(
        end.is_none_or(|end| range.first > end),
        "a range beyond the one before, and apart from it",
        found,
    )?;
    let last = range.first.checked_add(range.count).filter(|&last| last <= file_pages);
    last.ok_or_else(|| ("a range within the file's size", format!("{} of {file_pages}", found())))
}
