//! The files that a traced command used, by way of /proc.

use std::collections::{HashMap, HashSet};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use hotset_facts::{Dev, FileId, FileKind, Observed, Reason};
use rustix::fs::{FileType, Mode, OFlags, Stat};

use super::filter::Wanted;
use super::memory::{base, string_at};
use super::{MAX_FILES, TracedFile};
use crate::cache::{open_quietly, residency};
use crate::proc::ProcError;
use crate::proc::fds::{open_flags, without_suffix};

/// File systems whose files are made up as they are read, so that they have no pages: the sensor has no row of them either. From
/// include/uapi/linux/magic.h: proc, sysfs, cgroup2, cgroup, debugfs, tracefs, securityfs, configfs, bpf, efivarfs, nsfs.
const MADE_UP: [u64; 11] = [
    0x9fa0,
    0x6265_6572,
    0x6367_7270,
    0x0027_e0eb,
    0x6462_6720,
    0x7472_6163,
    0x7363_6673,
    0x6265_6570,
    0xcafe_4a11,
    0xde5e_81e4,
    0x6e73_6673,
];

/// Why it is not known how much of a file was cached: a program, when it runs, and files whose residency is of no interest.
const TOO_LATE: Reason =
    Reason::not_measured("it was not asked before the kernel began to read it");

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
    kind: FileKind,
    deleted: bool,
    size_bytes: u64,
    cached_before: Observed<u64>,
}

/// The files so far.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) list: Vec<TracedFile>,
    /// By device and number: the file that had them last.
    places: HashMap<(Dev, u64), usize>,
    pub(super) left_out: u64,
    /// When the first of them was seen, in seconds since 1970.
    since: i64,
    /// Which file systems make their files up.
    made_up: HashMap<Dev, bool>,
    /// Which process has used which file, by their places.
    users: HashSet<(usize, usize)>,
    /// Whether to ask how much of a file is cached before the task that opened it goes on.
    asks: bool,
}

impl Files {
    pub(super) fn new(wanted: Wanted) -> Self {
        Self {
            list: Vec::new(),
            places: HashMap::new(),
            left_out: 0,
            since: rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse).tv_sec,
            made_up: HashMap::new(),
            users: HashSet::new(),
            asks: wanted == Wanted::Lookups,
        }
    }

    /// A descriptor that the task has just got; counted as an open of a process where that is said. False where the task can't be
    /// looked at.
    pub(super) fn opened(&mut self, task: libc::pid_t, fd: i64, process: Option<usize>) -> bool {
        let Ok(mode) = open_mode(task, fd) else { return false };
        let Some(mode) = mode.filter(|mode| *mode != Use::default() || process.is_some()) else {
            return true;
        };
        let place = self.look(&PathBuf::from(format!("/proc/{task}/fd/{fd}")), mode);
        if let (Some(place), Some(process)) = (place, process) {
            self.list[place].opens += 1;
            self.used(place, process);
        }
        true
    }

    fn used(&mut self, place: usize, process: usize) {
        if self.users.insert((place, process)) {
            self.list[place].processes += 1;
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
            let mode = open_mode(task, i64::from(file.fd)).ok().flatten();
            if mode.is_some_and(|mode| mode.read) {
                self.opened(task, i64::from(file.fd), None);
            }
        }
    }

    /// The program that a task has just begun to execute, its loader, and the script that named the program.
    pub(super) fn executed(
        &mut self,
        task: libc::pid_t,
        named: Option<Named>,
        process: Option<usize>,
    ) {
        // First what was seen before the kernel read from it.
        let script = named.and_then(|named| self.note(named, SCRIPT));
        let exe = PathBuf::from(format!("/proc/{task}/exe"));
        let program = std::fs::read_link(&exe).unwrap_or_default();
        let mut places = vec![script, self.look_late(&exe)];
        let maps = crate::proc::maps::of(task.unsigned_abs());
        for file in maps.ok().flatten().unwrap_or_default() {
            if file.path != program && !file.deleted {
                let named = resolve(&below_root(task, &file.path), None);
                places.push(named.and_then(|named| self.note(named, EXECUTED)));
            }
        }
        let Some(process) = process else { return };
        places.into_iter().flatten().for_each(|place| self.used(place, process));
    }

    /// The file that execve(2) with these words of the task's memory would start.
    pub(super) fn about_to_execute(
        &self,
        task: libc::pid_t,
        directory: i32,
        address: u64,
    ) -> Option<Named> {
        let path = string_at(task, address)?;
        let path = if path.is_absolute() {
            below_root(task, &path)
        } else if path.as_os_str().is_empty() {
            // The descriptor itself.
            base(task, directory)
        } else {
            base(task, directory).join(path)
        };
        resolve(&path, self.asks.then_some(&path))
    }

    /// Takes what stands behind a link of /proc; says where it is, if it is in the list.
    fn look(&mut self, link: &Path, how: Use) -> Option<usize> {
        let ask = self.asks.then_some(link);
        self.look_and_ask(link, how, ask)
    }

    /// The same of a program that begins.
    fn look_late(&mut self, link: &Path) -> Option<usize> {
        self.look_and_ask(link, EXECUTED, None)
    }

    fn look_and_ask(&mut self, link: &Path, how: Use, ask: Option<&Path>) -> Option<usize> {
        let stat = rustix::fs::stat(link).ok().filter(is_file)?;
        let id = crate::file_id(&stat);
        if let Some(&place) = self.places.get(&(id.dev, id.ino))
            && !self.is_another(place, link, &stat)
        {
            self.list[place].add(how);
            return Some(place);
        }
        let path = std::fs::read_link(link).ok()?;
        if self.asks && self.is_made_up(link, &stat) {
            return None;
        }
        self.note(named(path, &stat, ask), how)
    }

    /// Whether a file has the number of one that was deleted since it was seen. Only one that was made meanwhile can.
    fn is_another(&self, place: usize, link: &Path, stat: &Stat) -> bool {
        let Some(known) = self.list[place].id.generation else { return false };
        stat.st_ctime >= self.since
            && open_quietly(link).is_ok_and(|(fd, _)| {
                crate::generation(fd).is_some_and(|generation| generation != known)
            })
    }

    /// A file system is asked once.
    fn is_made_up(&mut self, link: &Path, stat: &Stat) -> bool {
        *self.made_up.entry(crate::file_id(stat).dev).or_insert_with(|| {
            rustix::fs::statfs(link).is_ok_and(|found| MADE_UP.contains(&(found.f_type as u64)))
        })
    }

    fn note(&mut self, named: Named, how: Use) -> Option<usize> {
        let number = (named.id.dev, named.id.ino);
        let is_same = |place: &usize| {
            let generations = self.list[*place].id.generation.zip(named.id.generation);
            generations.is_none_or(|(known, here)| known == here)
        };
        if let Some(place) = self.places.get(&number).copied().filter(is_same) {
            self.list[place].add(how);
            return Some(place);
        }
        if self.list.len() >= MAX_FILES {
            self.left_out += 1;
            return None;
        }
        let place = self.list.len();
        self.places.insert(number, place);
        let Named { path, id, kind, deleted, size_bytes, cached_before } = named;
        let Use { read, mapped, written } = how;
        self.list.push(TracedFile {
            path,
            id,
            kind,
            read,
            mapped,
            written,
            deleted,
            opens: 0,
            processes: 0,
            size_bytes,
            cached_before,
        });
        Some(place)
    }
}

