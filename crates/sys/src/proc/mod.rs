//! One parser a file of /proc, each a pure function with a thin reader around it.
//!
//! Processes vanish while they are read. That is `None`, not an error.

pub mod children;
pub mod cmdline;
mod escape;
pub mod fds;
pub mod files;
pub mod maps;
pub mod meminfo;
pub mod mountinfo;
mod named;
pub mod own;
pub mod pid_io;
pub mod pressure;
pub mod smaps;
pub mod stat;
pub(crate) mod status;
pub mod users;
pub mod vmstat;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

pub use named::named;
pub use status::{OwnMemory, inner_pid, memory_of, memory_part_of};

/// Why a file of /proc could not be read or understood.
#[derive(Debug, thiserror::Error)]
pub enum ProcError {
    /// It can't be read.
    #[error("can't read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The kernel's answer.
        error: io::Error,
    },
    /// It has another format than the kernel documents.
    #[error("{}, {what}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where and what.
        what: Malformed,
    },
}

impl ProcError {
    fn read(path: &Path, error: io::Error) -> Self {
        Self::Read { path: path.to_owned(), error }
    }

    /// True where the caller lacks the permission.
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::Read { error, .. } if error.kind() == io::ErrorKind::PermissionDenied)
    }
}

/// A line that a parser does not understand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}, found {found:?}")]
pub struct Malformed {
    /// Its number, from 1.
    pub line: usize,
    /// What should have been there.
    pub expected: &'static str,
    /// What was there.
    pub found: String,
}

impl Malformed {
    fn new(line: usize, expected: &'static str, found: &[u8]) -> Self {
        Self { line, expected, found: String::from_utf8_lossy(found).into_owned() }
    }
}

/// The bytes of a file of /proc, or nothing where its process is gone.
fn read(path: &Path) -> Result<Option<Vec<u8>>, ProcError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(ProcError::read(path, error)),
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NOENT | Errno::SRCH))
}

/// The entries of a directory of /proc whose names are numbers, in ascending order, or nothing where its process is gone.
fn numbers_in(dir: &Path) -> Result<Option<Vec<u32>>, ProcError> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if is_gone(&error) => return Ok(None),
        Err(error) => return Err(ProcError::read(dir, error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        match entry {
            Ok(entry) => names.push(entry.file_name()),
            Err(error) if is_gone(&error) => break,
            Err(error) => return Err(ProcError::read(dir, error)),
        }
    }
    Ok(Some(numbers_among(names)))
}

/// Those of these names that are numbers, in ascending order.
fn numbers_among(names: impl IntoIterator<Item = OsString>) -> Vec<u32> {
    let mut numbers: Vec<u32> =
        names.into_iter().filter_map(|name| name.to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

/// Reads and parses a file of a process.
fn read_with<T>(
    path: &Path,
    parse: impl FnOnce(&[u8]) -> Result<T, Malformed>,
) -> Result<Option<T>, ProcError> {
    let Some(bytes) = read(path)? else { return Ok(None) };
    parse(&bytes).map(Some).map_err(|what| ProcError::Malformed { path: path.to_owned(), what })
}

/// A decimal number that is the whole of `digits`.
fn decimal(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// What stands before the first `separator` and what after it.
fn split_once(bytes: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|&byte| byte == separator)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

/// The value of the line `name:` in a file of such lines, like /proc/PID/status, without the white space around it.
pub(crate) fn value_of<'a>(text: &'a [u8], name: &str) -> Option<&'a [u8]> {
    lines(text).find_map(|(_, line)| {
        Some(line.strip_prefix(name.as_bytes())?.strip_prefix(b":")?.trim_ascii())
    })
}

/// The bytes of a value in kilobytes, like `16 kB`.
pub(crate) fn kilobytes(value: &[u8]) -> Option<u64> {
    decimal(value.trim_ascii().strip_suffix(b" kB")?)?.checked_mul(1024)
}

/// Lines without their ends; the empty one after the last is left out.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    bytes
        .split(|&byte| byte == b'\n')
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(|(_, line)| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_name_and_kilobytes_are_bytes() {
        let status = b"VmPin:\t 9 kB\nVmLck:\t      12 kB\nTgid:\t7\n";
        assert_eq!(value_of(status, "VmLck").and_then(kilobytes), Some(12 << 10));
        assert_eq!(value_of(status, "Tgid"), Some(b"7".as_slice()));
        assert_eq!(value_of(status, "Vm"), None);
        assert_eq!(value_of(b"", "VmLck"), None);
        assert_eq!(kilobytes(b"12"), None);
        assert_eq!(kilobytes(b"18446744073709551615 kB"), None);
    }

    #[test]
    fn a_process_that_never_was_has_no_numbers() {
        assert_eq!(numbers_in(Path::new("/proc/4294967295/task")).expect("no error"), None);
    }
}
