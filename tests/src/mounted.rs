//! A mount for the time of a test.

use std::path::Path;
use std::process::Command;

use rustix::mount::UnmountFlags;

/// A mount that ends with this value.
pub struct Mounted(String);

impl Mounted {
    /// `mount WORDS…`, the last of which is the mount point; panics where it is refused.
    pub fn new(words: &[&str]) -> Self {
        let status = Command::new("mount").args(words).status().expect("mount");
        assert!(status.success(), "mount {words:?}: {status}; this test needs root");
        Self(words[words.len() - 1].to_owned())
    }

    /// Ends the mount at `point`, which somebody else made.
    pub fn adopt(point: &Path) -> Self {
        Self(crate::scratch::text(point).to_owned())
    }

    /// An overlay of one lower layer over `lower`, `upper`, `work` and `merged` in `dir`, which it makes.
    pub fn overlay(dir: &str) -> Self {
        let [lower, upper, work, merged] =
            ["lower", "upper", "work", "merged"].map(|name| format!("{dir}/{name}"));
        for dir in [&lower, &upper, &work, &merged] {
            std::fs::create_dir_all(dir).unwrap_or_else(|error| panic!("{dir}: {error}"));
        }
        let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
        Self::new(&["-t", "overlay", "overlay", "-o", &options, &merged])
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Detached, because another thread's child has this one's files open until it executes its program. A failing
        // test should report its own failure and not this one.
        let _ = rustix::mount::unmount(self.0.as_str(), UnmountFlags::DETACH);
    }
}
