//! /proc/PID/fd: which regular files and block devices a process has open.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use hotset_facts::{FileId, Pid};
use rustix::fs::FileType;

use super::{ProcError, numbers_in, read, value_of};

/// What the kernel appends to the name of a file that has none any more.
pub(crate) const DELETED: &[u8] = b" (deleted)";

/// One open descriptor of a regular file or block device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFile {
    /// The descriptor.
    pub fd: u32,
    /// The file's path as the process sees it; its last one where the name is gone.
    pub path: PathBuf,
    /// Its identity.
    pub id: FileId,
    /// Its size in bytes; 0 for block devices.
    pub size_bytes: u64,
    /// True where it has no name left.
    pub deleted: bool,
}

/// The open files of `pid` by descriptor, or nothing where it is gone. Needs the right to trace it.
pub fn of(pid: Pid) -> Result<Option<Vec<OpenFile>>, ProcError> {
    let dir = PathBuf::from(format!("/proc/{pid}/fd"));
    let Some(fds) = numbers_in(&dir)? else { return Ok(None) };
    Ok(Some(fds.into_iter().filter_map(|fd| open_file(&dir, fd)).collect()))
}

/// The flags that a descriptor was opened with, the access mode among them, as open(2) takes them; nothing where it is gone.
pub fn open_flags(pid: Pid, fd: u32) -> Result<Option<u32>, ProcError> {
    let info = read(&PathBuf::from(format!("/proc/{pid}/fdinfo/{fd}")))?;
    Ok(info.and_then(|text| parse_flags(&text)))
}

/// The line `flags:` of an fdinfo, an octal number.
fn parse_flags(text: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(value_of(text, "flags")?).ok()?, 8).ok()
}

/// Nothing where the descriptor was closed meanwhile, or is no file.
fn open_file(dir: &Path, fd: u32) -> Option<OpenFile> {
    let link = &dir.join(fd.to_string());
    // Follows the link inside the kernel, so that names in other mount namespaces don't matter.
    let stat = rustix::fs::stat(link).ok()?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if !matches!(kind, FileType::RegularFile | FileType::BlockDevice) {
        return None;
    }
    let deleted = stat.st_nlink == 0;
    Some(OpenFile {
        fd,
        path: without_suffix(std::fs::read_link(link).ok()?, deleted),
        id: crate::file_id(&stat),
        size_bytes: u64::try_from(stat.st_size).unwrap_or(0),
        deleted,
    })
}

pub(crate) fn without_suffix(path: PathBuf, deleted: bool) -> PathBuf {
    let name = path.as_os_str().as_bytes();
    match name.strip_suffix(DELETED).filter(|_| deleted) {
        Some(name) => PathBuf::from(std::ffi::OsString::from_vec(name.to_vec())),
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;
    use crate::test_support::ScratchFile;

    fn find(scratch: &ScratchFile) -> OpenFile {
        let files = of(std::process::id()).expect("fds").expect("this process");
        let fd = scratch.file.as_raw_fd() as u32;
        files.into_iter().find(|file| file.fd == fd).expect("the open file")
    }

    #[test]
    fn flags_are_those_of_the_open_call() {
        let text = b"pos:\t0\nflags:\t02140000\nmnt_id:\t29\n";
        assert_eq!(parse_flags(text), Some(0o2_140_000));
        assert_eq!(parse_flags(b"pos:\t0\n"), None);
        assert_eq!(parse_flags(b"flags:\tninety\n"), None);
        let exe = std::env::current_exe().expect("path of the test");
        let file = std::fs::File::open(exe).expect("open");
        let fd = u32::try_from(std::os::fd::AsRawFd::as_raw_fd(&file)).expect("fd");
        let flags = open_flags(std::process::id(), fd).expect("read").expect("open");
        let closes = u32::try_from(libc::O_CLOEXEC).expect("flag");
        assert_eq!(flags & (closes | 3), closes, "read only, closed on exec");
    }

    #[test]
    fn an_open_file_keeps_its_last_name_after_it_was_deleted() {
        let scratch = ScratchFile::with(b"abc");
        let named = find(&scratch);
        assert_eq!((&named.path, named.deleted, named.size_bytes), (&scratch.path, false, 3));
        std::fs::remove_file(&scratch.path).expect("remove");
        let nameless = find(&scratch);
        assert_eq!((&nameless.path, nameless.deleted), (&scratch.path, true));
        assert_eq!(nameless.id, named.id);
    }

    #[test]
    fn a_process_that_never_was_is_none() {
        assert_eq!(of(u32::MAX / 2).expect("no error"), None);
    }
}
