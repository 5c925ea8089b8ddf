//! Threads and processes, from their first line to their last.

use std::collections::HashMap;

use hotset_facts::trace::{ProcessIndex, TraceProcess};

use crate::import::batch::BatchBuilder;

use super::maps::Maps;
use super::open_files::OpenFiles;

/// A call whose second half has not come yet.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub(super) name: String,
    pub(super) args: Vec<u8>,
    pub(super) time_ns: u64,
}

/// A thread.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) process: u64,
    pub(super) table: u64,
    pub(super) pending: Option<Pending>,
}

/// A process.
#[derive(Debug, Clone, Default)]
pub(super) struct Process {
    /// None where strace wrote no IDs.
    pub(super) pid: Option<u32>,
    pub(super) ppid: Option<u32>,
    /// Its entry in the list of the trace, once a record needed one.
    pub(super) index: Option<ProcessIndex>,
    pub(super) comm: String,
    /// Its working directory, once something told it.
    pub(super) directory: Option<Vec<u8>>,
    pub(super) maps: Maps,
    threads: u32,
}

/// Everyone that lives. A thread without an ID is that of lines without one.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    tasks: HashMap<Option<u32>, Task>,
    processes: HashMap<u64, Process>,
    last_process: u64,
    /// Threads appeared that no clone(2) in the trace made, beside others: strace was attached to
    /// them, or did not show such calls. Which of them share descriptors is not known.
    pub(super) has_strangers: bool,
}

/// What a new thread shares with the one that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shares {
    /// The table of descriptors (CLONE_FILES).
    pub(super) files: bool,
    /// All else: it is a thread of the same process (CLONE_THREAD).
    pub(super) process: bool,
}

impl Tasks {
    pub(super) fn task_mut(&mut self, tid: Option<u32>) -> Option<&mut Task> {
        self.tasks.get_mut(&tid)
    }

    pub(super) fn task(&self, tid: Option<u32>) -> Option<&Task> {
        self.tasks.get(&tid)
    }

    pub(super) fn process(&self, tid: Option<u32>) -> Option<&Process> {
        self.processes.get(&self.tasks.get(&tid)?.process)
    }

    pub(super) fn process_mut(&mut self, tid: Option<u32>) -> Option<&mut Process> {
        self.processes.get_mut(&self.tasks.get(&tid)?.process)
    }

    /// Sees to it that a thread is known. Where its clone(2) has not returned, it is the child of a
    /// thread that is in one; where the first lines had no ID, as on a terminal until there is a
    /// second process, theirs may be this.
    pub(super) fn meet(&mut self, tid: Option<u32>, resumes: bool, open: &mut OpenFiles) {
        if self.tasks.contains_key(&tid) {
            return;
        }
        let nameless_waits = self.tasks.get(&None).map(|task| task.pending.is_some());
        if let Some(parent) = self.in_clone()
            && !resumes
        {
            let shares = self.shares_of_pending(parent);
            self.fork(parent, tid, shares, open);
        } else if tid.is_some() && nameless_waits.is_some_and(|waits| waits || !resumes) {
            self.name_the_nameless(tid);
        } else {
            self.has_strangers |= !self.tasks.is_empty();
            let process = self.add_process(Process { pid: tid, ..Process::default() });
            self.tasks.insert(tid, Task { process, table: open.new_table(), pending: None });
        }
    }

    /// A thread that is in fork(2) or clone(2): the one that entered it last.
    fn in_clone(&self) -> Option<Option<u32>> {
        let is_clone = |pending: &Pending| {
            matches!(pending.name.as_str(), "clone" | "clone3" | "fork" | "vfork")
        };
        let entered = self.tasks.iter().filter_map(|(tid, task)| {
            let pending = task.pending.as_ref().filter(|pending| is_clone(pending))?;
            Some((pending.time_ns, *tid))
        });
        entered.max().map(|(_, tid)| tid)
    }

    fn shares_of_pending(&self, parent: Option<u32>) -> Shares {
        let pending = self.tasks.get(&parent).and_then(|task| task.pending.as_ref());
        shares(pending.map(|pending| pending.args.as_slice()).unwrap_or_default())
    }

    fn name_the_nameless(&mut self, tid: Option<u32>) {
        let Some(task) = self.tasks.remove(&None) else { return };
        if let Some(process) = self.processes.get_mut(&task.process) {
            process.pid = tid;
        }
        self.tasks.insert(tid, task);
    }

    fn add_process(&mut self, process: Process) -> u64 {
        self.last_process += 1;
        self.processes.insert(self.last_process, Process { threads: 1, ..process });
        self.last_process
    }

    /// A thread or process is made. One that has had lines before its clone(2) returned is known
    /// already.
    pub(super) fn fork(
        &mut self,
        parent: Option<u32>,
        child: Option<u32>,
        shares: Shares,
        open: &mut OpenFiles,
    ) {
        if self.tasks.contains_key(&child) {
            return;
        }
        let Some(task) = self.tasks.get(&parent).cloned() else { return };
        let table = match shares.files {
            true => open.share(task.table),
            false => open.copy(task.table),
        };
        let process = match self.processes.get_mut(&task.process) {
            Some(process) if shares.process => {
                process.threads += 1;
                task.process
            }
            Some(process) => {
                let (pid, ppid) = (child, process.pid);
                let new = Process { pid, ppid, index: None, ..process.clone() };
                self.add_process(new)
            }
            None => return,
        };
        self.tasks.insert(child, Task { process, table, pending: None });
    }

    /// A thread ended.
    pub(super) fn end(&mut self, tid: Option<u32>, open: &mut OpenFiles) {
        let Some(task) = self.tasks.remove(&tid) else { return };
        open.leave(task.table);
        let Some(process) = self.processes.get_mut(&task.process) else { return };
        process.threads = process.threads.saturating_sub(1);
        if process.threads == 0 {
            self.processes.remove(&task.process);
        }
    }

    /// execve(2) by another thread than the first: it goes on under the process's ID.
    pub(super) fn supersede(&mut self, by: Option<u32>, tid: Option<u32>, open: &mut OpenFiles) {
        self.end(tid, open);
        if by.is_some()
            && let Some(task) = self.tasks.remove(&by)
        {
            self.tasks.insert(tid, task);
        }
    }

    /// The thread that is left, if it is one.
    pub(super) fn only(&self) -> Option<Option<u32>> {
        let mut all = self.tasks.keys();
        all.next().filter(|_| all.next().is_none()).copied()
    }

    /// Every thread's ID.
    pub(super) fn all(&self) -> Vec<Option<u32>> {
        let mut all: Vec<_> = self.tasks.keys().copied().collect();
        all.sort_unstable();
        all
    }

    /// The entry of a thread's process in the trace's list. None where strace wrote no IDs.
    pub(super) fn index(
        &mut self,
        tid: Option<u32>,
        out: &mut BatchBuilder,
    ) -> Option<ProcessIndex> {
        let process = self.process_mut(tid)?;
        let pid = process.pid?;
        if process.index.is_none() {
            let (ppid, comm) = (process.ppid, process.comm.clone());
            let entry = TraceProcess { pid, ppid, comm, argv: Vec::new() };
            process.index = Some(out.add_process(entry));
        }
        process.index
    }
}

/// What the arguments of clone(2) or clone3(2) share. fork(2) has none, and shares nothing.
pub(super) fn shares(args: &[u8]) -> Shares {
    let has = |flag: &[u8]| memchr::memmem::find(args, flag).is_some();
    Shares { files: has(b"CLONE_FILES"), process: has(b"CLONE_THREAD") }
}
