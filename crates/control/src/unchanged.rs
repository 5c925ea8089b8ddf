//! Whether a file is still the one that was saved.

use hotset_snapshot::{Mtime, SavedFile};
use rustix::fs::{FileType, Stat};

/// The modification time that stat(2) gave.
pub(crate) fn mtime_of(stat: &Stat) -> Mtime {
    #[allow(
        clippy::useless_conversion,
        clippy::unnecessary_cast,
        reason = "the types depend on the architecture"
    )]
    Mtime { seconds: stat.st_mtime as i64, nanos: u32::try_from(stat.st_mtime_nsec).unwrap_or(0) }
}

/// Why a file is not as it was, for people; nothing where it is. Device and inode number may differ: they do after a copy,
/// and can after a restart. `size_bytes` is the capacity of a block device, whose modification time tells nothing.
pub(crate) fn difference(
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

    /// A file of 100 bytes that was saved, and the same as it is now.
    fn saved() -> (SavedFile, Stat) {
        let stat = rustix::fs::stat(std::env::current_exe().expect("this program")).expect("stat");
        let saved = SavedFile { size_bytes: 100, mtime: mtime_of(&stat), ..SavedFile::default() };
        (saved, stat)
    }

    #[test]
    fn size_and_time_tell() {
        let (same, stat) = saved();
        assert_eq!(difference(&same, &stat, 100, false), None);
        let longer = difference(&same, &stat, 101, true).expect("another size");
        assert!(longer.contains("100 bytes were saved") && longer.contains("101"), "{longer}");
        let nanos = (same.mtime.nanos + 1) % 1_000_000_000;
        let touched = SavedFile { mtime: Mtime { nanos, ..same.mtime }, ..same };
        assert!(difference(&touched, &stat, 100, false).is_some());
        assert_eq!(difference(&touched, &stat, 100, true), None);
    }

    #[test]
    fn a_time_before_1970_is_a_time() {
        let (_, mut stat) = saved();
        stat.st_mtime = -1;
        stat.st_mtime_nsec = 5;
        assert_eq!(mtime_of(&stat), Mtime { seconds: -1, nanos: 5 });
    }

    #[test]
    fn the_time_of_a_block_device_tells_nothing_but_its_size_does() {
        let (device, mut stat) = saved();
        stat.st_mode = 0o060_660;
        stat.st_mtime = 7;
        assert_eq!(difference(&device, &stat, 100, false), None);
        assert!(difference(&device, &stat, 200, true).is_some());
    }
}
