//! Files for the unit tests of this crate, on the file system that holds the build: pages of tmpfs can't be evicted.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use hotset_facts::{FileSet, LearnedBy};

use crate::candidates::from_paths;
use crate::fileset::build;

/// Held for writing while a test empties the whole host's caches, and for reading where another counts on its own.
static CACHES: RwLock<()> = RwLock::new(());

pub(crate) fn quiet() -> RwLockReadGuard<'static, ()> {
    CACHES.read().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn loud() -> RwLockWriteGuard<'static, ()> {
    CACHES.write().unwrap_or_else(PoisonError::into_inner)
}

/// A set of these files, as a user names them.
pub(crate) fn set_of(paths: &[PathBuf]) -> FileSet {
    let (candidates, unreadable) = from_paths(paths.to_vec(), &AtomicBool::new(false));
    assert!(unreadable.is_empty(), "{unreadable:?}");
    build(LearnedBy::Given, &candidates, None)
}

/// A directory that vanishes with this value.
pub(crate) struct Scratch {
    dir: PathBuf,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("hotset-lab-test-{}-{serial}", std::process::id());
        let dir = hotset_tests::scratch::scratch_root().join(name);
        std::fs::create_dir_all(&dir).expect("create scratch directory");
        Self { dir }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).expect("write scratch file");
        path
    }

    /// A file of so many pages, written back to its device.
    pub(crate) fn pages(&self, name: &str, pages: u64) -> PathBuf {
        let path = self.file(name, &vec![7; (pages * hotset_sys::page_size()) as usize]);
        std::fs::File::open(&path).and_then(|file| file.sync_all()).expect("sync");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// A bool a page, from mincore(2), by another program than the one under test: python's mmap and ctypes.
pub(crate) fn resident_pages(path: &Path) -> Vec<bool> {
    let program = "import ctypes, mmap, os, sys\n\
        f = os.open(sys.argv[1], os.O_RDONLY)\n\
        size = os.fstat(f).st_size\n\
        libc = ctypes.CDLL(None, use_errno=True)\n\
        libc.mmap.restype = ctypes.c_void_p\n\
        at = libc.mmap(None, ctypes.c_size_t(size), 1, 1, f, ctypes.c_long(0))\n\
        n = (size + mmap.PAGESIZE - 1) // mmap.PAGESIZE\n\
        v = (ctypes.c_ubyte * n)()\n\
        assert libc.mincore(ctypes.c_void_p(at), ctypes.c_size_t(size), v) == 0\n\
        print(''.join(str(b & 1) for b in v))\n";
    let output = std::process::Command::new("python3")
        .args(["-c", program])
        .arg(path)
        .output()
        .expect("python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout.trim_ascii().iter().map(|&byte| byte == b'1').collect()
}
