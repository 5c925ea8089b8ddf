//! Where the saved files should be.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use hotset_facts::RestoreReport;
use hotset_snapshot::SavedFile;
use rustix::io::Errno;

use super::memory::MemoryWatch;

/// Where the files are, and who watches.
pub(super) struct Target<'a> {
    pub(super) root: Option<&'a Path>,
    pub(super) ignore_mtime: bool,
    pub(super) watch: &'a MemoryWatch<'a>,
}

impl Target<'_> {
    /// Where the saved file should be.
    pub(super) fn path_of(&self, saved: &SavedFile) -> PathBuf {
        below(self.root, Path::new(OsStr::from_bytes(&saved.path)))
    }
}

fn below(root: Option<&Path>, path: &Path) -> PathBuf {
    match root {
        Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
        None => path.to_owned(),
    }
}

/// Names a file that can't be opened: one that is gone is another matter than one that can't be read.
pub(super) fn add_failure(errno: Errno, path: PathBuf, report: &mut RestoreReport) {
    match errno {
        Errno::NOENT | Errno::NOTDIR => report.vanished.add(path, "there is no such file"),
        errno => report.refused.add(path, errno.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_stands_in_the_place_of_the_slash() {
        let path = |root: Option<&str>| below(root.map(Path::new), Path::new("/srv/db/f"));
        assert_eq!(path(None), Path::new("/srv/db/f"));
        assert_eq!(path(Some("/mnt/copy")), Path::new("/mnt/copy/srv/db/f"));
        assert_eq!(path(Some("copy/")), Path::new("copy/srv/db/f"));
        assert_eq!(path(Some("/")), Path::new("/srv/db/f"));
    }

    #[test]
    fn what_is_gone_is_told_apart_from_what_is_refused() {
        let mut report = RestoreReport::default();
        for errno in [Errno::NOENT, Errno::NOTDIR, Errno::ACCESS, Errno::LOOP] {
            add_failure(errno, "/x".into(), &mut report);
        }
        assert_eq!((report.vanished.count, report.refused.count), (2, 2));
    }
}
