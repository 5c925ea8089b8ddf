//! Directories that paths lose before they are compared.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// Directories, such as those of two builds: what is below one of them is compared by its path below it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Strip {
    /// The longest first: one may be in another. Without a slash at the end.
    directories: Vec<PathBuf>,
}

impl Strip {
    /// These directories, in any order.
    pub fn of(directories: impl IntoIterator<Item = PathBuf>) -> Self {
        let trimmed = directories.into_iter().map(|directory| {
            let bytes = directory.as_os_str().as_bytes();
            let length = bytes.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
            PathBuf::from(OsStr::from_bytes(&bytes[..length]))
        });
        let mut directories: Vec<PathBuf> =
            trimmed.filter(|directory| !directory.as_os_str().is_empty()).collect();
        directories.sort_by_key(|directory| Reverse(directory.as_os_str().len()));
        directories.dedup();
        Self { directories }
    }

    /// The directories.
    pub fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// A path without the directory that it is below.
    pub(super) fn path<'a>(&self, path: &'a [u8]) -> &'a [u8] {
        let below = |directory: &PathBuf| {
            let rest = path.strip_prefix(directory.as_os_str().as_bytes())?;
            rest.strip_prefix(b"/").or_else(|| rest.is_empty().then_some(b"."))
        };
        self.directories.iter().find_map(below).unwrap_or(path)
    }

    /// Words of a command, in which paths stand after blanks and signs of equality.
    pub(super) fn words(&self, words: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(words.len());
        let mut word = Vec::new();
        for &byte in words {
            word.push(byte);
            if matches!(byte, b' ' | b'=') {
                self.push_word(&word, &mut out);
                word.clear();
            }
        }
        self.push_word(&word, &mut out);
        out
    }

    fn push_word(&self, word: &[u8], out: &mut Vec<u8>) {
        let (name, end) = match word.last() {
            Some(b' ' | b'=') => word.split_at(word.len() - 1),
            _ => (word, [].as_slice()),
        };
        out.extend_from_slice(self.path(name));
        out.extend_from_slice(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_the_longest_directory_that_they_are_below() {
        let strip = Strip::of(["/build/a/", "/build", "/", ""].map(PathBuf::from));
        assert_eq!(strip.directories().len(), 2);
        for (path, stripped) in [
            ("/build/a/x.o", "x.o"),
            ("/build/x.o", "x.o"),
            ("/build/ab", "ab"),
            ("/builder/x.o", "/builder/x.o"),
            ("/build/a", "."),
            ("x.o", "x.o"),
        ] {
            assert_eq!(strip.path(path.as_bytes()), stripped.as_bytes(), "{path}");
        }
        let words = strip.words(b"cc -o /build/a/x.o --root=/build/a /usr/x.c");
        assert_eq!(words, b"cc -o x.o --root=. /usr/x.c");
        assert_eq!(Strip::default().words(b"cc  x "), b"cc  x ");
    }
}
