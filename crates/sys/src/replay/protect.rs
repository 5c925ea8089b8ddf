//! A process that can change nothing but one directory: the kernel sees to it.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The flags of mount_setattr(2) (include/uapi/linux/mount.h).
const RDONLY: u64 = 0x1;
const NOATIME: u64 = 0x10;
/// Which of the rules for times of access holds.
const ATIME_RULES: u64 = 0x70;
const RECURSIVE: libc::c_uint = 0x8000;

/// What mount_setattr(2) is told.
#[repr(C)]
#[derive(Debug, Default)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    userns_fd: u64,
}

/// Makes everything that this process can reach by a path read-only for it, times of access included, but for what is below
/// `writable`. Other processes see nothing of it. What this process has open already stays as it is open.
///
/// # Errors
/// EPERM without CAP_SYS_ADMIN, ENOSYS before Linux 5.12; what was done until then stays done.
pub fn protect(writable: &Path) -> io::Result<()> {
    let writable = CString::new(writable.as_os_str().as_bytes())?;
    // SAFETY: takes a number; of what the threads of this process share, it parts only the mounts.
    check(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
    mount(None, c"/", libc::MS_REC | libc::MS_PRIVATE)?;
    mount(Some(&writable), &writable, libc::MS_BIND)?;
    let all = Attributes { set: RDONLY | NOATIME, clear: ATIME_RULES, ..Attributes::default() };
    set_attributes(c"/", RECURSIVE, &all)?;
    set_attributes(&writable, 0, &Attributes { clear: RDONLY, ..Attributes::default() })
}

fn mount(source: Option<&CStr>, target: &CStr, flags: libc::c_ulong) -> io::Result<()> {
    let source = source.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: strings that live through the call; no file system is named, and it is told nothing.
    check(unsafe {
        libc::mount(source, target.as_ptr(), std::ptr::null(), flags, std::ptr::null())
    })
}

fn set_attributes(path: &CStr, flags: libc::c_uint, attributes: &Attributes) -> io::Result<()> {
    // SAFETY: a string and a structure that live through the call, and the size of that structure.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            std::ptr::from_ref(attributes),
            size_of::<Attributes>(),
        )
    };
    check(if answer == 0 { 0 } else { -1 })
}

fn check(answer: libc::c_int) -> io::Result<()> {
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use hotset_tests::scratch::Scratch;

    use super::*;

    /// In a thread of its own, whose mounts end with it.
    #[test]
    fn nothing_but_one_directory_can_be_changed() {
        let scratch = Scratch::new("sys-protect");
        let (inside, outside) = (scratch.path("inside"), scratch.path("outside"));
        fs::create_dir(&inside).expect("a directory");
        fs::write(&outside, b"old").expect("a file");
        // Long ago, so that a read would change it.
        let old = SystemTime::now() - Duration::from_secs(1 << 20);
        let file = fs::File::options().write(true).open(&outside).expect("open");
        file.set_times(fs::FileTimes::new().set_accessed(old)).expect("times");
        let work = || {
            protect(&inside)?;
            fs::write(inside.join("new"), b"new")?;
            let refused = fs::write(&outside, b"new").map_err(|error| error.raw_os_error());
            assert_eq!(refused, Err(Some(libc::EROFS)));
            let refused = fs::remove_file(&outside).map_err(|error| error.raw_os_error());
            assert_eq!(refused, Err(Some(libc::EROFS)));
            assert_eq!(fs::read(&outside)?, b"old");
            Ok::<_, io::Error>(())
        };
        let done = std::thread::scope(|scope| scope.spawn(work).join().expect("no panic"));
        done.expect("protected");
        assert_eq!(fs::read(inside.join("new")).expect("read"), b"new");
        let accessed = fs::metadata(&outside).expect("stat").accessed().expect("a time");
        assert_eq!(accessed, old);
        fs::write(&outside, b"other").expect("this thread may");
    }
}
