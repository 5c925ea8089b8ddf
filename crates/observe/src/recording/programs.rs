//! Which program a process ran when it did something.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;

use hotset_facts::Pid;
use hotset_facts::trace::{ProcessIndex, TraceProcess};
use hotset_sys::proc::cmdline;

use crate::collector::{Collector, Program};

/// Processes whose programs are told apart, as many as the sensor tells apart.
const MAX_OWNERS: usize = 32_768;

/// One process.
#[derive(Debug, Default)]
struct Known {
    /// What it will have run by the time of later records.
    coming: VecDeque<Program>,
    current: Option<ProcessIndex>,
    ppid: Option<Pid>,
}

/// All processes by their owner.
#[derive(Debug)]
pub(super) struct Programs {
    /// The process that records.
    own: Pid,
    by_owner: HashMap<u32, Known>,
    /// The owner that was asked for last, where it won't have run anything else: most records are of the same.
    last: Option<(u32, ProcessIndex)>,
    count: u32,
    added: Vec<TraceProcess>,
}

/// The process of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct At {
    pub(super) index: ProcessIndex,
    /// It runs another program since this record.
    pub(super) is_new: bool,
    /// Its parent, where it is new and was made by one that is observed.
    pub(super) ppid: Option<Pid>,
}

impl Programs {
    /// None yet; `own` is the process that records.
    pub(super) fn new(own: Pid) -> Self {
        Self { own, by_owner: HashMap::new(), last: None, count: 0, added: Vec::new() }
    }

    /// Takes what processes will have run.
    pub(super) fn tell(&mut self, programs: impl IntoIterator<Item = Program>) {
        self.last = None;
        for program in programs {
            if self.by_owner.len() < MAX_OWNERS || self.by_owner.contains_key(&program.owner) {
                self.by_owner.entry(program.owner).or_default().coming.push_back(program);
            }
        }
    }

    /// The process that an owner stands for at a time.
    pub(super) fn at(
        &mut self,
        owner: u32,
        tgid: u32,
        time_ns: u64,
        collector: &Collector,
    ) -> Option<At> {
        if let Some((_, index)) = self.last.filter(|(last, _)| *last == owner) {
            return Some(At { index, is_new: false, ppid: None });
        }
        let at = self.find(owner, tgid, time_ns, collector)?;
        let knows_all = self.by_owner.get(&owner).is_some_and(|known| known.coming.is_empty());
        self.last = knows_all.then_some((owner, at.index));
        Some(at)
    }

    fn find(&mut self, owner: u32, tgid: u32, time_ns: u64, collector: &Collector) -> Option<At> {
        if owner == 0 || (self.by_owner.len() >= MAX_OWNERS && !self.by_owner.contains_key(&owner))
        {
            return None;
        }
        let known = self.by_owner.entry(owner).or_default();
        let mut latest = None;
        while known.coming.front().is_some_and(|program| program.time_ns <= time_ns) {
            latest = known.coming.pop_front();
            known.ppid = latest.as_ref().and_then(|program| program.ppid).or(known.ppid);
        }
        // What hotset does in the command's process before it is the command belongs to that.
        if latest.as_ref().is_some_and(|program| program.ppid == Some(self.own)) {
            latest = known.coming.pop_front().or(latest);
        }
        if let (None, Some(index)) = (&latest, known.current) {
            return Some(At { index, is_new: false, ppid: None });
        }
        let life = collector.processes.get(&owner);
        let pid = life.map_or(tgid, |life| life.pid);
        let (comm, argv) = match latest {
            Some(program) => (program.comm, program.argv),
            // It ran before it was observed.
            None => of_running(pid),
        };
        let ppid = known.ppid.or(life.map(|life| life.ppid).filter(|&ppid| ppid != 0));
        let index = ProcessIndex(self.count);
        known.current = Some(index);
        self.count += 1;
        self.added.push(TraceProcess { pid, ppid, comm, argv });
        Some(At { index, is_new: true, ppid })
    }

    /// Processes that were added since they were asked for last.
    pub(super) fn added(&mut self) -> Vec<TraceProcess> {
        std::mem::take(&mut self.added)
    }
}

/// The name and the words of a process that runs; empty where it does not any more.
fn of_running(pid: Pid) -> (String, Vec<OsString>) {
    let comm = std::fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    let comm = String::from_utf8_lossy(comm.strip_suffix(b"\n").unwrap_or(&comm)).into_owned();
    (comm, cmdline::of(pid).ok().flatten().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(owner: u32, time_ns: u64, comm: &str) -> Program {
        Program { owner, time_ns, ppid: None, comm: comm.to_owned(), argv: vec![comm.into()] }
    }

    #[test]
    fn a_process_is_another_from_each_exec_on() {
        let collector = Collector::default();
        let mut programs = Programs::new(1);
        programs.tell([program(7, 10, "sh"), program(7, 20, "cat"), program(7, 30, "dd")]);
        let mut at = |time_ns| programs.at(7, 1, time_ns, &collector).expect("known");
        let first = at(15);
        assert_eq!((first.index.0, first.is_new), (0, true));
        assert_eq!((at(19).index.0, at(19).is_new), (0, false));
        // Of a program that did nothing nobody needs the name.
        assert_eq!(at(35).index.0, 1);
        let added: Vec<String> = programs.added().into_iter().map(|process| process.comm).collect();
        assert_eq!(added, ["sh", "dd"]);
    }

    #[test]
    fn what_came_before_the_command_is_the_commands() {
        let collector = Collector::default();
        let mut programs = Programs::new(1);
        let forked = |owner, ppid| Program { ppid: Some(ppid), ..program(owner, 10, "hotset") };
        programs.tell([forked(7, 1), program(7, 20, "ls"), forked(8, 5), program(8, 20, "cat")]);
        let first = programs.at(7, 1, 15, &collector).expect("known");
        assert_eq!((first.index.0, first.is_new, first.ppid), (0, true, Some(1)));
        assert_eq!(programs.at(7, 1, 25, &collector).map(|at| at.index.0), Some(0));
        // Of others, both are told.
        assert_eq!(programs.at(8, 2, 15, &collector).map(|at| at.index.0), Some(1));
        assert_eq!(programs.at(8, 2, 25, &collector).map(|at| at.index.0), Some(2));
        let added: Vec<String> = programs.added().into_iter().map(|process| process.comm).collect();
        assert_eq!(added, ["ls", "hotset", "cat"]);
    }
}
