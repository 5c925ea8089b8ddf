//! Which system calls look a path up, and where they have it: those that the sensor counts, as a test of it says.

use libc::{AT_EMPTY_PATH, AT_FDCWD, c_long};

use super::memory;

/// What a call looks a path up for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    /// To ask about the file.
    Ask,
    /// To open it: the call's answer is a descriptor.
    Open,
    /// To execute it.
    Execute,
}

/// A system call with a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LookupCall {
    pub(super) number: c_long,
    pub(super) aim: Aim,
    /// The path is the second argument, and the first a directory's descriptor.
    has_directory: bool,
    /// The argument in which AT_EMPTY_PATH says that an empty path means the descriptor itself.
    flags: Option<usize>,
}

const fn plain(number: c_long, aim: Aim) -> LookupCall {
    LookupCall { number, aim, has_directory: false, flags: None }
}

const fn at(number: c_long, aim: Aim, flags: Option<usize>) -> LookupCall {
    LookupCall { number, aim, has_directory: true, flags }
}

/// Calls that every architecture has.
const COMMON: [LookupCall; 9] = [
    at(libc::SYS_openat, Aim::Open, None),
    at(libc::SYS_openat2, Aim::Open, None),
    at(libc::SYS_newfstatat, Aim::Ask, Some(3)),
    at(libc::SYS_statx, Aim::Ask, Some(2)),
    at(libc::SYS_faccessat, Aim::Ask, None),
    at(libc::SYS_faccessat2, Aim::Ask, None),
    at(libc::SYS_readlinkat, Aim::Ask, None),
    plain(libc::SYS_execve, Aim::Execute),
    at(libc::SYS_execveat, Aim::Execute, None),
];

/// Those that came before.
#[cfg(target_arch = "x86_64")]
const OLD: [LookupCall; 6] = [
    plain(libc::SYS_open, Aim::Open),
    plain(libc::SYS_creat, Aim::Open),
    plain(libc::SYS_stat, Aim::Ask),
    plain(libc::SYS_lstat, Aim::Ask),
    plain(libc::SYS_access, Aim::Ask),
    plain(libc::SYS_readlink, Aim::Ask),
];
#[cfg(not(target_arch = "x86_64"))]
const OLD: [LookupCall; 0] = [];

/// All of them.
pub(super) fn all() -> impl Iterator<Item = &'static LookupCall> {
    const NEW: &[LookupCall] = &COMMON;
    const BEFORE: &[LookupCall] = &OLD;
    NEW.iter().chain(BEFORE)
}

/// Whether a system call of this number looks a path up.
pub fn looks_up(number: i64) -> bool {
    all().any(|call| call.number == number)
}

/// What a call asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) aim: Aim,
    /// Where a relative path begins.
    pub(super) directory: i32,
    /// Where the path is in the task's memory.
    pub(super) path: u64,
}

impl LookupCall {
    /// What the call asks for with these arguments; nothing where it has no path to look up: fstat by another name.
    pub(super) fn asked(&self, task: libc::pid_t, arguments: &[u64; 6]) -> Option<Asked> {
        let [first, second, ..] = *arguments;
        let (directory, path) = match self.has_directory {
            // Registers are 64 bits wide, and the kernel takes the low half of a descriptor.
            true => (first as i32, second),
            false => (AT_FDCWD, first),
        };
        let may_be_empty =
            self.flags.is_some_and(|flags| arguments[flags] as i32 & AT_EMPTY_PATH != 0);
        if may_be_empty && (path == 0 || memory::byte_at(task, path) == Some(0)) {
            return None;
        }
        Some(Asked { aim: self.aim, directory, path })
    }
}

impl Asked {
    /// Whether a call that ended so is a failed lookup; nothing where it is none at all: a program that was started, or could not
    /// be although it was found.
    pub(super) fn has_failed(&self, answer: i64) -> Option<bool> {
        let missing =
            [libc::ENOENT, libc::ENOTDIR].iter().any(|&error| answer == -i64::from(error));
        (missing || self.aim != Aim::Execute).then_some(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_there_has_failed() {
        let asked = |aim| Asked { aim, directory: AT_FDCWD, path: 1 };
        let [missing, not_a_directory, refused] =
            [libc::ENOENT, libc::ENOTDIR, libc::EACCES].map(|error| -i64::from(error));
        for aim in [Aim::Ask, Aim::Open] {
            assert_eq!(asked(aim).has_failed(3), Some(false));
            assert_eq!(asked(aim).has_failed(refused), Some(false));
            assert_eq!(asked(aim).has_failed(not_a_directory), Some(true));
        }
        assert_eq!(asked(Aim::Execute).has_failed(0), None);
        assert_eq!(asked(Aim::Execute).has_failed(refused), None);
        assert_eq!(asked(Aim::Execute).has_failed(missing), Some(true));
    }

    #[test]
    fn an_empty_path_is_a_lookup_only_where_nothing_allows_it() {
        let (own, empty) = (std::process::id() as libc::pid_t, b"\0");
        let find = |number| all().find(|call| call.number == number).expect("a call");
        let arguments = |flags| [3, empty.as_ptr() as u64, 0, flags, 0, 0];
        let newfstatat = find(libc::SYS_newfstatat);
        assert_eq!(newfstatat.asked(own, &arguments(AT_EMPTY_PATH as u64)), None);
        assert!(newfstatat.asked(own, &arguments(0)).is_some());
        let named = [3, c"x".as_ptr() as u64, 0, AT_EMPTY_PATH as u64, 0, 0];
        assert!(newfstatat.asked(own, &named).is_some());
        let null = [3, 0, AT_EMPTY_PATH as u64, 0, 0, 0];
        assert_eq!(find(libc::SYS_statx).asked(own, &null), None);
        assert!(find(libc::SYS_faccessat2).asked(own, &arguments(AT_EMPTY_PATH as u64)).is_some());
    }
}
