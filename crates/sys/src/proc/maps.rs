//! /proc/PID/maps: which files a process has mapped.

use std::collections::HashSet;
use std::hash::Hash;
use std::path::PathBuf;

use hotset_facts::{Dev, FileId, Pid};

use super::escape::unescape_path;
use super::fds::DELETED;
use super::{Malformed, ProcError, decimal, lines, read_with};

/// A file that is mapped at least once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedFile {
    /// Its path, as the process sees it. A line feed in it was decoded; a name that itself holds the text `\012` can't
    /// be told from that.
    pub path: PathBuf,
    /// Its identity; the device is the file system's, which for btrfs and overlayfs is not what stat(2) says.
    pub id: FileId,
    /// True where its name is gone (or ends in ` (deleted)`, which reads the same).
    pub deleted: bool,
}

/// A mapping of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Its first address and the one behind its last.
    pub addresses: (u64, u64),
    /// The file.
    pub file: MappedFile,
}

/// A mapping that code runs from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeRegion {
    /// Its first address and the one behind its last.
    pub addresses: (u64, u64),
    /// Where in the file it begins, in bytes.
    pub offset: u64,
    /// The file. Inode 0 with an empty path is anonymous memory, with `[vdso]` and the like what the kernel made.
    pub file: MappedFile,
}

/// All mappings of `pid` that code runs from, in order of address, or nothing where it is gone.
pub fn code_of(pid: Pid) -> Result<Option<Vec<CodeRegion>>, ProcError> {
    read_with(&PathBuf::from(format!("/proc/{pid}/maps")), parse_code)
}

/// Parses the whole file, and keeps the mappings that code runs from.
pub fn parse_code(bytes: &[u8]) -> Result<Vec<CodeRegion>, Malformed> {
    let mut regions = Vec::new();
    for (number, line) in lines(bytes) {
        let whole = parse_whole_line(line).ok_or_else(|| malformed(number, line))?;
        if whole.executable {
            regions.push(CodeRegion {
                addresses: whole.region.addresses,
                offset: whole.offset,
                file: whole.region.file,
            });
        }
    }
    Ok(regions)
}

fn malformed(number: usize, line: &[u8]) -> Malformed {
    Malformed::new(number, "a mapping as proc_pid_maps(5) describes it", line)
}

/// The first mapping of each name and identity in `pid`, in order of address, or nothing where it is gone.
pub fn regions_of(pid: Pid) -> Result<Option<Vec<Region>>, ProcError> {
    read_with(&PathBuf::from(format!("/proc/{pid}/maps")), |bytes| {
        // On btrfs, files of two subvolumes can look like one here but for their names.
        distinct(bytes, |region| (region.file.id, region.file.path.clone()))
    })
}

/// The distinct files that `pid` has mapped, in order of address, or nothing where it is gone.
pub fn of(pid: Pid) -> Result<Option<Vec<MappedFile>>, ProcError> {
    read_with(&PathBuf::from(format!("/proc/{pid}/maps")), parse)
}

/// Parses the whole file.
pub fn parse(bytes: &[u8]) -> Result<Vec<MappedFile>, Malformed> {
    let regions = distinct(bytes, |region| region.file.id)?;
    Ok(regions.into_iter().map(|region| region.file).collect())
}

fn distinct<K: Eq + Hash>(
    bytes: &[u8],
    key: impl Fn(&Region) -> K,
) -> Result<Vec<Region>, Malformed> {
    let mut seen = HashSet::new();
    let mut regions = Vec::new();
    for (number, line) in lines(bytes) {
        let region = parse_whole_line(line).ok_or_else(|| malformed(number, line))?.region;
        let file = &region.file;
        // Inode 0: anonymous memory, [heap], [vdso] and the like. No path: anon_inode:[io_uring] and the like.
        if file.id.ino != 0 && file.path.is_absolute() && seen.insert(key(&region)) {
            regions.push(region);
        }
    }
    Ok(regions)
}

