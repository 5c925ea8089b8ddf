//! A control group for a test.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::time::Duration;

use crate::Scratch;

/// A control group of version 2 with one below it; removed at the end, when its processes are gone.
pub struct Group(PathBuf);

impl Group {
    /// Named after the scratch directory.
    pub fn new(scratch: &Scratch) -> Self {
        let mounts = std::fs::read_to_string("/proc/mounts").expect("mounts");
        let name = scratch.dir().file_name().expect("a name");
        let group = v2_mount(&mounts).join(name);
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

fn v2_mount(mounts: &str) -> PathBuf {
    let mount = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2"));
    mount.and_then(|line| line.split(' ').nth(1)).expect("a cgroup2 mount").into()
}

/// A control group with a memory limit, of whichever version accounts memory on this host; removed at the end.
pub struct LimitedGroup {
    dir: PathBuf,
    is_v2: bool,
}

impl LimitedGroup {
    /// Named after the scratch directory, at the top of its hierarchy.
    pub fn new(scratch: &Scratch, limit_bytes: u64) -> Self {
        let (mount, is_v2) = memory_hierarchy();
        let name = scratch.dir().file_name().expect("a name");
        let group = Self { dir: mount.join(name), is_v2 };
        if is_v2 {
            std::fs::write(mount.join("cgroup.subtree_control"), "+memory").expect("controller");
        }
        std::fs::create_dir(&group.dir).expect("mkdir; this test needs root");
        group.set_limit(limit_bytes);
        group
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Moves its limit.
    pub fn set_limit(&self, limit_bytes: u64) {
        let file = if self.is_v2 { "memory.max" } else { "memory.limit_in_bytes" };
        self.write(file, limit_bytes);
    }

    fn write(&self, file: &str, number: u64) {
        let path = self.dir.join(file);
        std::fs::write(&path, number.to_string())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Where its hierarchy is mounted.
    pub fn mount(&self) -> &Path {
        self.dir.parent().expect("a group at the top")
    }

    /// Runs a command that is in the group from its first instant on.
    pub fn output(&self, command: &mut Command) -> Output {
        self.joined(command).output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
    }

    /// Starts such a command.
    pub fn spawn(&self, command: &mut Command) -> Child {
        self.joined(command).spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"))
    }

    fn joined<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        use std::io::Write as _;
        use std::os::unix::process::CommandExt;
        let procs = std::fs::OpenOptions::new().write(true).open(self.dir.join("cgroup.procs"));
        let mut procs = procs.expect("cgroup.procs");
        // SAFETY: write(2) is async-signal-safe; 0 is the process that writes.
        unsafe { command.pre_exec(move || procs.write_all(b"0")) }
    }

    /// How often something was evicted, or a process killed, because the limit was reached.
    pub fn reached(&self) -> u64 {
        let read = |file: &str| std::fs::read_to_string(self.dir.join(file)).expect("a number");
        if !self.is_v2 {
            return read("memory.failcnt").trim().parse().expect("a number");
        }
        let events = read("memory.events");
        let max = events.lines().find_map(|line| line.strip_prefix("max "));
        max.expect("max").parse().expect("a number")
    }

    /// The most that was charged to it at a time, in bytes.
    pub fn peak_bytes(&self) -> u64 {
        let file = if self.is_v2 { "memory.peak" } else { "memory.max_usage_in_bytes" };
        let text = std::fs::read_to_string(self.dir.join(file)).expect("its peak, Linux 5.19");
        text.trim().parse().expect("a number")
    }
}

impl Drop for LimitedGroup {
    fn drop(&mut self) {
        // What ran in it may still be on its way out; a failing test should report its own failure and not this one.
        let gone = || std::fs::remove_dir(&self.dir).is_ok();
        let _ = (0..100).any(|_| {
            gone() || {
                std::thread::sleep(Duration::from_millis(10));
                false
            }
        });
    }
}

/// A control group of the same name in the hierarchy of version 2 and, where another accounts memory, in that one: what a service has on
/// any host. Removed at the end.
pub struct NamedGroup {
    name: String,
    places: Vec<PathBuf>,
}

impl NamedGroup {
    /// At the top of its hierarchies.
    pub fn new(name: &str) -> Self {
        let mounts = std::fs::read_to_string("/proc/mounts").expect("mounts");
        let (accounts, is_v2) = memory_hierarchy();
        let mut tops = vec![v2_mount(&mounts)];
        if is_v2 {
            std::fs::write(accounts.join("cgroup.subtree_control"), "+memory").expect("controller");
        } else {
            tops.push(accounts);
        }
        let places: Vec<PathBuf> = tops.iter().map(|top| top.join(name)).collect();
        places
            .iter()
            .for_each(|dir| std::fs::create_dir(dir).expect("mkdir; this test needs root"));
        Self { name: name.to_owned(), places }
    }

    /// Its path, as /proc/PID/cgroup has it.
    pub fn path(&self) -> String {
        format!("/{}", self.name)
    }

    /// The words by which a shell goes into it.
    pub fn joins(&self) -> String {
        let join = |dir: &PathBuf| format!("echo $$ > {}/cgroup.procs; ", dir.display());
        self.places.iter().map(join).collect()
    }

    /// Limits its memory.
    pub fn limit(&self, bytes: u64) {
        let files = self
            .places
            .iter()
            .rev()
            .flat_map(|dir| ["memory.limit_in_bytes", "memory.max"].map(|name| dir.join(name)));
        let file = files.into_iter().find(|file| file.exists()).expect("a limit");
        std::fs::write(file, bytes.to_string()).expect("the limit");
    }

    /// Runs a script of the shell in it; it must succeed.
    pub fn run(&self, script: &str) {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("{}{script}", self.joins()));
        let status = shell.stdout(std::process::Stdio::null()).status();
        assert!(status.expect("sh").success(), "{script}");
    }

    /// Removes it as soon as its processes are gone.
    pub fn remove(&self) {
        for dir in &self.places {
            crate::until("an empty group", || std::fs::remove_dir(dir).ok());
        }
    }
}

impl Drop for NamedGroup {
    fn drop(&mut self) {
        // A failing test should report its own failure and not this one.
        for dir in &self.places {
            let _ = (0..100).any(|_| {
                let gone = std::fs::remove_dir(dir).is_ok() || !dir.exists();
                if !gone {
                    std::thread::sleep(Duration::from_millis(10));
                }
                gone
            });
        }
    }
}

/// Where the hierarchy that accounts memory is mounted, and whether it is version 2.
fn memory_hierarchy() -> (PathBuf, bool) {
    let mounts = std::fs::read_to_string("/proc/mounts").expect("mounts");
    let v1 = mounts.lines().find_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let accounts = words[2] == "cgroup" && words[3].split(',').any(|word| word == "memory");
        accounts.then(|| PathBuf::from(words[1]))
    });
    match v1 {
        Some(mount) => (mount, false),
        None => (v2_mount(&mounts), true),
    }
}
