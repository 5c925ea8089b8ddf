//! Files as a process sees them: in its mount namespace, and when their names are gone.

use std::fs::{File, Metadata};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hotset_facts::Pid;
use hotset_sys::proc::maps::CodeRegion;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};

/// Bytes of a `[vdso]` at most: the kernel's are one or two pages.
const MAX_VDSO: u64 = 64 << 10;

/// What tells a file from others and from its own past: device, inode, size, and when it was written.
pub(crate) type FileKey = (u64, u64, u64, i64, i64);

/// The directories that a path of a process can begin in: its own root first, then the host's, where debug files of the
/// container's programs may be installed.
pub(crate) struct Roots {
    directories: Vec<OwnedFd>,
}

impl Roots {
    /// Those of a process; only the host's where it is gone or the caller may not look.
    pub(crate) fn of(pid: Pid) -> Self {
        let paths = [format!("/proc/{pid}/root"), "/".to_owned()];
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = |path: &String| openat(CWD, path.as_str(), flags, Mode::empty()).ok();
        Self { directories: paths.iter().filter_map(open).collect() }
    }

    /// The regular files that a path means, in each root that has one. Links are followed as the process would follow them,
    /// and never out of its root.
    pub(crate) fn open<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = File> + 'a {
        self.directories.iter().filter_map(|root| open_in(root, path))
    }
}

fn open_in(root: &OwnedFd, path: &Path) -> Option<File> {
    // A pipe in the place of a file must not hold the caller up.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    let file = File::from(openat2(root, path, flags, Mode::empty(), resolve).ok()?);
    file.metadata().ok()?.is_file().then_some(file)
}

/// The key of an open file.
pub(crate) fn key_of(file: &File) -> Option<FileKey> {
    let about = file.metadata().ok()?;
    Some((about.dev(), about.ino(), about.len(), about.mtime(), about.mtime_nsec()))
}

/// The file behind a mapping of `pid` that was there at `mapped_at`. The kernel's own link leads to the very file, even if it was
/// deleted or replaced, but takes CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE, and ends with the process; by its path a file is taken
/// only if it is the one that was mapped.
pub(crate) fn mapped(
    roots: &Roots,
    pid: Pid,
    region: &CodeRegion,
    mapped_at: SystemTime,
) -> Option<File> {
    let (begin, end) = region.addresses;
    let link = PathBuf::from(format!("/proc/{pid}/map_files/{begin:x}-{end:x}"));
    let id = region.file.id;
    let same = |file: &File| {
        let is_same = |about: Metadata| about.ino() == id.ino && is_unchanged(&about, mapped_at);
        let generations = id.generation.zip(hotset_sys::generation(file));
        file.metadata().is_ok_and(is_same) && generations.is_none_or(|(was, is)| was == is)
    };
    // A device can be mapped, and opening one can have effects; the link is not opened before that is known.
    let regular = std::fs::metadata(&link).is_ok_and(|about| about.is_file());
    let exact = regular.then(|| File::open(&link).ok()).flatten();
    exact.or_else(|| roots.open(&region.file.path).find(same)).or_else(|| {
        let program = format!("/proc/{pid}/exe");
        File::open(program).ok().filter(same)
    })
}

/// Whether an inode has not changed since a moment at which a file with its number was mapped: another that was given the number
/// after that file's end has. The clock of a file system may be a tick late, 10 ms; of what happens within that, the generation
/// decides, where the sensor and the file system tell it.
fn is_unchanged(about: &Metadata, since: SystemTime) -> bool {
    let seconds = u64::try_from(about.ctime()).unwrap_or(0);
    let nanos = u32::try_from(about.ctime_nsec()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos) <= since
}

/// The bytes of a mapping that has no file: `[vdso]`.
pub(crate) fn memory_of(pid: Pid, region: &CodeRegion) -> Option<Vec<u8>> {
    let (begin, end) = region.addresses;
    let length = end.checked_sub(begin).filter(|&length| length <= MAX_VDSO)?;
    let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    memory.read_exact_at(&mut bytes, begin).ok()?;
    Some(bytes)
}

/// The perf map of a process, with its device and inode. Runtimes name it by the PID in their own namespace.
pub(crate) fn map_of(roots: &Roots, pid: Pid) -> Option<(File, (u64, u64))> {
    let inner = hotset_sys::proc::inner_pid(pid).unwrap_or(pid);
    let path = PathBuf::from(format!("/tmp/perf-{inner}.map"));
    let file = roots.open(&path).next()?;
    let about = file.metadata().ok()?;
    Some((file, (about.dev(), about.ino())))
}
