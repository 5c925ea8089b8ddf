//! What the ring told: names, processes, failed paths. Bounded; what does not fit is counted.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;

use hotset_facts::{Dev, ExitStatus, FailedLookup, Pid};
use hotset_sys::proc::mountinfo::Mount;

use crate::event::{Event, NamedFile, decode};
use crate::names::Names;
use crate::record::FileKey;

/// Distinct failed paths kept; beyond, they are counted without a name.
const MAX_FAILED_PATHS: usize = 65_536;
/// Distinct files whose names are kept: twice the rows, for files that several processes share take one.
const MAX_NAMED_FILES: usize = 262_144;

/// Subvolumes of btrfs that are remembered.
const MAX_SUBVOLUMES: usize = 65_536;
/// Processes that are kept apart, as many as the sensor's own table holds.
const MAX_PROCESSES: usize = 32_768;

/// A process as its events tell it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Life {
    pub(crate) order: usize,
    pub(crate) pid: Pid,
    pub(crate) ppid: Pid,
    pub(crate) comm: String,
    pub(crate) argv: Vec<OsString>,
    pub(crate) exit: Option<ExitStatus>,
}

/// Everything from the ring.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    pub(crate) names: Names,
    pub(crate) files: HashMap<FileKey, NamedFile>,
    /// By owner, for a number may be used again.
    pub(crate) processes: HashMap<u32, Life>,
    /// Subvolumes of btrfs, each with the device by which its file system is mounted.
    subvolumes: HashMap<Dev, Dev>,
    failed: HashMap<(u64, Box<[u8]>), u64>,
    /// Records that could not be decoded or kept.
    pub(crate) lost: u64,
    /// Programs that were started since they were asked for last, where somebody asks.
    pub(crate) programs: Option<Vec<Program>>,
}

/// What a process runs from some time on: what its parent ran when it was made, or what it started.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) owner: u32,
    /// By the monotonic clock.
    pub(crate) time_ns: u64,
    /// Of a new process.
    pub(crate) ppid: Option<Pid>,
    pub(crate) comm: String,
    pub(crate) argv: Vec<OsString>,
}

impl Collector {
    /// Processes that were seen to begin, and not to end; not this one.
    pub(crate) fn live_processes(&self) -> impl Iterator<Item = Pid> {
        let own = std::process::id();
        let live = self.processes.values().filter(|life| life.exit.is_none());
        live.map(|life| life.pid).filter(move |&pid| pid != own && pid != 0)
    }

