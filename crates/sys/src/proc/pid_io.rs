//! /proc/PID/io: what a process moved, all its threads included, those that exited too.

use std::path::{Path, PathBuf};

use hotset_facts::Pid;

use super::{Malformed, ProcError, decimal, lines, read_with, split_once};

/// The counters of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PidIo {
    /// Bytes that read calls returned, from wherever.
    pub rchar: u64,
    /// Bytes that write calls accepted.
    pub wchar: u64,
    /// Read calls.
    pub read_calls: u64,
    /// Write calls.
    pub write_calls: u64,
    /// Bytes that it made the block layer read.
    pub read_bytes: u64,
    /// Bytes of pages that it dirtied, which is not what reached the device.
    pub write_bytes: u64,
    /// Bytes of dirty pages that it truncated away before they were written.
    pub cancelled_write_bytes: u64,
}

/// The counters of `pid`, or nothing where it is gone. Needs the right to trace it.
pub fn of(pid: Pid) -> Result<Option<PidIo>, ProcError> {
    read_with(&PathBuf::from(format!("/proc/{pid}/io")), parse)
}

/// The counters of this process.
pub fn own() -> Result<Option<PidIo>, ProcError> {
    read_with(Path::new("/proc/self/io"), parse)
}

/// Parses the whole file; lines that newer kernels add are passed over.
pub fn parse(bytes: &[u8]) -> Result<PidIo, Malformed> {
    let mut io = PidIo::default();
    for (number, line) in lines(bytes) {
        let malformed = || Malformed::new(number, "a name, a colon and a number", line);
        let (name, value) = split_once(line, b':').ok_or_else(malformed)?;
        let value = decimal(value.trim_ascii()).ok_or_else(malformed)?;
        match name {
            b"rchar" => io.rchar = value,
            b"wchar" => io.wchar = value,
            b"syscr" => io.read_calls = value,
            b"syscw" => io.write_calls = value,
            b"read_bytes" => io.read_bytes = value,
            b"write_bytes" => io.write_bytes = value,
            b"cancelled_write_bytes" => io.cancelled_write_bytes = value,
            _ => {}
        }
    }
    Ok(io)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_is_read_and_unknown_ones_are_not_an_error() {
        let io = parse(
            b"rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n\
              cancelled_write_bytes: 7\nnew_thing: 8\n",
        )
        .expect("io");
        assert_eq!((io.rchar, io.wchar, io.read_calls, io.write_calls), (1, 2, 3, 4));
        assert_eq!((io.read_bytes, io.write_bytes, io.cancelled_write_bytes), (5, 6, 7));
        assert_eq!(parse(b"rchar: x\n").expect_err("no number").line, 1);
    }

    #[test]
    fn a_process_that_never_was_is_none() {
        assert_eq!(of(u32::MAX / 2).expect("no error"), None);
        assert!(own().expect("own").is_some());
    }
}
