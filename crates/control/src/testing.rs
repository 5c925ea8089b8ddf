//! Files for the unit tests of this crate, on the file system that holds the build: pages of tmpfs can't be evicted.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use hotset_sys::tree::Selection;

use crate::Progress;

/// A flag that nobody sets.
pub(crate) static GO: AtomicBool = AtomicBool::new(false);

/// A directory that vanishes with this value.
pub(crate) struct ScratchDir(PathBuf);

impl ScratchDir {
    pub(crate) fn new() -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("hotset-control-test-{}-{serial}", std::process::id());
        let dir = hotset_tests::scratch::scratch_root().join(name);
        std::fs::create_dir(&dir).expect("scratch directory");
        Self(dir)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// A file of so many bytes, which are on the device.
    pub(crate) fn file(&self, name: &str, bytes: u64) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, vec![7; bytes as usize]).expect("write");
        std::fs::File::open(&path).and_then(|file| file.sync_all()).expect("sync");
        path
    }

    /// All of its files.
    pub(crate) fn selection(&self) -> Selection {
        Selection { roots: vec![self.0.clone()], ..Selection::default() }
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Takes a file out of the cache; tests that need it cold say so by this.
pub(crate) fn evict_now(path: &Path) {
    let change = hotset_sys::cache::evict(path).expect("evict");
    assert_eq!(change.cached_after.value(), Some(0), "{}", path.display());
}

/// The same for tests that need it cached.
pub(crate) fn warm_now(path: &Path) {
    hotset_sys::cache::warm(path).expect("warm");
}

/// Pages of a file that are cached now.
pub(crate) fn cached_pages(path: &Path) -> u64 {
    hotset_sys::cache::residency_at(path).expect("residency").cached_pages
}

/// Remembers what it was told.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) total: AtomicU64,
    pub(crate) done: AtomicU64,
}

impl Progress for Heard {
    fn begin(&self, total_bytes: u64) {
        self.total.store(total_bytes, Ordering::Relaxed);
    }

    fn advance(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }
}
