//! /proc/PID/cmdline: the words that a process was started with.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use hotset_facts::Pid;

use super::{ProcError, read};

/// The words of `pid`, or nothing where it is gone; empty for kernel threads and for processes that have exited.
pub fn of(pid: Pid) -> Result<Option<Vec<OsString>>, ProcError> {
    Ok(read(&PathBuf::from(format!("/proc/{pid}/cmdline")))?.map(|bytes| parse(&bytes)))
}

/// Splits the file at its zero bytes. A program can overwrite its words, so anything may stand there.
pub fn parse(bytes: &[u8]) -> Vec<OsString> {
    if bytes.is_empty() {
        return Vec::new();
    }
    let words = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    words.split(|&byte| byte == 0).map(|word| OsString::from_vec(word.to_vec())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_words_stay_and_the_end_is_no_word() {
        assert_eq!(parse(b"a\0\0b c\0"), ["a", "", "b c"]);
        assert_eq!(parse(b"\0"), [""]);
        assert_eq!(parse(b"title without an end"), ["title without an end"]);
        assert!(parse(b"").is_empty());
    }
}
