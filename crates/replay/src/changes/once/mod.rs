//! `once`: bytes that a process has read are read no more.
//!
//! A thread that leaves out a read because another thread of its process has read the same waits for that thread, as it would
//! for whoever fills a cache. A file that somebody changes is known only to the one thread that changes it, and until it does.

mod brackets;

use std::collections::{HashMap, HashSet};

use hotset_facts::replay::{FileRole, PlanThread, ReplayPlan, Step, StepKind, Wait};
use hotset_facts::trace::{ProcessIndex, RecordFlags};

use super::order::InOrder;
use super::rewrite::{self, Rewrite, number};
use super::subjects::{self, At, all_steps, file, is_read, moved, slot};
use super::{Change, Given, Made};
use crate::ranges::Ranges;

/// Repeated reads are left out.
pub(super) const CHANGE: Change = Change {
    name: "once",
    argument: None,
    summary: "Skip reads of bytes that the process has read before",
    programmer: "Keep what was parsed from a file, in a variable or a cache that is keyed by the path; read again only \
                 when the modification time or the size changes.",
    risks: Some(
        "A change that another program makes to the file goes unnoticed unless the program checks for it.",
    ),
    syncs_less: false,
    make,
};

/// Who does something: one thread by its place, or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    One(usize),
    Several,
}

fn add<K: Eq + std::hash::Hash>(known: &mut HashMap<K, Who>, key: K, thread: usize) {
    let who = known.entry(key).or_insert(Who::One(thread));
    if *who != Who::One(thread) {
        *who = Who::Several;
    }
}

/// What is known of all threads.
struct Users<'a> {
    plan: &'a ReplayPlan,
    /// Who changes each file that changes.
    changing: HashMap<u32, Who>,
    /// Who uses each slot; several where its position is not known throughout.
    slots: HashMap<u32, Who>,
    /// Some step changes a file by a name, and which file has that name then is not known.
    truncates: bool,
}

impl<'a> Users<'a> {
    fn of(plan: &'a ReplayPlan) -> Self {
        let mut users =
            Self { plan, changing: HashMap::new(), slots: HashMap::new(), truncates: false };
        for ((thread, _), step) in all_steps(plan) {
            users.truncates |= subjects::changes_any_file(plan, step);
            if let Some(slot) = slot(plan, step) {
                add(&mut users.slots, slot, thread);
                let knows_where =
                    !subjects::uses_position(step) || step.flags.has(RecordFlags::POSITION);
                if !knows_where || plan.slots.get(slot as usize).is_some_and(|slot| slot.append) {
                    users.slots.insert(slot, Who::Several);
                }
            }
            if let Some(slots) = subjects::copied(plan, step) {
                users.slots.extend(slots.map(|slot| (slot, Who::Several)));
                let [_, changed] = subjects::copied_files(plan, step);
                users.changing.extend(changed.map(|file| (file, Who::Several)));
            } else if step.kind == StepKind::WriteRing {
                // From when on its bytes are there is not known.
                users.changing.extend(file(plan, step).map(|file| (file, Who::Several)));
            } else if let Some(file) =
                file(plan, step).filter(|_| subjects::changes_file(plan, step))
            {
                add(&mut users.changing, file, thread);
            }
        }
        users
    }

    /// Who knows what a step reads of a file; nobody where it has to be read each time.
    fn reader(&self, thread: usize, step: &Step, file: u32) -> Option<Reader> {
        let of = self.plan.files.get(file as usize)?;
        let is_known = of.role == FileRole::Original || !self.truncates;
        let has_place = step.kind == StepKind::ReadAt || self.is_alone(step.target, thread);
        if !is_known || !has_place {
            return None;
        }
        match self.changing.get(&file) {
            None => {
                let process = self.plan.threads.get(thread)?.process;
                Some(process.map_or(Reader::Thread(thread), Reader::Process))
            }
            Some(Who::One(one)) if *one == thread => Some(Reader::Thread(thread)),
            Some(_) => None,
        }
    }

    /// Whether a slot is used by this thread alone, and where it stands is known.
    fn is_alone(&self, slot: u32, thread: usize) -> bool {
        self.slots.get(&slot) == Some(&Who::One(thread))
    }
}

/// Who knows what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Reader {
    Process(ProcessIndex),
    Thread(usize),
}

/// What is known of a file, and the last place of each thread that something of it was read at.
#[derive(Debug, Default)]
struct Known {
    bytes: Ranges,
    /// Where it ends, once a read got less than it asked for.
    end: Option<u64>,
    read_at: HashMap<usize, usize>,
}

impl Known {
    /// Whether a read tells nothing new; if it does, that is known from now on.
    fn has(&mut self, (thread, place): At, step: &Step) -> bool {
        let end = step.offset.saturating_add(moved(step));
        let ends = moved(step) < step.bytes;
        let is_known =
            self.bytes.missing(step.offset, end).is_empty() && (!ends || self.end == Some(end));
        if !is_known {
            self.bytes.add(step.offset, end);
            if ends {
                self.end = Some(end);
            }
            self.read_at.insert(thread, place);
        }
        is_known
    }
}

