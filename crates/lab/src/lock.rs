//! One session at a time: two would disturb each other's times and states.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::{FileType, FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

/// How often a lock that is taken is tried again.
const PAUSE: Duration = Duration::from_millis(100);

/// Whom a session waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// The process that holds the lock, as far as it told.
    pub pid: Option<u32>,
}

/// Held while a session runs. A session of another user is not waited for.
#[derive(Debug)]
pub struct SessionLock {
    /// The lock lives as long as this descriptor.
    _file: File,
}

impl SessionLock {
    /// Takes the lock of this user; where it is taken, tells `waits` once and waits. Nothing where `stop` was set first.
    ///
    /// # Errors
    /// Names the lock's file where it can't be opened, or belongs to someone else.
    pub fn take(stop: &AtomicBool, waits: &mut dyn FnMut(Waiting)) -> io::Result<Option<Self>> {
        Self::take_at(&path(), stop, waits)
    }

    fn take_at(
        path: &Path,
        stop: &AtomicBool,
        waits: &mut dyn FnMut(Waiting),
    ) -> io::Result<Option<Self>> {
        let mut file = open(path).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        let mut told = false;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            if !std::mem::replace(&mut told, true) {
                waits(Waiting { pid: holder(path) });
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            std::thread::sleep(PAUSE);
        }
        // For whoever waits; the lock holds without it.
        let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Some(Self { _file: file }))
    }
}

fn path() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|dir| dir.is_dir()) {
        Some(dir) => dir.join("hotset-bench.lock"),
        None => {
            let user = rustix::process::geteuid().as_raw();
            PathBuf::from(format!("/tmp/hotset-bench-{user}.lock"))
        }
    }
}

/// Anyone may write to /tmp: a link or someone else's file there is refused.
fn open(path: &Path) -> io::Result<File> {
    let flags =
        OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let fd = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?;
    let stat = rustix::fs::fstat(&fd)?;
    let is_own = stat.st_uid == rustix::process::geteuid().as_raw();
    if !is_own || FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("is no regular file of this user; remove it"));
    }
    Ok(fd.into())
}

fn holder(path: &Path) -> Option<u32> {
    let mut text = String::new();
    File::open(path).ok()?.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::Scratch;

    #[test]
    fn a_second_session_waits_for_the_first_and_says_for_whom() {
        let scratch = Scratch::new();
        let path = scratch.path("lock");
        let (go, stop) = (AtomicBool::new(false), AtomicBool::new(true));
        let mut waited = Vec::new();
        let first = SessionLock::take_at(&path, &go, &mut |_| panic!("free")).expect("lock");
        let second = SessionLock::take_at(&path, &stop, &mut |who| waited.push(who));
        assert!(first.is_some() && second.expect("no error").is_none());
        assert_eq!(waited, [Waiting { pid: Some(std::process::id()) }]);
        drop(first);
        let third = SessionLock::take_at(&path, &stop, &mut |_| panic!("free again"));
        assert!(third.expect("lock").is_some());
    }

    #[test]
    fn a_link_is_refused_by_name() {
        let scratch = Scratch::new();
        let path = scratch.path("lock");
        std::os::unix::fs::symlink(scratch.file("target", b""), &path).expect("link");
        let error = SessionLock::take_at(&path, &AtomicBool::new(false), &mut |_| ());
        assert!(error.expect_err("refused").to_string().contains("lock"));
    }
}
