//! The files that a traced command used, by way of /proc.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hotset_facts::FileId;
use rustix::fs::{FileType, Mode, OFlags, Stat};

use super::{MAX_FILES, TracedFile};
use crate::proc::fds::{open_flags, without_suffix};

/// A path has at most so many bytes, the NUL included.
const PATH_MAX: u64 = 4096;

/// How a file was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Use {
    pub(super) read: bool,
    pub(super) mapped: bool,
    pub(super) written: bool,
}

/// A program is read and mapped; so is the interpreter of a script, while the script itself is only read.
pub(super) const EXECUTED: Use = Use { read: true, mapped: true, written: false };
pub(super) const SCRIPT: Use = Use { read: true, mapped: false, written: false };

/// A file that a task is about to execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    path: PathBuf,
    id: FileId,
    deleted: bool,
}

/// The files so far.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) list: Vec<TracedFile>,
    places: HashMap<FileId, usize>,
    pub(super) left_out: u64,
}

impl Files {
    /// A descriptor that the task has just got.
    pub(super) fn opened(&mut self, task: libc::pid_t, fd: i64) {
        if let Some(found) = open_mode(task, fd).filter(|mode| *mode != Use::default()) {
            self.look(&PathBuf::from(format!("/proc/{task}/fd/{fd}")), found);
        }
    }

    /// A descriptor that the task is about to map.
    pub(super) fn mapped(&mut self, task: libc::pid_t, fd: i32) {
        let link = PathBuf::from(format!("/proc/{task}/fd/{fd}"));
        self.look(&link, Use { mapped: true, ..Use::default() });
    }

    /// The descriptors that the command was born with, as far as it can read from them.
    pub(super) fn inherited(&mut self, task: libc::pid_t) {
        let open = crate::proc::fds::of(task.unsigned_abs());
        for file in open.ok().flatten().unwrap_or_default() {
            if open_mode(task, i64::from(file.fd)).is_some_and(|mode| mode.read) {
                self.opened(task, i64::from(file.fd));
            }
        }
    }

    /// The program that a task has just begun to execute, its loader, and the script that named the program.
    pub(super) fn executed(&mut self, task: libc::pid_t, named: Option<Named>) {
        let exe = PathBuf::from(format!("/proc/{task}/exe"));
        let program = std::fs::read_link(&exe).unwrap_or_default();
        self.look(&exe, EXECUTED);
        let maps = crate::proc::maps::of(task.unsigned_abs());
        for file in maps.ok().flatten().unwrap_or_default() {
            if file.path != program && !file.deleted {
                self.look_at_name(&below_root(task, &file.path), EXECUTED);
            }
        }
        if let Some(named) = named {
            self.note(named, SCRIPT);
        }
    }

    /// Takes what stands behind a link of /proc.
    fn look(&mut self, link: &Path, how: Use) {
        let Some(stat) = rustix::fs::stat(link).ok().filter(is_file) else { return };
        let id = crate::file_id(&stat);
        if let Some(&place) = self.places.get(&id) {
            return self.list[place].add(how);
        }
        let Ok(path) = std::fs::read_link(link) else { return };
        let deleted = stat.st_nlink == 0;
        self.note(Named { path: without_suffix(path, deleted), id, deleted }, how);
    }

    fn look_at_name(&mut self, path: &Path, how: Use) {
        if let Some(named) = resolve(path) {
            self.note(named, how);
        }
    }

    fn note(&mut self, named: Named, how: Use) {
        if let Some(&place) = self.places.get(&named.id) {
            return self.list[place].add(how);
        }
        if self.list.len() >= MAX_FILES {
            self.left_out += 1;
            return;
        }
        self.places.insert(named.id, self.list.len());
        let Named { path, id, deleted } = named;
        let Use { read, mapped, written } = how;
        self.list.push(TracedFile { path, id, read, mapped, written, deleted });
    }
}

impl TracedFile {
    fn add(&mut self, how: Use) {
        self.read |= how.read;
        self.mapped |= how.mapped;
        self.written |= how.written;
    }
}

/// The file that execve(2) with these words of the task's memory would start.
pub(super) fn about_to_execute(task: libc::pid_t, directory: i32, address: u64) -> Option<Named> {
    let path = string_at(task, address)?;
    if path.is_absolute() {
        return resolve(&below_root(task, &path));
    }
    let base = match directory {
        libc::AT_FDCWD => format!("/proc/{task}/cwd"),
        fd => format!("/proc/{task}/fd/{fd}"),
    };
    // An empty path means the descriptor itself.
    if path.as_os_str().is_empty() {
        resolve(Path::new(&base))
    } else {
        resolve(&Path::new(&base).join(path))
    }
}

/// The path and identity of the regular file that `path` leads to.
fn resolve(path: &Path) -> Option<Named> {
    let fd = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&fd).ok().filter(is_file)?;
    let deleted = stat.st_nlink == 0;
    let path = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd())).ok()?;
    let path = without_suffix(path, deleted);
    Some(Named { path, id: crate::file_id(&stat), deleted })
}

/// The task's own root matters where it is another than ours.
fn below_root(task: libc::pid_t, path: &Path) -> PathBuf {
    let mut below = PathBuf::from(format!("/proc/{task}/root"));
    below.push(path.strip_prefix("/").unwrap_or(path));
    below
}

fn is_file(stat: &Stat) -> bool {
    let kind = FileType::from_raw_mode(stat.st_mode);
    matches!(kind, FileType::RegularFile | FileType::BlockDevice)
}

/// How a descriptor was opened; neither way for one that can only name its file (`O_PATH`).
fn open_mode(task: libc::pid_t, fd: i64) -> Option<Use> {
    let flags = open_flags(task.unsigned_abs(), u32::try_from(fd).ok()?).ok().flatten()?;
    let flags = flags.cast_signed();
    if flags & libc::O_PATH != 0 {
        return Some(Use::default());
    }
    let mode = flags & libc::O_ACCMODE;
    Some(Use { read: mode != libc::O_WRONLY, mapped: false, written: mode != libc::O_RDONLY })
}

/// The text at an address of a stopped task, up to its NUL.
fn string_at(task: libc::pid_t, address: u64) -> Option<PathBuf> {
    let memory = File::open(format!("/proc/{task}/mem")).ok()?;
    let mut text = Vec::new();
    while (text.len() as u64) < PATH_MAX {
        let at = address.checked_add(text.len() as u64)?;
        // Not across a page's end, because the next one may not be there.
        let mut piece = vec![0; 256.min(crate::page_size() - at % crate::page_size()) as usize];
        let read = memory.read_at(&mut piece, at).ok().filter(|&read| read > 0)?;
        match piece[..read].iter().position(|&byte| byte == 0) {
            Some(end) => {
                text.extend_from_slice(&piece[..end]);
                return Some(std::ffi::OsString::from_vec(text).into());
            }
            None => text.extend_from_slice(&piece[..read]),
        }
    }
    None
}
