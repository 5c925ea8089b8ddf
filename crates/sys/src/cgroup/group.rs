//! The control group that a user names: one rule for every command.

use std::io;
use std::path::{Path, PathBuf};

use hotset_facts::Pid;
use rustix::io::Errno;

use super::Hierarchies;
use crate::proc::ProcError;

/// The file that lists a group's processes, in both versions.
const MEMBERS: &str = "cgroup.procs";
/// The file system of version 2 (include/uapi/linux/magic.h).
const CGROUP2_SUPER_MAGIC: u64 = 0x6367_7270;

/// A control group that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    dir: PathBuf,
    is_v2: bool,
}

/// What was named can't be used as a control group.
#[derive(Debug, thiserror::Error)]
pub enum GroupError {
    /// There is no such group.
    #[error(
        "{} is not a control group; expected a directory with the file {MEMBERS}, or a path below the root of a hierarchy \
         such as /system.slice",
        .0.display()
    )]
    Unknown(PathBuf),
    /// It can't be read.
    #[error(transparent)]
    Read(#[from] ProcError),
}

impl Group {
    /// Finds a group by its directory in any hierarchy, or by its path inside one, as /proc/PID/cgroup has it
    /// (`/system.slice/x.service`). Of several hierarchies with that path, version 2 comes first, then the one that accounts
    /// memory.
    ///
    /// # Errors
    /// Where there is no such group, or the directory may not be searched.
    pub fn find(name: &Path) -> Result<Self, GroupError> {
        if is_group(name)? {
            let is_v2 = is_v2(name).map_err(|error| unreadable(name, error))?;
            return Ok(Self { dir: name.to_owned(), is_v2 });
        }
        let path = Path::new("/").join(name);
        let found = Hierarchies::now().find(&path, |dir| is_group(dir).unwrap_or(false));
        found.map(|(dir, is_v2)| Self { dir, is_v2 }).ok_or(GroupError::Unknown(name.to_owned()))
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether it is of version 2, which the kernel can match a process against.
    pub fn is_v2(&self) -> bool {
        self.is_v2
    }

    /// The processes of the group and of those below it, in ascending order. Those outside of this PID namespace have no
    /// number here and are left out.
    ///
    /// # Errors
    /// Where the group can't be read, or is gone. Groups below it that vanish meanwhile are none.
    pub fn processes(&self) -> Result<Vec<Pid>, ProcError> {
        let mut pids = read_members(&self.dir)?;
        let mut dirs = vec![self.dir.clone()];
        while let Some(dir) = dirs.pop() {
            for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    // It vanished, or is a group of threads, whose processes were listed further up.
                    pids.extend(read_members(&entry.path()).unwrap_or_default());
                    dirs.push(entry.path());
                }
            }
        }
        pids.sort_unstable();
        pids.dedup();
        Ok(pids)
    }
}

/// The processes of the group that `name` stands for, as [`Group::find`] has it, and of those below it.
///
/// # Errors
/// Where there is no such group, or it can't be read.
pub fn processes(name: &Path) -> Result<Vec<Pid>, GroupError> {
    Ok(Group::find(name)?.processes()?)
}

fn unreadable(path: &Path, error: io::Error) -> GroupError {
    GroupError::Read(ProcError::Read { path: path.to_owned(), error })
}

fn is_group(dir: &Path) -> Result<bool, GroupError> {
    let list = dir.join(MEMBERS);
    match std::fs::metadata(&list) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(unreadable(&list, error))
        }
        Err(_) => Ok(false),
    }
}

fn is_v2(dir: &Path) -> io::Result<bool> {
    let kind = rustix::fs::statfs(dir)?.f_type;
    Ok(u64::try_from(kind).is_ok_and(|magic| magic == CGROUP2_SUPER_MAGIC))
}

