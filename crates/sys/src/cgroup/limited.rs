//! A control group of this program's own, whose memory is limited.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hotset_facts::Pid;

use super::{MemoryGroup, own_groups, parse_limit};

/// How the names of such groups begin.
const PREFIX: &str = "hotset-limited-";
/// Lists the processes of a group, and takes them.
const MEMBERS: &str = "cgroup.procs";
/// A group that a process has just left can't be removed yet.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// A group that is gone with this value.
#[derive(Debug)]
pub struct LimitedGroup {
    dir: PathBuf,
}

impl LimitedGroup {
    /// Makes one whose processes may use `limit_bytes` of memory together, page cache included: as high in the hierarchy as may be,
    /// so that no other limit is above it. Groups that an earlier process of this program left are removed.
    ///
    /// # Errors
    /// Where no group that limits memory can be made.
    pub fn make(limit_bytes: u64) -> io::Result<Self> {
        let mut failed = None;
        for group in own_groups() {
            let dirs: Vec<&Path> = group.dirs().collect();
            for parent in dirs.into_iter().rev() {
                sweep(parent);
                match make_in(parent, &group, limit_bytes) {
                    Ok(made) => return Ok(made),
                    Err(error) => drop(failed.get_or_insert(error)),
                }
            }
        }
        Err(failed.unwrap_or_else(|| io::Error::other("no control group here limits memory")))
    }

    /// Moves a process into it. What the process has in memory already stays where it was counted.
    ///
    /// # Errors
    /// Where it may not be moved.
    pub fn take(&self, pid: Pid) -> io::Result<()> {
        std::fs::write(self.dir.join(MEMBERS), pid.to_string())
    }
}

impl Drop for LimitedGroup {
    fn drop(&mut self) {
        for _ in 0..TRIES {
            match std::fs::remove_dir(&self.dir) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    std::thread::sleep(PAUSE);
                }
                _ => return,
            }
        }
    }
}

fn make_in(parent: &Path, group: &MemoryGroup, limit_bytes: u64) -> io::Result<LimitedGroup> {
    let dir = parent.join(format!("{PREFIX}{}", std::process::id()));
    std::fs::create_dir(&dir)?;
    let made = LimitedGroup { dir };
    let file = made.dir.join(group.limit_file);
    std::fs::write(&file, limit_bytes.to_string())?;
    // Whole pages are what it takes.
    let taken = parse_limit(&std::fs::read_to_string(&file)?);
    match taken.is_some_and(|taken| taken <= limit_bytes) {
        true => Ok(made),
        false => Err(io::Error::other(format!("{} did not take the limit", file.display()))),
    }
}

/// A group in which a process is can't be removed, and stays.
fn sweep(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_in_it_has_the_limit_and_it_is_gone_afterwards() {
        let group = LimitedGroup::make(64 << 20).expect("a group: as root");
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("a process");
        group.take(child.id()).expect("taken");
        let of = std::fs::read_to_string(format!("/proc/{}/cgroup", child.id())).expect("read");
        let name = group.dir.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(of.contains(&name), "{of}");
        drop(child.stdin.take());
        child.wait().expect("wait");
        let dir = group.dir.clone();
        assert!(dir.exists());
        drop(group);
        assert!(!dir.exists());
    }
}
