//! What cachestat(2) adds to the listed files: dirty and evicted pages.

use std::sync::atomic::{AtomicBool, Ordering};

use hotset_facts::{CachedFile, CachedFileSystem, FileSystemKind, Observed, PageHolder, Reason};
use hotset_sys::cache::residency;
use rustix::fs::{Mode, OFlags};

/// Files that are opened; beyond, the list is for a program, which can ask itself.
const MAX_ASKED: usize = 1000;
/// File systems whose server may be away: opening a file there may take forever.
const REMOTE: [&str; 9] = ["nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "fuse", "afs", "autofs"];

const ELSEWHERE: Reason = Reason::not_measured("no path leads to it from here");
const HIDDEN: Reason = Reason::not_measured("another file stands at its path");
const REMOTE_FILE: Reason = Reason::not_measured("not opened: its server may not answer");
const MANY: Reason = Reason::not_measured("only the first 1,000 files are opened");

/// Asks about each regular file that a path leads to, and finds out whether it really does.
pub(super) fn ask(files: &mut [CachedFile], file_systems: &[CachedFileSystem], stop: &AtomicBool) {
    for (i, file) in files.iter_mut().enumerate() {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let of = &file_systems[file.file_system];
        file.state = if !file.reachable || file.holder != PageHolder::Regular {
            Observed::Missing(ELSEWHERE)
        } else if i >= MAX_ASKED {
            Observed::Missing(MANY)
        } else if REMOTE.contains(&of.fs_type.as_str()) {
            Observed::Missing(REMOTE_FILE)
        } else {
            state_of(file, of)
        };
    }
}

/// Opens nothing but the very file, and reads nothing of it.
fn state_of(file: &mut CachedFile, of: &CachedFileSystem) -> Observed<hotset_facts::Residency> {
    let Observed::Value(path) = &file.path else { return Observed::Missing(ELSEWHERE) };
    let flags = OFlags::RDONLY
        | OFlags::NOATIME
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK
        | OFlags::NOCTTY
        | OFlags::CLOEXEC;
    let opened = rustix::fs::lstat(path.as_path())
        .ok()
        .filter(|stat| is_same(&hotset_sys::file_id(stat), file, of))
        .and_then(|_| rustix::fs::open(path.as_path(), flags, Mode::empty()).ok());
    let Some(fd) = opened else {
        file.reachable = false;
        return Observed::Missing(HIDDEN);
    };
    match rustix::fs::fstat(&fd) {
        Ok(stat) if is_same(&hotset_sys::file_id(&stat), file, of) => match residency(&fd) {
            Ok(state) => Observed::Value(state),
            Err(error) => Observed::Missing(error.reason()),
        },
        _ => {
            file.reachable = false;
            Observed::Missing(HIDDEN)
        }
    }
}

/// On btrfs stat(2) tells a device for each subvolume, which no list has.
fn is_same(id: &hotset_facts::FileId, file: &CachedFile, of: &CachedFileSystem) -> bool {
    let subvolumes = of.fs_type == "btrfs" && of.kind == FileSystemKind::Ordinary;
    id.ino == file.id.ino && (subvolumes || id.dev == file.id.dev)
}
