//! A directory on a real file system, gone when the test ends.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::programs::target_dir;

/// `f_type` of tmpfs and ramfs, whose pages can't be evicted: a file there is never cold.
const MEMORY_FILE_SYSTEMS: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// A directory below `HOTSET_TEST_DIR`, or below `test-scratch` in Cargo's target directory.
pub struct Scratch {
    dir: PathBuf,
}

impl Scratch {
    /// An empty directory of its own.
    pub fn new(name: &str) -> Self {
        Self::below(&scratch_root(), name)
    }

    /// The same in another directory.
    pub fn below(base: &Path, name: &str) -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let dir = base.join(format!("{name}-{}-{serial}", std::process::id()));
        std::fs::create_dir_all(&dir)
            .unwrap_or_else(|error| panic!("can't create {}: {error}", dir.display()));
        assert!(
            !is_in_memory(&dir),
            "{} is on a file system in memory, where nothing is ever cold: set HOTSET_TEST_DIR",
            dir.display()
        );
        Self { dir }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// An empty file in it: of one that is not there yet nobody could tell what others evict.
    pub fn empty(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::File::create(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        path
    }

    /// A file of random bytes in it, on disk.
    pub fn file(&self, name: &str, bytes: u64) -> PathBuf {
        let path = self.path(name);
        let size = bytes.to_string();
        crate::prepare(&["make", "--file", text(&path), "--size-bytes", &size]);
        path
    }

    /// A copy of a program in it that everybody may execute, without the holes that a linker leaves. Another process writes it: a test
    /// beside this one may fork at any time, and while its child has the file open for writing nobody can execute it.
    pub fn program(&self, name: &str, source: &Path) -> PathBuf {
        let path = self.path(name);
        let mut copy = Command::new("cp");
        let copied = copy.arg("--sparse=never").args([source, &path]).status().expect("cp");
        assert!(copied.success(), "no copy of {}", source.display());
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("chmod");
        path
    }

    /// A script in it that can be executed, written by another process for the same reason.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        let words = ["-c", "printf %s \"$2\" > \"$1\" && chmod 755 \"$1\"", "sh"];
        let written = Command::new("sh").args(words).arg(&path).arg(text).status().expect("sh");
        assert!(written.success(), "no {}", path.display());
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A failing test should report its own failure and not this one.
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// Where all that tests leave lies: `tests/repeat.py` evicts it while they run.
pub fn scratch_root() -> PathBuf {
    let root = std::env::var_os("HOTSET_TEST_DIR")
        .map_or_else(|| target_dir().join("test-scratch"), PathBuf::from);
    std::fs::create_dir_all(&root)
        .unwrap_or_else(|error| panic!("can't create {}: {error}", root.display()));
    root
}

/// Whether a path is on a file system that has no device, where nothing is ever cold.
pub fn is_in_memory(path: &Path) -> bool {
    let kind =
        rustix::fs::statfs(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    MEMORY_FILE_SYSTEMS.contains(&(kind.f_type as u64))
}

/// The path as a word; scratch paths are UTF-8.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("scratch paths are UTF-8")
}
