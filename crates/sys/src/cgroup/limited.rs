//! A control group of this program's own, whose memory is limited.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use hotset_facts::Pid;

use super::{MemoryGroup, own_groups, parse_limit};
use crate::launch::Launch;

/// How the names of such groups begin.
const PREFIX: &str = "hotset-limited-";
/// The file of the limit in version 2.
const V2_LIMIT: &str = "memory.max";
/// Lists the processes of a group, and takes them.
const MEMBERS: &str = "cgroup.procs";
/// A group that a process has just left can't be removed yet.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// A group that is gone with this value.
#[derive(Debug)]
pub struct LimitedGroup {
    dir: PathBuf,
    is_v2: bool,
}

/// A group that can't be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupLeft {
    /// Its directory.
    pub dir: PathBuf,
    /// The processes that are in it.
    pub pids: Vec<Pid>,
}

/// What a limit did to the processes of a group, as the kernel counted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitEffects {
    /// Pages of files that were evicted, and read again by the time at which evicting them looks like a mistake or later
    /// (`workingset_refault_file`); none before Linux 5.9.
    pub refault_pages: Option<u64>,
    /// The most memory that was charged to it at a time, in bytes; none with version 2 before Linux 5.19.
    pub peak_bytes: Option<u64>,
    /// Processes that were killed because the limit left too little.
    pub killed: u64,
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

    /// Starts a command in it: all memory that the command uses counts here.
    ///
    /// # Errors
    /// As execve(2) gives them, and where the group takes no process.
    pub fn start(&self, launch: &mut Launch) -> io::Result<Pid> {
        let members = OpenOptions::new().write(true).open(self.dir.join(MEMBERS))?;
        launch.start_in(members)
    }

    /// What its limit did so far.
    pub fn effects(&self) -> LimitEffects {
        let read = |name: &str| std::fs::read_to_string(self.dir.join(name)).unwrap_or_default();
        let (peak, events) = match self.is_v2 {
            true => ("memory.peak", "memory.events"),
            false => ("memory.max_usage_in_bytes", "memory.oom_control"),
        };
        let stat = read("memory.stat");
        let refaults = if self.is_v2 { "" } else { "total_" };
        LimitEffects {
            refault_pages: counter(&stat, &format!("{refaults}workingset_refault_file")),
            peak_bytes: read(peak).trim().parse().ok(),
            killed: counter(&read(events), "oom_kill").unwrap_or(0),
        }
    }

    /// Removes it; says what is left where processes that go on keep it.
    pub fn remove(self) -> Option<GroupLeft> {
        if self.try_remove() {
            return None;
        }
        let members = std::fs::read_to_string(self.dir.join(MEMBERS)).unwrap_or_default();
        let pids = members.lines().filter_map(|line| line.parse().ok()).collect();
        let left = GroupLeft { dir: self.dir.clone(), pids };
        // It was waited for once.
        std::mem::forget(self);
        Some(left)
    }

    fn try_remove(&self) -> bool {
        for _ in 0..TRIES {
            match std::fs::remove_dir(&self.dir) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    std::thread::sleep(PAUSE);
                }
                _ => return true,
            }
        }
        false
    }
}

impl Drop for LimitedGroup {
    fn drop(&mut self) {
        self.try_remove();
    }
}

/// A line is a name and a number.
pub(super) fn counter(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.find_map(|(key, number)| (key == name).then(|| number.trim().parse().ok())?)
}

fn make_in(parent: &Path, group: &MemoryGroup, limit_bytes: u64) -> io::Result<LimitedGroup> {
    // One that is left of an earlier run keeps its name.
    static MADE: AtomicU32 = AtomicU32::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let dir = parent.join(format!("{PREFIX}{}.{number}", std::process::id()));
    std::fs::create_dir(&dir)?;
    let made = LimitedGroup { dir, is_v2: group.limit_file == V2_LIMIT };
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
        let numbers = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let pid = numbers.and_then(|numbers| numbers.split('.').next());
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

    fn run(limit_bytes: u64, script: &str) -> (hotset_facts::ExitStatus, LimitEffects) {
        let group = LimitedGroup::make(limit_bytes).expect("a group: as root");
        let words = ["sh".into(), "-c".into(), script.into()];
        let mut launch =
            Launch::new(Path::new("/bin/sh"), &words, [None, None, None]).expect("ready");
        let pid = group.start(&mut launch).expect("started");
        let (exit, _) = crate::child::reap(pid).expect("reaped");
        (exit, group.effects())
    }

    #[test]
    fn a_command_is_in_it_from_the_start_and_its_limit_has_effects() {
        let in_it = format!("grep -q {PREFIX} /proc/self/cgroup");
        let (exit, effects) = run(64 << 20, &in_it);
        assert_eq!((exit, effects.killed), (hotset_facts::ExitStatus::Code(0), 0));
        assert!(effects.peak_bytes.is_none_or(|peak| peak > 4096), "{effects:?}");
        // Words of 32 MiB do not fit.
        let (exit, effects) =
            run(8 << 20, "x=$(head -c 33554432 /dev/zero | tr '\\0' x); echo $x > /dev/null");
        assert!(effects.killed > 0, "{exit:?} {effects:?}");
        let missing = Launch::new(Path::new("/no/such/program"), &[], [None, None, None]);
        let group = LimitedGroup::make(64 << 20).expect("a group: as root");
        let error = group.start(&mut missing.expect("ready")).expect_err("there is none");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_group_with_a_process_that_goes_on_is_told_and_another_can_be_made() {
        let group = LimitedGroup::make(64 << 20).expect("a group: as root");
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("a process");
        group.take(child.id()).expect("taken");
        let left = group.remove().expect("it is still there");
        assert_eq!(left.pids, [child.id()]);
        let next = LimitedGroup::make(64 << 20).expect("another group");
        assert_ne!(next.dir, left.dir);
        drop(child.stdin.take());
        child.wait().expect("wait");
        std::fs::remove_dir(&left.dir).expect("it can be removed now");
        assert_eq!(next.remove(), None);
    }

    #[test]
    fn counters_are_lines_of_a_name_and_a_number() {
        let stat = "total_workingset_refault_file 12\nworkingset_refault_file 5\noom_kill_disable 0\noom_kill 3\n";
        assert_eq!(counter(stat, "workingset_refault_file"), Some(5));
        assert_eq!((counter(stat, "oom_kill"), counter(stat, "refault")), (Some(3), None));
    }
}