fn read_members(dir: &Path) -> Result<Vec<Pid>, ProcError> {
    let path = dir.join(MEMBERS);
    let text = match std::fs::read_to_string(&path) {
        // A group of threads can only list those.
        Err(error) if Errno::from_io_error(&error) == Some(Errno::OPNOTSUPP) => {
            std::fs::read_to_string(dir.join("cgroup.threads"))
        }
        text => text,
    };
    match text {
        Ok(text) => {
            Ok(text.lines().filter_map(|pid| pid.parse().ok()).filter(|&pid| pid != 0).collect())
        }
        Err(error) => Err(ProcError::Read { path, error }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proc::mountinfo::{self, Mount};

    /// A group with one below it, both removed at the end.
    struct Made {
        dir: PathBuf,
        path: PathBuf,
    }

    impl Made {
        fn new(mount: &Mount, name: &str) -> Self {
            let path = Path::new("/").join(format!("hotset-{name}-{}", std::process::id()));
            let dir = mount.mount_point.join(path.strip_prefix("/").expect("a path"));
            std::fs::create_dir_all(dir.join("below")).expect("groups");
            Self { dir, path }
        }
    }

    impl Drop for Made {
        fn drop(&mut self) {
            for dir in [self.dir.join("below"), self.dir.clone()] {
                let _ = std::fs::remove_dir(dir);
            }
        }
    }

    fn mounted(version: &str) -> Option<Mount> {
        let mounts = mountinfo::own().expect("mounts");
        mounts.into_iter().find(|mount| mount.fs_type == version)
    }

    /// The words that a user may have for a group.
    fn named(made: &Made) -> [PathBuf; 3] {
        let without_slash = made.path.strip_prefix("/").expect("a path").to_owned();
        [made.dir.clone(), made.path.clone(), without_slash]
    }

    #[test]
    fn a_group_is_known_by_its_directory_and_by_its_path_in_both_versions() {
        let versions = ["cgroup", "cgroup2"].map(mounted);
        assert!(versions.iter().any(Option::is_some), "a hierarchy is mounted");
        for mount in versions.into_iter().flatten() {
            let made = Made::new(&mount, "named");
            let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("spawn");
            let list = made.dir.join("below").join(MEMBERS);
            std::fs::write(list, child.id().to_string()).expect("move");
            let found =
                named(&made).map(|name| Group::find(&name).map(|group| (group.processes(), group)));
            child.kill().expect("kill");
            child.wait().expect("wait");
            for found in found {
                let (pids, group) = found.expect("the group");
                assert_eq!(pids.expect("processes"), [child.id()], "{group:?}");
                assert_eq!(
                    group,
                    Group { dir: made.dir.clone(), is_v2: mount.fs_type == "cgroup2" }
                );
            }
        }
    }

    #[test]
    fn a_group_of_threads_belongs_to_its_process() {
        let Some(mount) = mounted("cgroup2") else { return };
        let made = Made::new(&mount, "threads");
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("spawn");
        let moved = std::fs::write(made.dir.join(MEMBERS), child.id().to_string());
        let threaded = std::fs::write(made.dir.join("below/cgroup.type"), "threaded");
        let thread = std::fs::write(made.dir.join("below/cgroup.threads"), child.id().to_string());
        let whole = Group::find(&made.path).map(|group| group.processes());
        let below = Group::find(&made.path.join("below")).map(|group| group.processes());
        child.kill().expect("kill");
        child.wait().expect("wait");
        moved.and(threaded).and(thread).expect("a group of threads");
        assert_eq!(whole.expect("the group").expect("processes"), [child.id()]);
        assert_eq!(below.expect("the group of threads").expect("processes"), [child.id()]);
    }

    #[test]
    fn what_is_no_group_is_named_with_what_would_be_one() {
        for name in ["/no/such/group", "no-such-group", "/etc"] {
            let error = Group::find(Path::new(name)).expect_err(name).to_string();
            assert!(error.contains(name) && error.contains(MEMBERS), "{error}");
        }
    }
}
