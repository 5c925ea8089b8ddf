//! A file or a document of the user's in the place of generated ones.

use std::fs::File;
use std::path::{Path, PathBuf};

use hotset_sys::cache::is_in_memory;

/// A file that is there and can be evicted. It is only read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Own {
    /// Absolute: probes run in directories of their own.
    pub(super) path: PathBuf,
    /// Its size, which is not 0.
    pub(super) bytes: u64,
}

impl Own {
    /// The file of an option.
    ///
    /// # Errors
    /// Where it can't be read, holds nothing, is no regular file or is in memory only: names the option and the file.
    pub(super) fn of(option: &str, path: &Path) -> Result<Self, String> {
        let refused = |why: String| format!("{option} {}: {why}", path.display());
        let look = || -> std::io::Result<(PathBuf, File, std::fs::Metadata)> {
            let file = File::open(path)?;
            let meta = file.metadata()?;
            Ok((std::path::absolute(path)?, file, meta))
        };
        let (path, file, meta) = look().map_err(|error| refused(error.to_string()))?;
        let why = match meta.len() {
            _ if !meta.is_file() => "expected a regular file",
            0 => "an empty file holds nothing to read",
            _ if is_in_memory(&file) => {
                "its file system is only in memory, so it cannot be evicted; expected a file on a device"
            }
            bytes => return Ok(Self { path, bytes }),
        };
        Err(refused(why.to_owned()))
    }

    /// Refuses what is no JSON.
    ///
    /// # Errors
    /// Says where it stops being JSON, or why it can't be read.
    pub(super) fn require_json(&self, option: &str) -> Result<(), String> {
        let refused = |why: String| format!("{option} {}: {why}", self.path.display());
        let text = std::fs::read(&self.path).map_err(|error| refused(error.to_string()))?;
        serde_json::from_slice::<serde::de::IgnoredAny>(&text)
            .map(drop)
            .map_err(|error| refused(format!("expected a JSON document: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    #[test]
    fn what_can_not_be_measured_is_refused_by_option_and_file() {
        let scratch = Scratch::new();
        let write = |name: &str, text: &[u8]| {
            let path = scratch.path(name);
            std::fs::write(&path, text).expect("a file");
            path
        };
        let made = Own::of("--document", &write("a.json", b"[1, {}]")).expect("a document");
        assert_eq!((made.bytes, made.path.is_absolute()), (7, true));
        assert_eq!(made.require_json("--document"), Ok(()));
        for (path, why) in [
            (write("empty", b""), "holds nothing"),
            (scratch.path(""), "regular file"),
            (scratch.path("gone"), "No such file"),
            (PathBuf::from("/dev/null"), "regular file"),
        ] {
            let error = Own::of("--file", &path).expect_err("refused");
            let names = error.starts_with(&format!("--file {}: ", path.display()));
            assert!(names && error.contains(why), "{error}");
        }
        let cut = Own::of("--document", &write("b.json", b"[1,")).expect("a file");
        let error = cut.require_json("--document").expect_err("refused");
        assert!(error.contains("b.json: expected a JSON document: EOF"), "{error}");
    }
}
