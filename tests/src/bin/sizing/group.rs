//! A control group of version 2 with a limit, below the root.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Doing, Outcome};

const ROOT: &str = "/sys/fs/cgroup";
const PROCESSES: &str = "cgroup.procs";
/// A group that a process has just left can't be removed yet.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// What happens at the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// `memory.max`: there is no more.
    Max,
    /// `memory.high`: whoever has more has to make room before it goes on.
    High,
}

impl Limit {
    fn file(self) -> &'static str {
        match self {
            Self::Max => "memory.max",
            Self::High => "memory.high",
        }
    }
}

/// One that is removed when it is dropped.
pub(super) struct Group(PathBuf);

impl Group {
    pub(super) fn new(limit: Limit, limit_bytes: u64) -> Outcome<Self> {
        let controllers = Path::new(ROOT).join("cgroup.subtree_control");
        std::fs::write(&controllers, "+memory").doing(controllers.display())?;
        let dir = Path::new(ROOT).join("sizing");
        std::fs::create_dir(&dir).doing(dir.display())?;
        let group = Self(dir);
        let limit = group.0.join(limit.file());
        std::fs::write(&limit, limit_bytes.to_string()).doing(limit.display())?;
        Ok(group)
    }

    /// The file that takes processes into it.
    pub(super) fn processes(&self) -> PathBuf {
        self.0.join(PROCESSES)
    }

    /// Runs `work` while this process is in the group. What it has in memory stays where it was counted.
    pub(super) fn inside<T>(&self, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        let own = std::process::id().to_string();
        std::fs::write(self.processes(), &own).doing(self.0.display())?;
        let done = work();
        std::fs::write(Path::new(ROOT).join(PROCESSES), &own).doing(ROOT)?;
        done
    }

    /// A number of its statistics; 0 where the kernel has none of this name.
    pub(super) fn statistic(&self, name: &str) -> Outcome<u64> {
        let file = self.0.join("memory.stat");
        let text = std::fs::read_to_string(&file).doing(file.display())?;
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        let found = lines.find(|(key, _)| *key == name).map(|(_, value)| value.parse());
        found.unwrap_or(Ok(0)).doing(name)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for _ in 0..TRIES {
            if std::fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }
}
