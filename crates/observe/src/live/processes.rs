//! Who is who: the processes of a session, told apart by owner.

use std::collections::HashMap;
use std::sync::Arc;

use hotset_facts::{LiveProcess, Observed, Pid, Reason};

use super::cgroups::Cgroups;
use super::references::ProcessReferences;
use crate::event::comm_of;
use crate::record::Process;

const NOT_ASKED: Reason = Reason::not_measured("its control group was not asked for yet");

/// A process from its first request until its last row is gone.
#[derive(Debug)]
pub(crate) struct KnownProcess {
    pub(crate) owner: u32,
    pub(crate) pid: Pid,
    ppid: Pid,
    uid: u32,
    comm_bytes: [u8; 16],
    comm: Arc<str>,
    cgroup_id: u64,
    pub(crate) cgroup: Observed<Arc<str>>,
    /// The sample in which it was found to have ended.
    pub(crate) ended: Option<u64>,
    /// Rows in the table, those in quarantine included.
    pub(crate) rows: u32,
    /// The sample that it stands in last, and where.
    shown: (u64, u32),
    references: Grown,
    lookups: Grown,
}

impl KnownProcess {
    /// Which program it runs, for whom, and in which group.
    fn identify(&mut self, seen: &Process, cgroups: &mut Cgroups) {
        self.uid = seen.uid;
        if self.comm_bytes != seen.comm {
            self.comm_bytes = seen.comm;
            self.comm = comm_of(&seen.comm).into();
        }
        if self.cgroup_id != seen.cgroup || cgroups.may_know_more(&self.cgroup) {
            self.cgroup_id = seen.cgroup;
            self.cgroup = cgroups.path(seen.cgroup);
        }
    }
}

/// Two counters of a process: what they were at the last look, and what came since they were taken.
#[derive(Debug, Default)]
struct Grown {
    counted: [u64; 2],
    grown: [u64; 2],
}

impl Grown {
    fn look(&mut self, counts: [u64; 2]) {
        for (at, count) in counts.into_iter().enumerate() {
            self.grown[at] += count.wrapping_sub(self.counted[at]);
        }
        self.counted = counts;
    }

    /// What came, if anything did.
    fn take(&mut self) -> Option<[u64; 2]> {
        let grown = std::mem::take(&mut self.grown);
        (grown != [0; 2]).then_some(grown)
    }
}

/// All processes that have an owner.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    known: Vec<Option<KnownProcess>>,
    vacant: Vec<u32>,
    by_owner: HashMap<u32, u32>,
    by_pid: HashMap<Pid, u32>,
    /// Where the check of running processes goes on.
    next_check: usize,
}

impl Processes {
    /// Takes what the sensor says of a process at a sample.
    pub(crate) fn register(&mut self, seen: &Process, now: u64, cgroups: &mut Cgroups) {
        let index = match self.by_owner.get(&seen.owner) {
            Some(&index) => index,
            None => self.admit(seen, now),
        };
        let Some(Some(known)) = self.known.get_mut(index as usize) else { return };
        if seen.ended != 0 && known.ended.is_none() {
            known.ended = Some(now);
        }
        known.references.look([seen.referring_faults, seen.samples_lost]);
        known.lookups.look([seen.lookups, seen.lookups_failed]);
        known.identify(seen, cgroups);
    }

    /// Takes what the sensor says now of a process that stands in a sample.
    pub(crate) fn identify_again(
        &mut self,
        seen: &Process,
        shown: &mut LiveProcess,
        cgroups: &mut Cgroups,
    ) {
        let index = self.find(seen.owner);
        let Some(known) = index.and_then(|index| self.get_mut(index)) else { return };
        known.identify(seen, cgroups);
        shown.uid = Observed::Value(known.uid);
        shown.comm = Arc::clone(&known.comm);
        shown.cgroup = known.cgroup.clone();
    }

    fn admit(&mut self, seen: &Process, now: u64) -> u32 {
        // The PID was reused: the process that had it is gone, although its end was missed.
        if let Some(old) = self.by_pid.get(&seen.tgid).copied()
            && let Some(Some(old)) = self.known.get_mut(old as usize)
            && old.ended.is_none()
        {
            old.ended = Some(now);
        }
        let known = KnownProcess {
            owner: seen.owner,
            pid: seen.tgid,
            ppid: seen.ppid,
            uid: seen.uid,
            comm_bytes: seen.comm,
            comm: comm_of(&seen.comm).into(),
            cgroup_id: !seen.cgroup,
            cgroup: Observed::Missing(NOT_ASKED),
            ended: None,
            rows: 0,
            shown: (0, 0),
            references: Grown::default(),
            lookups: Grown::default(),
        };
        let index = match self.vacant.pop() {
            Some(index) => index,
            None => {
                self.known.push(None);
                (self.known.len() - 1) as u32
            }
        };
        self.by_owner.insert(known.owner, index);
        self.by_pid.insert(known.pid, index);
        self.known[index as usize] = Some(known);
        index
    }

    /// Where an owner stands.
    pub(crate) fn find(&self, owner: u32) -> Option<u32> {
        self.by_owner.get(&owner).copied()
    }

