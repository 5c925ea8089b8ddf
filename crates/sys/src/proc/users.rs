//! How many processes have each file open or mapped.

use std::collections::{HashMap, HashSet};

use hotset_facts::{FileId, Pid};
use hotset_sys::proc::{fds, maps};

/// Processes a file, by one look at all of them.
#[derive(Debug, Default)]
pub(super) struct Users {
    by_file: HashMap<FileId, u64>,
    /// Processes that may not be looked into.
    pub(super) hidden: u64,
}

impl Users {
    /// Looks at all processes but this one.
    pub(super) fn now() -> Self {
        let mut users = Self::default();
        let own = std::process::id();
        let Ok(entries) = std::fs::read_dir("/proc") else { return users };
        let pids =
            entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<Pid>().ok());
        for pid in pids.filter(|pid| *pid != own) {
            users.add(pid);
        }
        users
    }

    /// How many processes use this file.
    pub(super) fn of(&self, id: FileId) -> u64 {
        self.by_file.get(&id).copied().unwrap_or(0)
    }

    fn add(&mut self, pid: Pid) {
        let (open, mapped) = (fds::of(pid), maps::of(pid));
        self.hidden += u64::from(open.is_err() || mapped.is_err());
        let mut files: HashSet<FileId> = HashSet::new();
        files.extend(open.ok().flatten().into_iter().flatten().map(|file| file.id));
        files.extend(mapped.ok().flatten().into_iter().flatten().map(|file| file.id));
        for id in files {
            *self.by_file.entry(id).or_default() += 1;
        }
    }
}
