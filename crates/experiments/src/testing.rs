//! Files for the tests of plans, on the file system that holds the build.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory that vanishes with this value.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let exe = std::env::current_exe().expect("path of the test");
        let name = format!("hotset-experiments-test-{}-{serial}", std::process::id());
        let directory = exe.with_file_name(name);
        std::fs::create_dir_all(&directory).expect("create scratch directory");
        Self(directory)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