    pub(crate) fn get(&self, index: u32) -> Option<&KnownProcess> {
        self.known.get(index as usize)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut KnownProcess> {
        self.known.get_mut(index as usize)?.as_mut()
    }

    /// The place of a process in the list of sample `now`, put there at first need.
    pub(crate) fn place(
        &mut self,
        index: u32,
        now: u64,
        list: &mut Vec<LiveProcess>,
    ) -> Option<u32> {
        let known = self.get_mut(index)?;
        if known.shown.0 != now {
            known.shown = (now, list.len() as u32);
            list.push(LiveProcess {
                id: known.owner,
                pid: known.pid,
                ppid: Observed::Value(known.ppid),
                uid: Observed::Value(known.uid),
                comm: Arc::clone(&known.comm),
                cgroup: known.cgroup.clone(),
                ended: known.ended.is_some(),
            });
        }
        Some(known.shown.1)
    }

    /// Those that ended in sample `now`, whether they did something or not.
    pub(crate) fn show_ended(&mut self, now: u64, list: &mut Vec<LiveProcess>) {
        for index in 0..self.known.len() as u32 {
            if self.get(index).is_some_and(|known| known.ended == Some(now)) {
                self.place(index, now, list);
            }
        }
    }

    /// What of references the rows do not tell, since it was taken last.
    pub(crate) fn take_references(&mut self) -> Vec<ProcessReferences> {
        let taken = self.known.iter_mut().flatten().filter_map(|known| {
            let [faults, lost] = known.references.take()?;
            Some(ProcessReferences { cgroup: known.cgroup.clone(), faults, lost })
        });
        taken.collect()
    }

    /// Path lookups of each process that made some since they were taken last: its control group, how many, and how many failed.
    pub(crate) fn take_lookups(&mut self) -> Vec<(Option<Arc<str>>, [u64; 2])> {
        let taken =
            self.known.iter_mut().flatten().filter_map(|known| {
                Some((known.cgroup.as_value().cloned(), known.lookups.take()?))
            });
        taken.collect()
    }

    /// Takes those out that ended before sample `now` and have no row left; gives their owners.
    pub(crate) fn remove_ended(&mut self, now: u64) -> Vec<u32> {
        let mut gone = Vec::new();
        for (index, place) in self.known.iter_mut().enumerate() {
            let index = index as u32;
            let Some(known) = place else { continue };
            if known.rows > 0 || known.ended.is_none_or(|ended| ended >= now) {
                continue;
            }
            self.by_owner.remove(&known.owner);
            if self.by_pid.get(&known.pid) == Some(&index) {
                self.by_pid.remove(&known.pid);
            }
            gone.push(known.owner);
            self.vacant.push(index);
            *place = None;
        }
        gone
    }

    /// Up to `count` processes that should still run, each time others.
    pub(crate) fn next_to_check(&mut self, count: usize) -> Vec<u32> {
        let length = self.known.len();
        let mut chosen = Vec::new();
        for step in 0..length {
            let index = (self.next_check + step) % length;
            if chosen.len() == count {
                self.next_check = index;
                break;
            }
            if self.known[index].as_ref().is_some_and(|known| known.ended.is_none()) {
                chosen.push(index as u32);
            }
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(owner: u32, tgid: u32, ended: u32) -> Process {
        let zero = crate::record::read(&[0; size_of::<Process>()]).expect("zeros");
        Process { owner, tgid, ppid: 1, ended, ..zero }
    }

    #[test]
    fn a_reused_pid_is_another_process() {
        let (mut processes, mut cgroups) = (Processes::default(), Cgroups::default());
        processes.register(&seen(5, 77, 0), 1, &mut cgroups);
        // Its end was missed.
        processes.register(&seen(6, 77, 0), 2, &mut cgroups);
        let mut list = Vec::new();
        processes.show_ended(2, &mut list);
        assert_eq!(list.len(), 1);
        assert_eq!((list[0].id, list[0].pid, list[0].ended), (5, 77, true));
        assert!(processes.remove_ended(2).is_empty(), "it is shown in this sample");
        assert_eq!(processes.remove_ended(3), [5]);
        assert!(processes.find(5).is_none());
        assert!(processes.find(6).is_some());
    }

    #[test]
    fn who_has_rows_stays() {
        let (mut processes, mut cgroups) = (Processes::default(), Cgroups::default());
        processes.register(&seen(5, 77, 1), 1, &mut cgroups);
        let index = processes.find(5).expect("known");
        processes.get_mut(index).expect("known").rows = 1;
        assert!(processes.remove_ended(3).is_empty());
        processes.get_mut(index).expect("known").rows = 0;
        assert_eq!(processes.remove_ended(3), [5]);
    }

    #[test]
    fn a_sample_has_the_program_that_runs_at_its_end() {
        let (mut processes, mut cgroups) = (Processes::default(), Cgroups::default());
        let runs = |comm: &[u8; 16], uid| Process { comm: *comm, uid, ..seen(5, 77, 0) };
        processes.register(&runs(b"sh\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 0), 1, &mut cgroups);
        let mut list = Vec::new();
        let index = processes.find(5).expect("known");
        assert_eq!(processes.place(index, 1, &mut list), Some(0));
        assert_eq!(&*list[0].comm, "sh");
        let after = runs(b"cat\0\0\0\0\0\0\0\0\0\0\0\0\0", 33);
        processes.identify_again(&after, &mut list[0], &mut cgroups);
        assert_eq!((&*list[0].comm, list[0].uid), ("cat", Observed::Value(33)));
        assert_eq!(&*processes.get(index).expect("known").comm, "cat", "and from now on");
        assert!(!list[0].ended);
    }

    #[test]
    fn checks_come_round() {
        let (mut processes, mut cgroups) = (Processes::default(), Cgroups::default());
        for owner in 1..=5 {
            processes.register(&seen(owner, owner + 100, u32::from(owner == 3)), 1, &mut cgroups);
        }
        let first = processes.next_to_check(3);
        let second = processes.next_to_check(3);
        assert_eq!((first.len(), second.len()), (3, 3));
        let all: std::collections::HashSet<u32> = first.into_iter().chain(second).collect();
        assert_eq!(all.len(), 4, "everybody but the one that ended");
    }
}