    /// Takes one ring record.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        match decode(bytes) {
            Ok(event) => self.apply(event),
            Err(_) => self.lost += 1,
        }
    }

    fn apply(&mut self, event: Event) {
        if let Event::Fork { owner, .. } | Event::Exec { owner, .. } | Event::Exit { owner, .. } =
            &event
            && (*owner == 0 || self.processes.len() >= MAX_PROCESSES)
            && !self.processes.contains_key(owner)
        {
            self.lost += 1;
            return;
        }
        match event {
            Event::Node { id, parent, dev, name } => {
                if !self.names.add(id, parent, dev, name) {
                    self.lost += 1;
                }
            }
            Event::File { key, file } => self.file(key, file),
            Event::Failed { base, path, tgid: _ } => self.failed(base, path),
            Event::Fork { owner, pid, ppid, comm, time_ns } => {
                if let Some(programs) = &mut self.programs {
                    let (comm, argv) = (comm.clone(), Vec::new());
                    programs.push(Program { owner, time_ns, ppid: Some(ppid), comm, argv });
                }
                let life = self.life(owner, pid);
                life.ppid = ppid;
                life.comm = comm;
            }
            Event::Exec { owner, pid, comm, argv, time_ns } => {
                if let Some(programs) = &mut self.programs {
                    let (comm, argv) = (comm.clone(), argv.clone());
                    programs.push(Program { owner, time_ns, ppid: None, comm, argv });
                }
                let life = self.life(owner, pid);
                life.comm = comm;
                life.argv = argv;
            }
            Event::Exit { owner, pid, comm, wait_status } => {
                let life = self.life(owner, pid);
                life.comm = comm;
                life.exit = Some(ExitStatus::from_wait_status(wait_status));
            }
        }
    }

    /// The entry of a process, made at first mention.
    fn life(&mut self, owner: u32, pid: Pid) -> &mut Life {
        let order = self.processes.len();
        self.processes.entry(owner).or_insert_with(|| Life { order, pid, ..Life::default() })
    }

    fn file(&mut self, key: FileKey, file: NamedFile) {
        if file.mounted != key.dev && self.subvolumes.len() < MAX_SUBVOLUMES {
            self.subvolumes.insert(Dev::from_kernel(key.dev), Dev::from_kernel(file.mounted));
        }
        if let Some(known) = self.files.get_mut(&key) {
            // A file first met in a fault has a bare inode's name; one that comes through a descriptor knows the mount.
            if file.used && !known.used {
                known.used = true;
                known.parent = file.parent;
                known.name = file.name;
                // It was a name in the making.
                known.deleted = file.deleted;
            }
            known.size_bytes = known.size_bytes.max(file.size_bytes);
            known.deleted |= file.deleted;
        } else if self.files.len() >= MAX_NAMED_FILES {
            self.lost += 1;
        } else {
            self.files.insert(key, file);
        }
    }

    fn failed(&mut self, base: u64, path: Vec<u8>) {
        let full = self.failed.len() >= MAX_FAILED_PATHS;
        match self.failed.entry((base, path.into_boxed_slice())) {
            std::collections::hash_map::Entry::Occupied(mut entry) => *entry.get_mut() += 1,
            std::collections::hash_map::Entry::Vacant(entry) if !full => {
                entry.insert(1);
            }
            std::collections::hash_map::Entry::Vacant(_) => {}
        }
    }

    /// Subvolumes of btrfs, each with the device by which its file system is mounted.
    pub(crate) fn subvolumes(&self) -> Vec<(Dev, Dev)> {
        self.subvolumes.iter().map(|(own, mounted)| (*own, *mounted)).collect()
    }

    /// The path of a file that was named.
    pub(crate) fn path(&self, key: &FileKey, mounts: &[Mount]) -> Option<PathBuf> {
        let named = self.files.get(key)?;
        self.names.path(named.parent, &named.name, mounts)
    }

    /// Failed paths, most asked for first, and how many calls they explain.
    pub(crate) fn failed_paths(&self, mounts: &[Mount]) -> Vec<FailedLookup> {
        use std::os::unix::ffi::OsStrExt;
        let mut merged: HashMap<PathBuf, u64> = HashMap::with_capacity(self.failed.len());
        for ((base, path), calls) in &self.failed {
            let given = PathBuf::from(std::ffi::OsStr::from_bytes(path));
            let full = match self.names.directory(*base, mounts) {
                Some(directory) if *base != 0 => directory.join(given),
                _ => given,
            };
            *merged.entry(full).or_default() += calls;
        }
        let mut paths: Vec<_> =
            merged.into_iter().map(|(path, calls)| FailedLookup { path, calls }).collect();
        paths.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.path.cmp(&b.path)));
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_path_through_two_bases_is_one() {
        let mut collector = Collector::default();
        collector.names.add(1, 0, 0, Vec::new());
        collector.names.add(2, 1, 0, b"etc".to_vec());
        collector.apply(Event::Failed { tgid: 1, base: 2, path: b"x".to_vec() });
        collector.apply(Event::Failed { tgid: 1, base: 0, path: b"/etc/x".to_vec() });
        collector.apply(Event::Failed { tgid: 1, base: 0, path: b"/y".to_vec() });
        let failed = collector.failed_paths(&[]);
        assert_eq!(failed[0], FailedLookup { path: "/etc/x".into(), calls: 2 });
        assert_eq!(failed.len(), 2);
    }

    #[test]
    fn processes_keep_their_order_and_last_program() {
        let mut collector = Collector::default();
        let fork =
            |owner, pid, ppid| Event::Fork { owner, pid, ppid, comm: "sh".into(), time_ns: 0 };
        let exec = |owner, comm: &str| Event::Exec {
            owner,
            pid: 21,
            comm: comm.into(),
            argv: vec![comm.into()],
            time_ns: 0,
        };
        collector.apply(fork(1, 20, 10));
        collector.apply(fork(2, 21, 20));
        collector.apply(exec(2, "cat"));
        collector.apply(Event::Exit { owner: 2, pid: 21, comm: "cat".into(), wait_status: 256 });
        assert_eq!(collector.processes[&2].order, 1);
        assert_eq!(collector.processes[&2].exit, Some(ExitStatus::Code(1)));
        assert_eq!(collector.processes[&1].exit, None);
        // PID reuse: another process.
        collector.apply(fork(3, 21, 20));
        collector.apply(exec(3, "dd"));
        assert_eq!(
            (collector.processes[&2].comm.as_str(), collector.processes[&2].pid),
            ("cat", 21)
        );
        assert_eq!(
            (collector.processes[&3].comm.as_str(), collector.processes[&3].pid),
            ("dd", 21)
        );
        assert_eq!(collector.processes[&3].exit, None);
    }
}
