//! Which processes have files open or mapped: the other way round than [`super::fds`] and [`super::maps`].

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;

use hotset_facts::{FileId, Holder, Pid};

use super::{fds, maps, numbers_among, stat};

/// Processes that are named for one file.
const MAX_HOLDERS: usize = 100;

/// How many processes use each file, by one look at all of them.
#[derive(Debug, Default)]
pub struct FileUsers {
    by_file: HashMap<FileId, u64>,
    /// Processes that this user may not look into.
    pub hidden_processes: u64,
}

impl FileUsers {
    /// Looks at all processes but this one.
    pub fn now() -> Self {
        let mut users = Self::default();
        let own = std::process::id();
        for pid in all_pids().into_iter().filter(|&pid| pid != own) {
            let (files, hidden) = files_of(pid);
            users.hidden_processes += u64::from(hidden);
            for id in files {
                *users.by_file.entry(id).or_default() += 1;
            }
        }
        users
    }

    /// How many processes use this file.
    pub fn count(&self, id: FileId) -> u64 {
        self.by_file.get(&id).copied().unwrap_or(0)
    }
}

/// The processes that hold each of `files`, in ascending order, this one among them. Those of other users are seen by root
/// only.
pub fn holders_of(files: &HashSet<FileId>) -> HashMap<FileId, Vec<Holder>> {
    let mut found: HashMap<FileId, Vec<Holder>> = HashMap::new();
    if files.is_empty() {
        return found;
    }
    for pid in all_pids() {
        let mut held = files_of(pid).0;
        held.retain(|id| files.contains(id));
        if held.is_empty() {
            continue;
        }
        let Some(stat) = stat::of(pid).ok().flatten() else { continue };
        for id in held {
            let holders = found.entry(id).or_default();
            if holders.len() < MAX_HOLDERS {
                holders.push(Holder { pid, name: stat.comm.clone() });
            }
        }
    }
    found
}

/// All processes of this PID namespace, in ascending order.
pub fn all_pids() -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten();
    pids_among(entries.map(|entry| Ok(entry?.file_name())))
}

/// What could be read of a directory: an entry that fails takes no other with it.
fn pids_among(names: impl Iterator<Item = io::Result<OsString>>) -> Vec<Pid> {
    numbers_among(names.flatten())
}

/// The files that a process has open or mapped, and whether it hides some; a process that is gone has none.
fn files_of(pid: Pid) -> (HashSet<FileId>, bool) {
    let (open, mapped) = (fds::of(pid), maps::of(pid));
    let hidden = open.is_err() || mapped.is_err();
    let open = open.ok().flatten().into_iter().flatten().map(|file| file.id);
    let mapped = mapped.ok().flatten().into_iter().flatten().map(|file| file.id);
    (open.chain(mapped).collect(), hidden)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;
    use crate::test_support::ScratchFile;

    fn id_of(fd: impl AsFd) -> FileId {
        crate::file_id(&rustix::fs::fstat(fd).expect("fstat"))
    }

    #[test]
    fn this_process_holds_what_it_has_open_and_its_own_program() {
        let scratch = ScratchFile::with(b"abc");
        std::fs::remove_file(&scratch.path).expect("remove");
        let open = id_of(&scratch.file);
        let program = id_of(std::fs::File::open("/proc/self/exe").expect("exe"));
        let unheld = FileId { ino: u64::MAX, ..open };
        let found = holders_of(&HashSet::from([open, program, unheld]));
        let own = std::process::id();
        for id in [open, program] {
            assert!(found[&id].iter().any(|holder| holder.pid == own && !holder.name.is_empty()));
        }
        assert!(!found.contains_key(&unheld));
    }

    #[test]
    fn an_entry_that_fails_hides_no_other_process() {
        let names = [Ok("12"), Err(io::ErrorKind::Other), Ok("self"), Ok("3")];
        let names = names.into_iter().map(|name| Ok(OsString::from(name?)));
        assert_eq!(pids_among(names), [3, 12]);
        assert!(all_pids().contains(&std::process::id()));
    }

    #[test]
    fn others_that_use_a_file_are_counted_once_each_and_this_process_never() {
        let scratch = ScratchFile::with(b"abc");
        let id = id_of(&scratch.file);
        assert_eq!(FileUsers::now().count(id), 0, "only this process has it open");
        let input = || std::fs::File::open(&scratch.path).expect("open");
        // Open under two numbers, which is one use.
        let mut sleepers: Vec<_> = (0..2)
            .map(|_| {
                let mut sleep = std::process::Command::new("sleep");
                sleep.arg("60").stdin(input()).stderr(input()).spawn().expect("sleep")
            })
            .collect();
        let users = FileUsers::now().count(id);
        for sleeper in &mut sleepers {
            sleeper.kill().and_then(|()| sleeper.wait()).expect("ended");
        }
        assert_eq!(users, 2);
    }
}
