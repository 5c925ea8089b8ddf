//! Who waits for whom.
//!
//! Steps of one thread stay in their order. Between threads, a step waits for another that had ended when it began, if both are
//! about something that one of them changes: the position of a description, bytes of a file, a name; and for what made it
//! possible: the open of its description, the mapping, the thread that started its own (ROOT, SOSP'13: order by resource).
//! Steps that were under way at the same time when they were recorded don't wait for each other.
//!
//! A request that was in flight is done once its thread has waited for it. Where another thread waits for one, its own waits for all that
//! it has in flight.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use hotset_facts::Pid;
use hotset_facts::replay::{PlanThread, Step, StepKind, Wait};
use hotset_facts::trace::RecordFlags;

use super::family::{Family, Member};
use super::rings::{self, Flying};
use super::shared::{Shared, Sharing};
use super::threads::{Covered, Draft, Thread};

/// A step by thread and place, and when it ended.
#[derive(Debug, Clone, Copy)]
struct Done {
    thread: usize,
    /// How many steps of its thread are done with it.
    steps: u32,
    end_ns: u64,
    /// It is a request, which only begins with its step.
    in_flight: bool,
}

/// Of each thread, the last step that used something and that had ended when its latest began, and those behind it; and the same of
/// those that changed it.
#[derive(Debug, Default)]
struct Uses {
    used: Vec<Done>,
    changed: Vec<Done>,
}

impl Uses {
    /// What a step has to wait for that does this.
    fn before(&self, changes: bool) -> impl Iterator<Item = Done> {
        let used = if changes { &self.used[..] } else { &[] };
        self.changed.iter().chain(used).copied()
    }

    fn add(&mut self, done: Done, changes: bool, begun_ns: u64) {
        let list = if changes { &mut self.changed } else { &mut self.used };
        let had_ended = |known: &Done| known.thread == done.thread && known.end_ns <= begun_ns;
        let last = list.iter().filter(|known| had_ended(known)).map(|known| known.steps).max();
        list.retain(|known| !had_ended(known) || Some(known.steps) == last);
        list.push(done);
    }
}

/// A thread that is being put in order.
struct Building {
    plan: PlanThread,
    member: Member,
    /// How many steps of each thread are done whenever this one goes on.
    known: HashMap<usize, u32>,
    /// When its latest step began and ended, of those that are in order.
    begun_ns: u64,
    ended_ns: u64,
    flying: Flying,
    /// How many of its steps are done once it last had nothing in flight.
    drained: u32,
}

impl Building {
    /// What it had done by a time at which all that began before is in order.
    fn done(&self, at: usize, time_ns: u64) -> Done {
        let under_way = usize::from(self.ended_ns > time_ns);
        let steps = number(self.plan.steps.len().saturating_sub(under_way));
        Done { thread: at, steps, end_ns: time_ns, in_flight: false }
    }

    /// Has it wait for all that it has in flight.
    fn drain(&mut self) {
        let record = self.plan.steps.last().map_or(0, |step| step.record);
        if let Some(wait) = self.flying.all(record) {
            self.plan.steps.push(wait);
            self.drained = number(self.plan.steps.len());
        }
    }

    /// How many of its steps have to be done so that one is that began a request.
    fn drained_after(&mut self, steps: u32) -> u32 {
        if self.drained < steps {
            self.drain();
        }
        self.drained.max(steps)
    }
}

fn number(steps: usize) -> u32 {
    u32::try_from(steps).unwrap_or(u32::MAX)
}

/// All of it.
struct Order<'a> {
    threads: Vec<Building>,
    family: Family,
    /// Threads of processes that each process started, and was not seen to wait for.
    children: HashMap<Pid, Vec<usize>>,
    shared: HashMap<Shared, Uses>,
    /// Where each description stands.
    positions: HashMap<u32, u64>,
    sharing: Sharing<'a>,
    covered: Covered,
}

