//! From the id of a control group to its path. The id is the inode number of the group's directory.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hotset_facts::{Observed, Pid, Reason};
use hotset_sys::proc::mountinfo::Mount;

const NOT_MOUNTED: Reason = Reason::not_measured("no control groups are mounted here");
const GONE: Reason =
    Reason::not_measured("its control group was gone before it could be looked up");
/// The tree of groups is read at most so often, however many unknown ids come up.
const RESCAN: Duration = Duration::from_secs(1);
/// Groups that are kept.
const MAX_GROUPS: usize = 65_536;

/// The hierarchy that accounts memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    /// Version 1.
    pub(crate) old: bool,
    mount_point: PathBuf,
    /// The group that the mount shows as its root.
    root: PathBuf,
    /// The mount shows more than the namespace that this process is in, as in a container that was given the host's: /proc
    /// tells groups by their way from the namespace's root, and these names are of no use.
    foreign: bool,
}

/// Where memory is accounted: by version 2 if it has the controller, else by version 1, else version 2 all the same.
pub(crate) fn hierarchy(mounts: &[Mount], has_memory: impl Fn(&Path) -> bool) -> Option<Hierarchy> {
    let of = |mount: &Mount, old| {
        let seen = hotset_sys::cgroup::seen_root(mount);
        Hierarchy {
            old,
            mount_point: mount.mount_point.clone(),
            foreign: seen.is_some(),
            root: seen.unwrap_or_else(|| mount.root.clone()),
        }
    };
    let new = mounts.iter().find(|mount| mount.fs_type == "cgroup2");
    if let Some(mount) = new.filter(|mount| has_memory(&mount.mount_point)) {
        return Some(of(mount, false));
    }
    let accounts = |mount: &&Mount| {
        mount.fs_type == "cgroup" && mount.super_options.split(',').any(|word| word == "memory")
    };
    let old = mounts.iter().find(accounts).map(|mount| of(mount, true));
    old.or_else(|| new.map(|mount| of(mount, false)))
}

/// Whether a hierarchy of version 2 has the memory controller.
pub(crate) fn has_memory(mount_point: &Path) -> bool {
    std::fs::read_to_string(mount_point.join("cgroup.controllers"))
        .is_ok_and(|list| list.split_whitespace().any(|word| word == "memory"))
}

/// The groups that are known.
#[derive(Debug, Default)]
pub(crate) struct Cgroups {
    hierarchy: Option<Hierarchy>,
    paths: HashMap<u64, Arc<str>>,
    /// Each path once.
    shared: HashMap<Box<str>, Arc<str>>,
    scanned: Option<Instant>,
    /// How often the tree was read.
    scans: u64,
    /// An id came up that the tree did not have, and it was read too recently to read it again.
    behind: bool,
}

impl Cgroups {
    pub(crate) fn new(hierarchy: Option<Hierarchy>) -> Self {
        Self { hierarchy, ..Self::default() }
    }

    /// The path of a group below the root of its hierarchy.
    pub(crate) fn path(&mut self, id: u64) -> Observed<Arc<str>> {
        if self.hierarchy.is_none() || id == 0 {
            return Observed::Missing(NOT_MOUNTED);
        }
        if !self.paths.contains_key(&id) {
            self.behind = true;
            if self.scanned.is_none_or(|at| at.elapsed() >= RESCAN) {
                self.rescan();
            }
        }
        self.paths
            .get(&id)
            .map_or(Observed::Missing(GONE), |path| Observed::Value(Arc::clone(path)))
    }

    /// Whether there is a group of this path; true where that can't be told.
    pub(crate) fn has(&self, path: &str) -> bool {
        let Some(hierarchy) = &self.hierarchy else { return true };
        let below = Path::new(path).strip_prefix(&hierarchy.root);
        below.map_or(true, |below| hierarchy.mount_point.join(below).exists())
    }

    /// Whether asking again can tell more than `known`.
    pub(crate) fn may_know_more(&self, known: &Observed<Arc<str>>) -> bool {
        self.behind
            && matches!(known, Observed::Missing(reason) if *reason == GONE)
            && self.scanned.is_none_or(|at| at.elapsed() >= RESCAN)
    }

    fn rescan(&mut self) {
        let Some(hierarchy) = &self.hierarchy else { return };
        if self.paths.len() >= MAX_GROUPS {
            self.paths.clear();
            self.shared.clear();
        }
        let mut directories = vec![(hierarchy.mount_point.clone(), hierarchy.root.clone())];
        while let Some((directory, group)) = directories.pop() {
            let Ok(stat) = std::fs::symlink_metadata(&directory) else { continue };
            if self.paths.len() < MAX_GROUPS {
                let text: Arc<str> = group.to_string_lossy().into();
                let shared = self.shared.entry((&*text).into()).or_insert(text);
                self.paths.insert(stat.ino(), Arc::clone(shared));
            }
            // Directories within a group are groups; nothing else there is a directory.
            for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    directories.push((entry.path(), group.join(entry.file_name())));
                }
            }
        }
        self.scanned = Some(Instant::now());
        self.scans += 1;
        self.behind = false;
    }

    /// Asks /proc which group a process is in now; `None` where the process is gone, and no group where /proc can't tell.
    pub(crate) fn of_process(&mut self, pid: Pid) -> Option<Option<Arc<str>>> {
        let Ok(bytes) = std::fs::read(format!("/proc/{pid}/cgroup")) else {
            // Hidden (mount option hidepid), or no descriptor left: not to be seen is not to be gone.
            return is_there(pid).then_some(None);
        };
        let Some(hierarchy) = self.hierarchy.as_ref().filter(|one| !one.foreign) else {
            return Some(None);
        };
        let text = String::from_utf8_lossy(&bytes);
        let Some(path) = path_in(&text, hierarchy.old) else { return Some(None) };
        // What a hierarchy of version 1 says of every process that exits: it has not moved. Asked afterwards, for it does not turn back.
        if hierarchy.old && path == "/" && !is_seen_to_run(pid) {
            return Some(None);
        }
        if let Some(shared) = self.shared.get(path) {
            return Some(Some(Arc::clone(shared)));
        }
        let path: Arc<str> = path.into();
        if self.shared.len() < MAX_GROUPS {
            self.shared.insert((&*path).into(), Arc::clone(&path));
        }
        Some(Some(path))
    }
}

