//! The octal escapes (`\040`) with which /proc keeps white space out of its fields.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// Replaces every `\ooo` that stands for one of `escaped` by its byte.
pub(super) fn unescape(field: &[u8], escaped: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, tail)) = rest.split_first() {
        match octal(rest).filter(|byte| escaped.contains(byte)) {
            Some(byte) => {
                out.push(byte);
                rest = &rest[4..];
            }
            None => {
                out.push(first);
                rest = tail;
            }
        }
    }
    out
}

/// [`unescape`] into a path.
pub(super) fn unescape_path(field: &[u8], escaped: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape(field, escaped)))
}

fn octal(bytes: &[u8]) -> Option<u8> {
    let [b'\\', high @ b'0'..=b'3', mid @ b'0'..=b'7', low @ b'0'..=b'7', ..] = bytes else {
        return None;
    };
    Some((high - b'0') << 6 | (mid - b'0') << 3 | (low - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_kernel_escapes_is_decoded() {
        assert_eq!(unescape(b"a\\040b\\134c", b" \\"), b"a b\\c");
        assert_eq!(unescape(b"a\\040b\\012", b"\n"), b"a\\040b\n");
        assert_eq!(unescape(b"\\", b"\n"), b"\\");
        assert_eq!(unescape(b"x\\01", b"\n"), b"x\\01");
    }
}