/// The steps of all threads with what they wait for, and how long at least one was under way. Those of a thread are in the order in which
/// they began.
pub(super) fn threads(mut all: Vec<Thread>, sharing: Sharing<'_>) -> (Vec<PlanThread>, u64) {
    let mut rest = Vec::with_capacity(all.len());
    let mut heap = BinaryHeap::new();
    let mut building = Vec::with_capacity(all.len());
    for (at, thread) in all.iter_mut().enumerate() {
        let drafts = std::mem::take(&mut thread.drafts);
        let first_ns = drafts.first().map_or(0, |draft| draft.start_ns);
        let last_ns = drafts.iter().map(|draft| draft.end_ns).max().unwrap_or(0);
        let flying = Flying::of(&drafts);
        let (tid, process, ring_depth) = (thread.tid, thread.process, flying.depth());
        building.push(Building {
            plan: PlanThread { tid, process, ring_depth, ..PlanThread::default() },
            member: Member { pid: thread.pid, parent: thread.ppid, first_ns, last_ns },
            known: HashMap::new(),
            begun_ns: 0,
            ended_ns: 0,
            flying,
            drained: 0,
        });
        heap.push(Reverse((first_ns, at)));
        rest.push(drafts.into_iter().peekable());
    }
    let mut children: HashMap<Pid, Vec<usize>> = HashMap::new();
    for (at, thread) in building.iter().enumerate() {
        if let Some(parent) =
            thread.member.parent.filter(|parent| thread.member.pid != Some(*parent))
        {
            children.entry(parent).or_default().push(at);
        }
    }
    let mut order = Order {
        family: Family::new(building.iter().map(|thread| thread.member).collect()),
        threads: building,
        children,
        shared: HashMap::new(),
        positions: HashMap::new(),
        sharing,
        covered: Covered::default(),
    };
    while let Some(Reverse((_, at))) = heap.pop() {
        let Some(drafts) = rest.get_mut(at) else { continue };
        if let Some(draft) = drafts.next() {
            order.put(at, draft);
        }
        if let Some(next) = drafts.peek() {
            heap.push(Reverse((next.start_ns, at)));
        }
    }
    order.threads.iter_mut().for_each(Building::drain);
    (order.threads.into_iter().map(|thread| thread.plan).collect(), order.covered.ns())
}

