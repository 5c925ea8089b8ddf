//! The processes of a traced command, each from its birth to its end.

use std::collections::HashMap;
use std::ffi::OsString;

use hotset_facts::{ExitStatus, Pid};

use crate::proc::status::process_of;
use crate::proc::{cmdline, stat};

/// Bytes of a process's words that are kept, as many as the sensor keeps.
const ARGV_MAX: usize = 1023;

/// A process of a traced command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TracedProcess {
    /// Its PID.
    pub pid: Pid,
    /// The PID of the process that made it.
    pub ppid: Pid,
    /// The kernel's short name for it.
    pub comm: String,
    /// Its words after the last exec, at most 1,023 bytes of them.
    pub argv: Vec<OsString>,
    /// How it ended; nothing where it still runs.
    pub exit: Option<ExitStatus>,
    /// Minor and major faults of its own; not known of one that still runs, nor of one that was killed.
    pub faults: Option<(u64, u64)>,
    /// Calls that looked a path up.
    pub lookups: u64,
    /// Those among them that ended in ENOENT or ENOTDIR.
    pub failed_lookups: u64,
}

/// All of them, in the order in which they began. A PID can be that of several.
#[derive(Debug, Default)]
pub(super) struct Processes {
    pub(super) list: Vec<TracedProcess>,
    /// Those that run, by PID: their places in the list.
    places: HashMap<Pid, usize>,
    /// Minor and major faults of the first one while it was still a copy of this program.
    as_copy: (u64, u64),
}

impl Processes {
    /// The place of the process that a task is of.
    pub(super) fn of(&mut self, task: libc::pid_t) -> usize {
        let task = task.unsigned_abs();
        let pid = process_of(task).unwrap_or(task);
        self.place(pid, None)
    }

    /// A task that a process has made: a process, whose place this is, or one of its own threads.
    pub(super) fn born(&mut self, task: libc::pid_t, maker: usize) -> usize {
        let task = task.unsigned_abs();
        let made_by = self.list[maker].pid;
        match process_of(task) {
            Some(pid) if pid == made_by => maker,
            Some(pid) => self.place(pid, Some(made_by)),
            None => self.place(task, Some(made_by)),
        }
    }

    /// Who made a task that has a place already, if it is a process.
    pub(super) fn adopted(&mut self, place: usize, task: libc::pid_t, maker: usize) {
        let made_by = self.list[maker].pid;
        if self.list[place].pid == task.unsigned_abs() {
            self.list[place].ppid = made_by;
        }
    }

    /// The place of a process that runs, made where it has none.
    pub(super) fn place(&mut self, pid: Pid, made_by: Option<Pid>) -> usize {
        if let Some(&place) = self.places.get(&pid) {
            return place;
        }
        let stat = stat::of(pid).ok().flatten();
        let ppid = made_by.or(stat.as_ref().map(|stat| stat.ppid)).unwrap_or(0);
        let comm = stat.map(|stat| stat.comm).unwrap_or_default();
        self.list.push(TracedProcess { pid, ppid, comm, ..TracedProcess::default() });
        self.places.insert(pid, self.list.len() - 1);
        self.list.len() - 1
    }

    /// The first process is about to execute the command.
    pub(super) fn leaves_copy(&mut self) {
        let first = self.list.first().and_then(|first| stat::of(first.pid).ok().flatten());
        self.as_copy = first.map_or((0, 0), |stat| (stat.minor_faults, stat.major_faults));
    }

    /// A process has begun to execute a program.
    pub(super) fn executed(&mut self, place: usize) {
        let process = &mut self.list[place];
        if let Some(stat) = stat::of(process.pid).ok().flatten() {
            process.comm = stat.comm;
        }
        process.argv = cmdline::of(process.pid).ok().flatten().map(cut).unwrap_or_default();
    }

    /// One of its tasks is about to end; the last one tells what they all did.
    pub(super) fn ending(&mut self, place: usize) {
        let process = &mut self.list[place];
        if let Some(stat) = stat::of(process.pid).ok().flatten() {
            process.comm = stat.comm;
            let (minor, major) = if place == 0 { self.as_copy } else { (0, 0) };
            process.faults = Some((
                stat.minor_faults.saturating_sub(minor),
                stat.major_faults.saturating_sub(major),
            ));
        }
    }

    /// A task has ended, and its process with it if it was the first one: the kernel tells of that when no other is left.
    pub(super) fn ended(&mut self, task: libc::pid_t, exit: ExitStatus) {
        if let Some(place) = self.places.remove(&task.unsigned_abs()) {
            self.list[place].exit = Some(exit);
        }
    }

    /// What is known until now. Of a process that still runs, faults are not: more may come.
    pub(super) fn take(&mut self) -> Vec<TracedProcess> {
        for &place in self.places.values() {
            self.list[place].faults = None;
        }
        std::mem::take(&mut self.list)
    }
}

fn cut(words: Vec<OsString>) -> Vec<OsString> {
    let mut left = ARGV_MAX;
    let fits = |word: &OsString| {
        let fits = word.len() <= left;
        left = left.saturating_sub(word.len() + 1);
        fits
    };
    words.into_iter().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_up_to_a_bound() {
        let words: Vec<OsString> = (0..600).map(|_| "ab".into()).collect();
        assert_eq!(cut(words).len(), 341);
        assert_eq!(cut(vec!["a".into(), "b".into()]).len(), 2);
        assert!(cut(vec!["x".repeat(2000).into()]).is_empty());
    }

    #[test]
    fn a_pid_that_is_used_again_is_another_process() {
        let mut processes = Processes::default();
        // No process has such a number.
        let pid = u32::try_from(i32::MAX).expect("positive") - 7;
        let first = processes.place(pid, Some(1));
        assert_eq!(processes.place(pid, Some(1)), first);
        processes.ended(i32::MAX - 7, ExitStatus::Code(0));
        let second = processes.place(pid, Some(2));
        let list = processes.take();
        assert_eq!((first, second, list[0].ppid, list[1].ppid), (0, 1, 1, 2));
        assert_eq!((list[0].exit, list[1].exit), (Some(ExitStatus::Code(0)), None));
    }
}
