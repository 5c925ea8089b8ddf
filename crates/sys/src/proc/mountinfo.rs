//! /proc/PID/mountinfo: what is mounted where.

use std::path::{Path, PathBuf};

use hotset_facts::Dev;

use super::escape::{unescape, unescape_path};
use super::{Malformed, ProcError, decimal, lines, read_with, split_once};

/// What the kernel escapes in these fields.
const ESCAPED: &[u8] = b" \t\n\\#";

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Its id.
    pub id: u64,
    /// The id of the mount that it is mounted on.
    pub parent: u64,
    /// The file system's device (for btrfs not the `st_dev` of its files).
    pub dev: Dev,
    /// The directory of the file system that is its root; not `/` for bind mounts and subvolumes.
    pub root: PathBuf,
    /// Where it is mounted, seen from the process's root.
    pub mount_point: PathBuf,
    /// Options of this mount.
    pub options: String,
    /// Options of the file system.
    pub super_options: String,
    /// The file system's type.
    pub fs_type: String,
    /// What is mounted, e.g. `/dev/vda`.
    pub source: String,
}

/// The mounts of this process's mount namespace.
pub fn own() -> Result<Vec<Mount>, ProcError> {
    Ok(read_with(Path::new("/proc/self/mountinfo"), parse)?.unwrap_or_default())
}

/// The mounts that the host's first process sees, if this process may ask; else those of this process. In a container with
/// the host's processes these are the places where the host has its file systems.
///
/// # Errors
/// Where neither can be read.
pub fn of_host() -> Result<Vec<Mount>, ProcError> {
    match read_with(Path::new("/proc/1/mountinfo"), parse) {
        Ok(Some(mounts)) if !mounts.is_empty() => Ok(mounts),
        _ => own(),
    }
}

/// Parses the whole file.
pub fn parse(bytes: &[u8]) -> Result<Vec<Mount>, Malformed> {
    lines(bytes)
        .map(|(number, line)| {
            parse_line(line).ok_or_else(|| {
                Malformed::new(number, "a mount as proc_pid_mountinfo(5) describes it", line)
            })
        })
        .collect()
}

fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|&byte| byte == b' ');
    let id = decimal(fields.next()?)?;
    let parent = decimal(fields.next()?)?;
    let dev = parse_dev(fields.next()?)?;
    let root = unescape_path(fields.next()?, ESCAPED);
    let mount_point = unescape_path(fields.next()?, ESCAPED);
    let options = text(fields.next()?);
    // Any number of optional fields (`shared:1`), then a lone dash.
    fields.by_ref().find(|field| *field == b"-")?;
    let fs_type = text(fields.next()?);
    let source = text(fields.next()?);
    let super_options = text(fields.next().unwrap_or_default());
    Some(Mount { id, parent, dev, root, mount_point, options, super_options, fs_type, source })
}

fn parse_dev(field: &[u8]) -> Option<Dev> {
    let (major, minor) = split_once(field, b':')?;
    Some(Dev { major: decimal(major)?.try_into().ok()?, minor: decimal(minor)?.try_into().ok()? })
}

fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(&unescape(field, ESCAPED)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_optional_fields_and_escapes() {
        let mounts = parse(
            b"36 35 98:0 /mnt1 /a\\040b\\134c rw,noatime shared:1 master:2 - ext3 /dev/my\\040disk rw,errors=continue\n\
              27 1 254:0 / / rw - ext4 /dev/vda rw\n",
        )
        .expect("mounts");
        assert_eq!(mounts[0].mount_point, Path::new("/a b\\c"));
        assert_eq!(mounts[0].root, Path::new("/mnt1"));
        assert_eq!(mounts[0].source, "/dev/my disk");
        assert_eq!(mounts[0].super_options, "rw,errors=continue");
        assert_eq!(mounts[1].dev, Dev { major: 254, minor: 0 });
        assert_eq!((mounts[1].id, mounts[1].parent), (27, 1));
    }

    #[test]
    fn bytes_that_are_not_utf8_survive() {
        use std::os::unix::ffi::OsStrExt;
        let mounts = parse(b"1 0 0:1 / /m\xff rw - tmpfs none rw\n").expect("mounts");
        assert_eq!(mounts[0].mount_point.as_os_str().as_bytes(), b"/m\xff");
    }

    #[test]
    fn a_broken_line_is_named() {
        let error = parse(b"1 0 0:1 / /m rw - tmpfs none rw\n36 35 98 /\n").expect_err("broken");
        assert_eq!((error.line, error.found.as_str()), (2, "36 35 98 /"));
    }

    #[test]
    fn this_host_has_a_root_mount() {
        let mounts = own().expect("mountinfo");
        assert!(mounts.iter().any(|mount| mount.mount_point == Path::new("/")));
    }
}