impl Order<'_> {
    /// Puts the next step, by the time at which it began, behind those of its thread.
    fn put(&mut self, thread: usize, draft: Draft) {
        if draft.step.kind != StepKind::Send {
            self.covered.add(&draft);
        }
        let mut before = self.relatives(thread, &draft);
        let uses = self.sharing.uses(&draft.step);
        for (shared, changes) in uses.iter().flatten() {
            if let Some(known) = self.shared.get(shared) {
                before.extend(known.before(*changes));
            }
        }
        if let Some(own) = self.threads.get_mut(thread)
            && let Some(wait) = own.flying.before(&draft)
        {
            own.plan.steps.push(wait);
            if wait.bytes == 0 {
                own.drained = number(own.plan.steps.len());
            }
        }
        // Who waits for more steps of a thread, or for all that it has in flight, waits for fewer too.
        before.sort_by_key(|done| Reverse((done.thread, done.in_flight, done.steps)));
        self.wait(thread, &before, &draft);
        self.seek(thread, &draft.step);
        let Some(building) = self.threads.get_mut(thread) else { return };
        (building.begun_ns, building.ended_ns) = (draft.start_ns, draft.end_ns);
        building.plan.steps.push(draft.step);
        let steps = number(building.plan.steps.len());
        let in_flight = rings::is_request(&draft);
        for (shared, changes) in uses.into_iter().flatten() {
            let done = Done { thread, steps, end_ns: draft.end_ns, in_flight };
            self.shared.entry(shared).or_default().add(done, changes, draft.start_ns);
        }
    }

    /// Waits for these, as far as they had ended, and are not waited for already.
    fn wait(&mut self, thread: usize, before: &[Done], draft: &Draft) {
        // Who used a description when it was closed had begun by then: a replay that closes it sooner would refuse that.
        let closes = draft.step.kind == StepKind::Close;
        for done in before {
            let is_under_way = done.end_ns > draft.start_ns;
            if done.thread == thread || (is_under_way && !closes) {
                continue;
            }
            let steps = match self.threads.get_mut(done.thread) {
                Some(other) if done.in_flight && !is_under_way => other.drained_after(done.steps),
                _ => done.steps,
            };
            let Some(building) = self.threads.get_mut(thread) else { return };
            let known = building.known.entry(done.thread).or_default();
            if *known >= steps {
                continue;
            }
            *known = steps;
            let before = number(building.plan.steps.len());
            building.plan.waits.push(Wait { before, thread: number(done.thread), steps });
        }
    }

    /// What the position of a description has to be, where the step before left it elsewhere. What is written at the end of a file
    /// needs no position, and leaves it behind what it wrote.
    fn seek(&mut self, thread: usize, step: &Step) {
        let (slot, offset) = match step.kind {
            StepKind::Read | StepKind::Write if step.flags.has(RecordFlags::POSITION) => {
                (step.target, step.offset)
            }
            StepKind::SendTo => match self.sharing.transfers.of(step) {
                Some(transfer) => (transfer.to, transfer.to_offset),
                None => return,
            },
            _ => return,
        };
        let moved = u64::try_from(step.result).unwrap_or(0);
        let appends = step.kind == StepKind::Write && step.flags.has(RecordFlags::APPEND);
        if appends && moved == 0 {
            return;
        }
        let at = self.positions.get(&slot).copied().unwrap_or(0);
        if at != offset
            && !appends
            && let Some(building) = self.threads.get_mut(thread)
        {
            let seek = Step::new(StepKind::Seek, slot, step.record);
            building.plan.steps.push(Step { offset, ..seek });
        }
        self.positions.insert(slot, offset.saturating_add(moved));
    }

    /// What a thread waits for because of who started it, and whom it started.
    fn relatives(&mut self, thread: usize, draft: &Draft) -> Vec<Done> {
        let Some(own) = self.threads.get(thread) else { return Vec::new() };
        if own.plan.steps.is_empty() {
            return self.ancestors(thread, own, draft);
        }
        let Some(children) = own.member.pid.and_then(|pid| self.children.get_mut(&pid)) else {
            return Vec::new();
        };
        let threads = &self.threads;
        let ended = |at: &mut usize| {
            threads.get(*at).is_some_and(|child| child.member.last_ns <= draft.start_ns)
        };
        // A process that did nothing while a child of it lived waited for that.
        let waited = |at: usize| {
            let child = threads.get(at).filter(|child| child.member.first_ns >= own.begun_ns)?;
            Some(child.done(at, draft.start_ns))
        };
        children.extract_if(.., ended).filter_map(waited).collect()
    }

    /// For its first step, a thread waits for all that its process, or the one that started that, had done by then, and whom that
    /// had waited for.
    fn ancestors(&self, thread: usize, own: &Building, draft: &Draft) -> Vec<Done> {
        let Member { pid, parent, .. } = own.member;
        let parent = parent.filter(|_| parent != pid);
        let ancestors = [pid, parent].into_iter().flatten();
        let others = ancestors.flat_map(|pid| self.family.of_process(pid).iter().copied());
        others
            .filter(|at| *at != thread)
            .chain(self.elder(own, draft))
            .filter_map(|at| {
                let other = self.threads.get(at)?;
                Some(other.done(at, draft.start_ns))
            })
            .collect()
    }

    /// Processes of the same parent that had ended: what did nothing from the first of them on, as a shell between two commands,
    /// waited for each. Who ended before another of them began is waited for by that.
    fn elder(&self, own: &Building, draft: &Draft) -> Vec<usize> {
        let Some(parent) = own.member.parent else { return Vec::new() };
        let of_parent =
            self.family.of_process(parent).iter().filter_map(|&at| self.threads.get(at));
        // Of one that is not in the recording, nobody knows what it did meanwhile.
        let Some(parent_begun_ns) = of_parent.map(|other| other.begun_ns).max() else {
            return Vec::new();
        };
        self.family.last_siblings(&own.member, parent_begun_ns..draft.start_ns)
    }
}
