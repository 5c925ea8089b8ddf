//! Where a trace is kept while it is written: in parts beside the file that it becomes.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What stands between the name of a trace and the number of a part.
const PART: &str = ".part-";
/// Digits of a part's number.
const DIGITS: usize = 5;

/// The name of a part.
pub fn part_path(trace: &Path, number: u32) -> PathBuf {
    let mut name: OsString = trace.as_os_str().to_owned();
    name.push(format!("{PART}{number:0DIGITS$}"));
    name.into()
}

/// The parts of a trace that are there, in order.
///
/// # Errors
/// Where its directory can't be listed.
pub fn parts_of(trace: &Path) -> io::Result<Vec<PathBuf>> {
    let directory = match trace.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let Some(name) = trace.file_name() else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        if let Some(number) = part_number(name, &entry?.file_name()) {
            found.push(number);
        }
    }
    found.sort_unstable();
    Ok(found.into_iter().map(|number| part_path(trace, number)).collect())
}

/// The number of a part of the trace `name`, if `found` is the name of one.
fn part_number(name: &OsStr, found: &OsStr) -> Option<u32> {
    let rest = found.as_encoded_bytes().strip_prefix(name.as_encoded_bytes())?;
    let digits = rest.strip_prefix(PART.as_bytes())?;
    let is_number = digits.len() >= DIGITS && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_from_other_files() {
        let number = |found: &str| part_number(OsStr::new("a.parquet"), OsStr::new(found));
        assert_eq!(number("a.parquet.part-00007"), Some(7));
        assert_eq!(number("a.parquet.part-123456"), Some(123_456));
        for other in [
            "a.parquet",
            "a.parquet.part-",
            "a.parquet.part-7",
            "b.parquet.part-00007",
            "a.parquet.part-0000x",
        ] {
            assert_eq!(number(other), None, "{other}");
        }
        let path = part_path(Path::new("/tmp/a.parquet"), 7);
        assert_eq!(path, Path::new("/tmp/a.parquet.part-00007"));
    }
}
