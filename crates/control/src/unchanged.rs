//! Whether a file is still the one that was saved.

use hotset_snapshot::{Mtime, SavedFile};
use rustix::fs::{FileType, Stat};

/// The modification time that stat(2) gave.
pub(super) fn mtime_of(stat: &Stat) -> Mtime {
    #[allow(
        clippy::useless_conversion,
        clippy::unnecessary_cast,
        reason = "the types depend on the architecture"
    )]
    Mtime { seconds: stat.st_mtime as i64, nanos: u32::try_from(stat.st_mtime_nsec).unwrap_or(0) }
}

/// Why a file is not as it was, for people; nothing where it is. Device and inode number may differ: they do after a copy,
/// and can after a restart. `size_bytes` is the capacity of a block device, whose modification time tells nothing.
pub(super) fn difference(
    saved: &SavedFile,
    stat: &Stat,
    size_bytes: u64,
    ignore_mtime: bool,
) -> Option<String> {
    if saved.size_bytes != size_bytes {
        return Some(format!("{} bytes were saved, it has {size_bytes}", saved.size_bytes));
    }
    let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    if ignore_mtime || is_device || saved.mtime == mtime_of(stat) {
        return None;
    }
    Some("modified since it was saved, or copied without its time (--ignore-mtime)".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_and_time_tell() {
        let file = std::env::current_exe().expect("this program");
        let stat = rustix::fs::stat(&file).expect("stat");
        let size = u64::try_from(stat.st_size).expect("a size");
        let same = SavedFile { size_bytes: size, mtime: mtime_of(&stat), ..SavedFile::default() };
        assert_eq!(difference(&same, &stat, size, false), None);
        let longer = SavedFile { size_bytes: size + 1, ..same.clone() };
        assert!(difference(&longer, &stat, size, true).is_some_and(|text| text.contains("bytes")));
        let nanos = (same.mtime.nanos + 1) % 1_000_000_000;
        let touched = SavedFile { mtime: Mtime { nanos, ..same.mtime }, ..same };
        assert!(difference(&touched, &stat, size, false).is_some());
        assert_eq!(difference(&touched, &stat, size, true), None);
    }
}