/// Whether /proc says that a process runs, and has not begun its exit; false where that can't be read.
fn is_seen_to_run(pid: Pid) -> bool {
    hotset_sys::proc::stat::of(pid).is_ok_and(|stat| stat.is_some_and(|stat| !stat.is_exiting()))
}

/// Whether a process has this number. Asked by a signal that is none; who may not send it is told that too.
fn is_there(pid: Pid) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// The path of a process in the hierarchy that accounts memory, from /proc/PID/cgroup.
fn path_in(text: &str, old: bool) -> Option<&str> {
    text.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let fits = if old {
            controllers.split(',').any(|word| word == "memory")
        } else {
            number == "0" && controllers.is_empty()
        };
        fits.then(|| path.strip_suffix(" (deleted)").unwrap_or(path))
    })
}

#[cfg(test)]
mod tests {
    use hotset_facts::Dev;

    use super::*;

    fn mount(fs_type: &str, at: &str, super_options: &str) -> Mount {
        Mount {
            id: 1,
            parent: 0,
            dev: Dev { major: 0, minor: 30 },
            root: "/".into(),
            mount_point: at.into(),
            options: String::new(),
            super_options: super_options.into(),
            fs_type: fs_type.into(),
            source: "cgroup".into(),
        }
    }

    #[test]
    fn the_hierarchy_that_accounts_memory_wins() {
        let new = mount("cgroup2", "/sys/fs/cgroup/unified", "rw");
        let cpu = mount("cgroup", "/sys/fs/cgroup/cpu", "rw,cpu");
        let memory = mount("cgroup", "/sys/fs/cgroup/memory", "rw,memory");
        let all = [new.clone(), cpu, memory];
        let mixed = hierarchy(&all, |_| false).expect("version 1");
        assert_eq!((mixed.old, mixed.mount_point.to_str()), (true, Some("/sys/fs/cgroup/memory")));
        assert!(!hierarchy(&all, |_| true).expect("version 2").old);
        assert!(!hierarchy(&[new], |_| false).expect("the only one").old);
        assert_eq!(hierarchy(&[], |_| true), None);
        let mut host = mount("cgroup2", "/sys/fs/cgroup", "rw");
        assert!(!hierarchy(std::slice::from_ref(&host), |_| true).expect("its own").foreign);
        host.root = "/../../..".into();
        let seen = hierarchy(&[host], |_| true).expect("the host's");
        assert_eq!((seen.foreign, seen.root.to_str()), (true, Some("/")));
    }

    #[test]
    fn the_line_of_the_hierarchy_is_found() {
        let text = "12:cpu,cpuacct:/a\n4:memory:/system.slice/x:y.service\n0::/user.slice\n";
        assert_eq!(path_in(text, true), Some("/system.slice/x:y.service"));
        assert_eq!(path_in(text, false), Some("/user.slice"));
        assert_eq!(path_in("0::/gone (deleted)\n", false), Some("/gone"));
        assert_eq!(path_in("nonsense", false), None);
    }

    #[test]
    fn this_process_is_in_the_group_that_its_tree_shows() {
        let mounts = hotset_sys::proc::mountinfo::own().expect("mounts");
        let mut cgroups = Cgroups::new(hierarchy(&mounts, has_memory));
        cgroups.rescan();
        let own = cgroups.of_process(std::process::id()).expect("it runs").expect("a group");
        assert!(cgroups.paths.values().any(|path| *path == own), "{own}");
        assert_eq!(cgroups.of_process(u32::MAX), None);
    }

    #[test]
    fn who_exits_has_not_moved_to_the_root() {
        let mounts = hotset_sys::proc::mountinfo::own().expect("mounts");
        let mut cgroups = Cgroups::new(hierarchy(&mounts, has_memory));
        let own = cgroups.of_process(std::process::id()).expect("it runs").expect("a group");
        let mut child = std::process::Command::new("true").spawn().expect("true");
        let pid = child.id();
        let is_there =
            || hotset_sys::proc::stat::of(pid).expect("readable").expect("not waited for");
        while is_there().is_alive() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(is_there().is_exiting() && !is_seen_to_run(pid));
        let told = cgroups.of_process(pid).expect("not waited for");
        assert!(told.is_none_or(|path| path == own), "version 1 says / of it");
        child.wait().expect("reaped");
        assert_eq!(cgroups.of_process(pid), None);
        assert!(!is_seen_to_run(pid) && is_seen_to_run(std::process::id()));
    }

    #[test]
    fn who_can_not_be_seen_is_not_gone() {
        assert!(is_there(std::process::id()));
        assert!(is_there(1), "not ours, perhaps, but there");
        let mut child = std::process::Command::new("true").spawn().expect("true");
        let pid = child.id();
        assert!(is_there(pid), "not waited for");
        child.wait().expect("reaped");
        assert!(!is_there(pid));
        assert!(!is_there(0) && !is_there(u32::MAX));
    }
}