/// What a line tells.
struct Line {
    region: Region,
    offset: u64,
    executable: bool,
}

fn parse_whole_line(line: &[u8]) -> Option<Line> {
    // address permissions offset dev inode, then blanks up to the name, which can hold blanks itself.
    let mut rest = line;
    let mut field = || {
        let end = rest.iter().position(|&byte| byte == b' ').unwrap_or(rest.len());
        let (field, tail) = rest.split_at(end);
        rest = tail.strip_prefix(b" ").unwrap_or(tail);
        field
    };
    let (addresses, permissions, offset) = (field(), field(), field());
    let (major, minor) = pair(field(), ':')?;
    let ino = decimal(field())?;
    let name = rest.trim_ascii_start();
    let alive = name.strip_suffix(DELETED);
    let file = MappedFile {
        path: unescape_path(alive.unwrap_or(name), b"\n"),
        id: FileId::new(Dev { major, minor }, ino),
        deleted: alive.is_some(),
    };
    Some(Line {
        region: Region { addresses: pair(addresses, '-')?, file },
        offset: u64::from_str_radix(std::str::from_utf8(offset).ok()?, 16).ok()?,
        executable: permissions.get(2) == Some(&b'x'),
    })
}

/// Two hexadecimal numbers, unlike in mountinfo also those of a device.
fn pair<T: TryFrom<u64>>(field: &[u8], separator: char) -> Option<(T, T)> {
    let (first, second) = std::str::from_utf8(field).ok()?.split_once(separator)?;
    let number = |text| u64::from_str_radix(text, 16).ok()?.try_into().ok();
    Some((number(first)?, number(second)?))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn distinct_files_with_any_name() {
        let files = parse(
            b"55d0c000-55d0d000 r--p 00000000 fd:01 1234                      /usr/bin/a b\\012c\n\
              55d0d000-55d0e000 r-xp 00001000 fd:01 1234                      /usr/bin/a b\\012c\n\
              7f00-7f01 rw-p 00000000 00:00 0 \n\
              7f01-7f02 rw-p 00000000 00:00 0                          [heap]\n\
              7f01-7f02 rw-s 00000000 00:0e 2057                       anon_inode:[io_uring]\n\
              7f02-7f03 rw-s 00000000 00:1a 7                          /tmp/gone (deleted)\n",
        )
        .expect("maps");
        assert_eq!(files.len(), 2);
        assert_eq!(files[0].path, Path::new("/usr/bin/a b\nc"));
        assert_eq!(files[0].id, FileId::new(Dev { major: 253, minor: 1 }, 1234));
        assert_eq!((files[1].path.as_path(), files[1].deleted), (Path::new("/tmp/gone"), true));
    }

    #[test]
    fn code_is_what_can_be_run() {
        let regions = parse_code(
            b"55d0c000-55d0d000 r--p 00000000 fd:01 1234                      /usr/bin/a\n\
              55d0d000-55d0e000 r-xp 00001000 fd:01 1234                      /usr/bin/a (deleted)\n\
              7f00-7f01 rwxp 00000000 00:00 0 \n\
              7f02-7f03 r-xp 00000000 00:00 0                          [vdso]\n",
        )
        .expect("maps");
        let told: Vec<_> = regions
            .iter()
            .map(|region| (region.addresses.0, region.offset, region.file.path.to_str()))
            .collect();
        let expected = [
            (0x55d0_d000, 0x1000, Some("/usr/bin/a")),
            (0x7f00, 0, Some("")),
            (0x7f02, 0, Some("[vdso]")),
        ];
        assert_eq!(told, expected);
        assert!(regions[0].file.deleted && !regions[1].file.deleted);
        assert!(parse_code(b"7f00-7f01 r-xp x 00:00 0\n").is_err());
    }

    #[test]
    fn this_process_maps_its_own_program() {
        let files = of(std::process::id()).expect("maps").expect("this process");
        let program = std::env::current_exe().expect("path");
        assert!(files.iter().any(|file| file.path == program));
    }
}
