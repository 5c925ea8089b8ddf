//! Paths as the kernel wants them.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use hotset_facts::replay::{FileRole, PlanPath, ReplayPlan};

use super::{ReplayError, Roots};

/// What says nothing of the file that was to be opened.
const LACKS_RESOURCES: [i32; 3] = [libc::EMFILE, libc::ENFILE, libc::ENOMEM];

/// A path of the plan.
pub(super) struct Name {
    /// The directory that it is looked up from.
    pub(super) base: RawFd,
    pub(super) path: CString,
    pub(super) role: FileRole,
    /// It is opened so that its time of access stays.
    no_atime: bool,
}

/// All of them, by their place in the plan.
pub(super) struct Names<'a> {
    all: Vec<Name>,
    roots: Roots<'a>,
}

impl<'a> Names<'a> {
    pub(super) fn new(plan: &ReplayPlan, roots: Roots<'a>) -> Result<Self, ReplayError> {
        let name = |path: &PlanPath| {
            let (base, bytes) = match (path.role, roots.originals) {
                (FileRole::Copy, _) => (roots.copies.as_raw_fd(), inside(&path.bytes)),
                (FileRole::Original, Some(root)) => (root.as_raw_fd(), inside(&path.bytes)),
                (FileRole::Original, None) => (libc::AT_FDCWD, path.bytes.clone()),
            };
            let error = |_| ReplayError::Path { path: path.bytes.clone() };
            let path_at = CString::new(bytes).map_err(error)?;
            let is_original = path.role == FileRole::Original;
            let no_atime = is_original && (roots.no_atime || is_own(base, &path_at));
            Ok(Name { base, path: path_at, role: path.role, no_atime })
        };
        let all = plan.paths.iter().map(name).collect::<Result<_, _>>()?;
        Ok(Self { all, roots })
    }

    pub(super) fn get(&self, place: u32) -> Option<&Name> {
        self.all.get(place as usize)
    }

    /// The directory that copies are below.
    pub(super) fn copies(&self) -> RawFd {
        self.roots.copies.as_raw_fd()
    }

    /// What open(2) is told beside `flags` for a name: an original is only read, and its time of access stays.
    pub(super) fn open_flags(&self, name: &Name, flags: i32) -> Result<i32, i32> {
        if name.role == FileRole::Copy {
            return Ok(flags | libc::O_CLOEXEC);
        }
        if flags & (libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC) != libc::O_RDONLY {
            return Err(libc::EROFS);
        }
        let no_atime = if name.no_atime { libc::O_NOATIME } else { 0 };
        Ok(flags | no_atime | libc::O_CLOEXEC)
    }

    /// Opens a name: a descriptor, or the number of an error below zero.
    #[inline]
    pub(super) fn open(&self, name: &Name, flags: i32) -> i64 {
        match self.open_flags(name, flags) {
            // SAFETY: the path is a string that lives through the call; a new file is its owner's alone.
            Ok(flags) => answer(unsafe {
                libc::openat(name.base, name.path.as_ptr(), flags, 0o600 as libc::c_uint)
            }),
            Err(error) => -i64::from(error),
        }
    }

    /// The same before the first step. Nothing where there is no such file, or it may not be opened.
    pub(super) fn open_before(
        &self,
        plan: &ReplayPlan,
        place: u32,
        flags: i32,
    ) -> Result<Option<OwnedFd>, ReplayError> {
        let opened =
            self.get(place).map_or(-i64::from(libc::ENOENT), |name| self.open(name, flags));
        let path =
            || plan.paths.get(place as usize).map(|path| path.bytes.clone()).unwrap_or_default();
        match RawFd::try_from(opened) {
            // SAFETY: a new descriptor that nobody else owns.
            Ok(fd) if fd >= 0 => Ok(Some(unsafe { OwnedFd::from_raw_fd(fd) })),
            Ok(error) if !LACKS_RESOURCES.contains(&-error) => Ok(None),
            _ => {
                let error =
                    io::Error::from_raw_os_error(i32::try_from(-opened).unwrap_or(libc::EIO));
                Err(ReplayError::File { path: path(), error })
            }
        }
    }
}

/// Whether a file is this user's: only its owner, and root, may ask that its time of access stays.
fn is_own(base: RawFd, path: &CStr) -> bool {
    let mut stat = MaybeUninit::<libc::stat64>::uninit();
    // SAFETY: the path is a string that lives through the call, and the answer has room.
    let found = unsafe { libc::fstatat64(base, path.as_ptr(), stat.as_mut_ptr(), 0) } == 0;
    // SAFETY: it was filled where the call succeeded.
    found && unsafe { stat.assume_init() }.st_uid == rustix::process::geteuid().as_raw()
}

/// As many bytes as some words have, that lead nowhere: what a copy of a symbolic link holds. Followed, its own words would lead out
/// of the copies, and a step would change an original.
pub(super) fn to_nowhere(words: &[u8]) -> CString {
    CString::new(vec![b'x'; words.len()]).unwrap_or_default()
}

/// A path as it is below a root, where no `..` leads out: the directories of copies are no links, so that a name and `..` are nothing.
fn inside(path: &[u8]) -> Vec<u8> {
    let mut names: Vec<&[u8]> = Vec::new();
    for name in path.split(|byte| *byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    if names.is_empty() { b".".to_vec() } else { names.join(&b'/') }
}

/// What a call of the C library came to: its result, or the number of its error below zero.
#[inline]
pub(super) fn answer(result: impl Into<i64>) -> i64 {
    let result = result.into();
    if result >= 0 {
        return result;
    }
    // SAFETY: the C library has an error number for each thread.
    -i64::from(unsafe { *libc::__errno_location() })
}
