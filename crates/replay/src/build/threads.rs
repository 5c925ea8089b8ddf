//! What each thread did.

use std::collections::HashMap;

use hotset_facts::Pid;
use hotset_facts::replay::{Step, StepKind};
use hotset_facts::trace::{ProcessIndex, TraceLists, TraceRecord};

/// A step and when it was recorded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draft {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) step: Step,
}

/// One thread.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) tid: u32,
    pub(super) pid: Option<Pid>,
    pub(super) ppid: Option<Pid>,
    pub(super) process: Option<ProcessIndex>,
    pub(super) drafts: Vec<Draft>,
}

/// All threads.
#[derive(Debug, Default)]
pub(super) struct Threads {
    places: HashMap<(Option<Pid>, u32), usize>,
    pub(super) all: Vec<Thread>,
}

impl Threads {
    /// The open that one thread of the process of a record made, by the record of that, was of this slot.
    pub(super) fn opens(
        &mut self,
        record: &TraceRecord,
        lists: &TraceLists,
        (opened, slot): (u32, u32),
    ) {
        let pid = record.process.and_then(|index| lists.process(index)).map(|process| process.pid);
        for thread in self.all.iter_mut().filter(|thread| thread.pid == pid) {
            let mut last = thread.drafts.iter_mut().rev();
            let draft =
                last.find(|draft| draft.step.kind != StepKind::Send && draft.step.record <= opened);
            if let Some(draft) = draft.filter(|draft| draft.step.record == opened) {
                draft.step.target = slot;
            }
        }
    }

    /// Adds what a thread did.
    pub(super) fn add(&mut self, record: &TraceRecord, lists: &TraceLists, draft: Draft) {
        let process = record.process.and_then(|index| lists.process(index));
        let pid = process.map(|process| process.pid);
        let tid = record.tid.unwrap_or(0);
        let all = &mut self.all;
        let place = *self.places.entry((pid, tid)).or_insert_with(|| {
            let ppid = process.and_then(|process| process.ppid);
            all.push(Thread { tid, pid, ppid, process: record.process, drafts: Vec::new() });
            all.len() - 1
        });
        if let Some(thread) = all.get_mut(place) {
            thread.drafts.push(draft);
        }
    }
}

/// Time in which at least one step was under way, each moment once.
#[derive(Debug, Default)]
pub(super) struct Covered {
    ns: u64,
    until_ns: u64,
}

impl Covered {
    /// Takes a step; they come in the order in which they began.
    pub(super) fn add(&mut self, draft: &Draft) {
        self.ns += draft.end_ns.saturating_sub(draft.start_ns.max(self.until_ns));
        self.until_ns = self.until_ns.max(draft.end_ns);
    }

    /// All of it, in nanoseconds.
    pub(super) fn ns(&self) -> u64 {
        self.ns
    }
}