/// Reads of one thread that are left out, and what the thread waits for instead.
#[derive(Debug)]
struct Repeated {
    /// Of each step, whether it is left out.
    is_dropped: Vec<bool>,
    waits: Vec<Wait>,
    /// For how many steps of each other thread it waits by now.
    waited: HashMap<usize, usize>,
}

impl Repeated {
    fn of(thread: &PlanThread) -> Self {
        let is_dropped = vec![false; thread.steps.len()];
        Self { is_dropped, waits: Vec::new(), waited: HashMap::new() }
    }

    fn drop(&mut self, place: usize) {
        if let Some(is_dropped) = self.is_dropped.get_mut(place) {
            *is_dropped = true;
        }
    }

    fn waits_for(&mut self, place: usize, (thread, read): At) {
        let waited = self.waited.entry(thread).or_default();
        if *waited <= read {
            *waited = read + 1;
            let (before, steps) = (number(place), number(read + 1));
            self.waits.push(Wait { before, thread: number(thread), steps });
        }
    }
}

fn make(plan: &ReplayPlan, _: &Given<'_>) -> Made {
    let users = Users::of(plan);
    let mut affected = 0;
    let threads = plan.threads.iter().zip(repeated(&users)).enumerate();
    let threads = threads.map(|(at, (thread, mut repeated))| {
        let reads = thread.steps.iter().zip(&repeated.is_dropped).filter(|(_, dropped)| **dropped);
        let slots: HashSet<u32> = reads.map(|(step, _)| step.target).collect();
        let alone = slots.into_iter().filter(|slot| users.is_alone(*slot, at)).collect();
        for place in brackets::empty(plan, thread, &repeated.is_dropped, &alone) {
            repeated.drop(place);
        }
        affected += repeated.is_dropped.iter().filter(|dropped| **dropped).count() as u64;
        let mut new = write_anew(thread, &repeated.is_dropped, &alone);
        repeated.waits.into_iter().for_each(|wait| new.waits_for(wait));
        new
    });
    let threads = rewrite::finish(threads.collect());
    if affected == 0 {
        return Err(
            "no process reads the same bytes of a file twice without a write between".to_owned()
        );
    }
    Ok((rewrite::with_threads(plan, threads), affected))
}

/// The reads of each thread that tell its process nothing new.
fn repeated(users: &Users<'_>) -> Vec<Repeated> {
    let plan = users.plan;
    let mut known: HashMap<(Reader, u32), Known> = HashMap::new();
    let mut all: Vec<Repeated> = plan.threads.iter().map(Repeated::of).collect();
    for (thread, place) in InOrder::of(plan) {
        let step = plan.threads.get(thread).and_then(|thread| thread.steps.get(place));
        let Some((step, file)) = step.and_then(|step| Some((step, file(plan, step)?))) else {
            continue;
        };
        if subjects::changes_file(plan, step) {
            known.remove(&(Reader::Thread(thread), file));
        }
        let reads = is_read(step) && step.result >= 0;
        let reader = users.reader(thread, step, file).filter(|_| reads);
        let Some(known) = reader.map(|reader| known.entry((reader, file)).or_default()) else {
            continue;
        };
        if let (true, Some(repeated)) = (known.has((thread, place), step), all.get_mut(thread)) {
            repeated.drop(place);
            let others = known.read_at.iter().filter(|(other, _)| **other != thread);
            others.for_each(|(other, read)| repeated.waits_for(place, (*other, *read)));
        }
    }
    all
}

/// What is left of a thread. Where a slot stands that some reads of were left out is set anew, and only where that matters.
fn write_anew<'a>(
    thread: &'a PlanThread,
    is_dropped: &[bool],
    slots: &HashSet<u32>,
) -> Rewrite<'a> {
    let mut new = Rewrite::new(thread);
    let mut positions: HashMap<u32, u64> = HashMap::new();
    for (step, is_dropped) in thread.steps.iter().zip(is_dropped) {
        let is_of_them = |kind| step.kind == kind && slots.contains(&step.target);
        if *is_dropped || is_of_them(StepKind::Seek) {
            new.becomes(&[]);
        } else if is_of_them(StepKind::Read) || is_of_them(StepKind::Write) {
            let position = positions.entry(step.target).or_default();
            let seek = Step::new(StepKind::Seek, step.target, step.record);
            let seek = Step { offset: step.offset, ..seek };
            if *position == step.offset {
                new.becomes(&[*step]);
            } else {
                new.becomes(&[seek, *step]);
            }
            *position = step.offset.saturating_add(moved(step));
        } else {
            new.becomes(&[*step]);
        }
    }
    new
}

#[cfg(test)]
mod tests;
