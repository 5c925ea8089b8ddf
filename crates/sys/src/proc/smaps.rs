//! /proc/PID/smaps: how much of each mapped file a process has in its page tables, and what it has locked.

use std::path::PathBuf;

use hotset_facts::{FileId, Pid};

use super::maps::{self, MappedFile};
use super::{Malformed, ProcError, kilobytes, lines, read_with};

/// One mapping of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MappedArea {
    /// The file, as /proc identifies it.
    pub id: FileId,
    /// Bytes of it in the page tables.
    pub resident_bytes: u64,
    /// Whether it is locked into memory.
    pub locked: bool,
}

/// The file mappings of `pid`, or nothing where it is gone.
pub fn of(pid: Pid) -> Result<Option<Vec<MappedArea>>, ProcError> {
    read_with(&PathBuf::from(format!("/proc/{pid}/smaps")), parse)
}

/// Parses the whole file. Fields that are not known are passed over.
pub fn parse(bytes: &[u8]) -> Result<Vec<MappedArea>, Malformed> {
    let mut areas: Vec<MappedArea> = Vec::new();
    let mut in_file = false;
    for (number, line) in lines(bytes) {
        let malformed = || Malformed::new(number, "a field as proc_pid_smaps(5) has it", line);
        // Fields begin with a capital letter, mappings with a hexadecimal digit in lower case.
        if line.first().is_none_or(|first| !first.is_ascii_uppercase()) {
            let file: Option<MappedFile> = maps::parse(line)?.pop();
            in_file = file.is_some();
            areas.extend(file.map(|file| MappedArea {
                id: file.id,
                resident_bytes: 0,
                locked: false,
            }));
            continue;
        }
        let Some(area) = areas.last_mut().filter(|_| in_file) else { continue };
        if let Some(rest) = line.strip_prefix(b"Rss:") {
            area.resident_bytes = kilobytes(rest).ok_or_else(malformed)?;
        } else if let Some(flags) = line.strip_prefix(b"VmFlags:") {
            area.locked = flags.split(|&byte| byte == b' ').any(|flag| flag == b"lo");
        }
    }
    Ok(areas)
}

#[cfg(test)]
mod tests {
    use hotset_facts::Dev;

    use super::*;

    #[test]
    fn only_files_count_each_with_its_own_fields() {
        let areas = parse(
            b"7f00-7f01 r--s 00000000 fd:01 12      /data/x y\n\
              Size:                  8 kB\nRss:                   4 kB\n\
              VmFlags: rd sh mr mw lo \n\
              7f01-7f02 rw-p 00000000 00:00 0 \n\
              Rss:                 400 kB\nVmFlags: rd wr lo \n\
              7f02-7f03 r--s 00000000 fd:01 13      /data/z\n\
              Rss:                   0 kB\nVmFlags: rd sh \n",
        )
        .expect("smaps");
        let area = |ino, resident_bytes, locked| MappedArea {
            id: FileId::new(Dev { major: 253, minor: 1 }, ino),
            resident_bytes,
            locked,
        };
        assert_eq!(areas, [area(12, 4096, true), area(13, 0, false)]);
        assert!(parse(b"7f00-7f01 r--s 0 fd:01 12 /x\nRss: many kB\n").is_err());
    }

    #[test]
    fn this_process_has_areas() {
        assert!(!of(std::process::id()).expect("smaps").expect("this process").is_empty());
    }
}
