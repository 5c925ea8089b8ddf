//! A control group for a test.

use std::path::{Path, PathBuf};

use crate::Scratch;

/// A control group of version 2 with one below it; removed at the end, when its processes are gone.
pub struct Group(PathBuf);

impl Group {
    /// Named after the scratch directory.
    pub fn new(scratch: &Scratch) -> Self {
        let mounts = std::fs::read_to_string("/proc/mounts").expect("mounts");
        let mount = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2"));
        let mount = mount.and_then(|line| line.split(' ').nth(1)).expect("a cgroup2 mount");
        let name = scratch.dir().file_name().expect("a name");
        let group = Path::new(mount).join(name);
        std::fs::create_dir_all(group.join("below")).expect("mkdir; this test needs root");
        Self(group)
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.0
    }

    /// Moves a process into the group below it.
    pub fn add_below(&self, pid: u64) {
        std::fs::write(self.0.join("below/cgroup.procs"), pid.to_string()).expect("move");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A failing test should report its own failure and not this one.
        let _ = std::fs::remove_dir(self.0.join("below"));
        let _ = std::fs::remove_dir(&self.0);
    }
}