impl TracedFile {
    fn add(&mut self, how: Use) {
        self.read |= how.read;
        self.mapped |= how.mapped;
        self.written |= how.written;
    }
}

/// The path and identity of the regular file that `path` leads to, and how much of it is cached where that is asked by a path.
fn resolve(path: &Path, ask: Option<&Path>) -> Option<Named> {
    let fd = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&fd).ok().filter(is_file)?;
    let path = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd())).ok()?;
    Some(named(path, &stat, ask))
}

fn named(path: PathBuf, stat: &Stat, ask: Option<&Path>) -> Named {
    let deleted = stat.st_nlink == 0;
    let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    let (cached_before, generation) = match ask {
        Some(link) => cached(link),
        None => (Observed::Missing(TOO_LATE), None),
    };
    Named {
        path: without_suffix(path, deleted),
        id: FileId { generation, ..crate::file_id(stat) },
        kind: if is_device { FileKind::BlockDevice } else { FileKind::Regular },
        deleted,
        size_bytes: u64::try_from(stat.st_size).unwrap_or(0),
        cached_before,
    }
}

/// Pages of a file that are cached, and its generation.
fn cached(path: &Path) -> (Observed<u64>, Option<u32>) {
    let fd = match open_quietly(path) {
        Ok((fd, _)) => fd,
        Err(error) => return (Observed::Missing(error.reason()), None),
    };
    let pages = match residency(&fd) {
        Ok(residency) => Observed::Value(residency.cached_pages),
        Err(error) => Observed::Missing(error.reason()),
    };
    (pages, crate::generation(&fd))
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

/// How a descriptor was opened; neither way for one that can only name its file (`O_PATH`). Nothing where it is gone.
fn open_mode(task: libc::pid_t, fd: i64) -> Result<Option<Use>, ProcError> {
    let Ok(fd) = u32::try_from(fd) else { return Ok(None) };
    let Some(flags) = open_flags(task.unsigned_abs(), fd)? else { return Ok(None) };
    let flags = flags.cast_signed();
    if flags & libc::O_PATH != 0 {
        return Ok(Some(Use::default()));
    }
    let mode = flags & libc::O_ACCMODE;
    let (read, written) = (mode != libc::O_WRONLY, mode != libc::O_RDONLY);
    Ok(Some(Use { read, mapped: false, written }))
}

/// Whether a task that has just begun to execute its program lacks privileges that the program's file has: setuid, setgid, capabilities.
pub(super) fn lacks_privileges(task: libc::pid_t) -> bool {
    let exe = format!("/proc/{task}/exe");
    let Ok(stat) = rustix::fs::stat(&exe) else { return false };
    let Some(ids) = crate::proc::status::effective_ids(task.unsigned_abs()) else { return false };
    let mode = Mode::from_raw_mode(stat.st_mode);
    mode.contains(Mode::SUID) && stat.st_uid != ids.user
        // Without the right to execute, the bit means something else.
        || mode.contains(Mode::SGID | Mode::XGRP) && stat.st_gid != ids.group
        || ids.user != 0 && !rustix::process::geteuid().is_root() && has_capabilities(&exe)
}

fn has_capabilities(exe: &str) -> bool {
    let mut value = [0_u8; 64];
    rustix::fs::getxattr(exe, "security.capability", &mut value).is_ok()
}
