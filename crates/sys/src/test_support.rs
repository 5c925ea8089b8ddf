//! Files for the unit tests of this crate.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A file that vanishes with this value.
pub(crate) struct ScratchFile {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
}

impl ScratchFile {
    /// A file with these bytes.
    pub(crate) fn with(bytes: &[u8]) -> Self {
        Self::inside(&std::env::temp_dir(), bytes)
    }

    /// The same, on the file system that holds the build, so that its pages can be evicted (tmpfs can't do that).
    pub(crate) fn on_disk(bytes: &[u8]) -> Self {
        Self::inside(&hotset_tests::scratch::scratch_root(), bytes)
    }

    /// No page of it is cached: where an attempt begins that others' evictions can disturb.
    pub(crate) fn evict(&self) {
        let after = crate::cache::evict(&self.path).expect("evict").cached_after;
        assert_eq!(after, hotset_facts::Observed::Value(0));
    }

    fn inside(dir: &Path, bytes: &[u8]) -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!("hotset-sys-test-{}-{serial}", std::process::id()));
        let mut file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .expect("create scratch file");
        file.write_all(bytes).expect("write scratch file");
        Self { path, file }
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// What was counted, by name.
pub(crate) fn counts<const N: usize>(all: [(&str, u64); N]) -> BTreeMap<String, u64> {
    all.map(|(name, count)| (name.to_owned(), count)).into()
}

/// First in a test that shows nothing without root, before it leaves something behind that only root can remove.
#[track_caller]
pub(crate) fn assert_root() {
    assert!(rustix::process::geteuid().is_root(), "this test needs root");
}

/// Credentials belong to threads; the system call itself, unlike libc's wrapper, changes those of this one only.
pub(crate) fn as_another_user<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    const NOBODY: libc::c_long = 65534;
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: takes three numbers and touches no memory.
            unsafe { libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY) };
            work()
        });
        thread.join().expect("the thread")
    })
}

/// Tracefs for this thread, where the host has not mounted it: in a mount namespace of its own.
pub(crate) fn ensure_tracefs() {
    const PLACE: &CStr = c"/sys/kernel/tracing";
    if Path::new("/sys/kernel/tracing/events").exists()
        || Path::new("/sys/kernel/debug/tracing/events").exists()
    {
        return;
    }
    let done = |what: &str, result: libc::c_int| {
        let error = std::io::Error::last_os_error();
        assert_eq!(result, 0, "{what}: {error}; this test needs root");
    };
    // SAFETY: a mount namespace and a working directory of this thread's own; descriptors stay shared.
    done("a mount namespace", unsafe { libc::unshare(libc::CLONE_NEWNS) });
    let mount = |source: &CStr, target: &CStr, flags| {
        let none = std::ptr::null();
        // SAFETY: the texts end with NUL and outlive the call; there are no options.
        unsafe { libc::mount(source.as_ptr(), target.as_ptr(), c"tracefs".as_ptr(), flags, none) }
    };
    done("private mounts", mount(c"none", c"/", libc::MS_REC | libc::MS_PRIVATE));
    done("tracefs", mount(c"tracefs", PLACE, 0));
}
