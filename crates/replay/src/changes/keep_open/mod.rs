//! `keep-open`: a file that is opened again and again stays open.

use std::collections::{HashMap, HashSet};

use hotset_facts::replay::{ReplayPlan, Step, StepKind};
use hotset_facts::trace::RecordFlags;

use super::rewrite::{self, Rewrite};
use super::subjects::{self, At, all_steps};
use super::{Change, Given, Made};

/// Repeated opens of one path by one thread become one.
pub(super) const CHANGE: Change = Change {
    name: "keep-open",
    argument: None,
    summary: "Open each file once and close it after its last use",
    programmer: "Keep descriptors in a variable or in a cache of open files instead of opening by path each time; \
                 return to the beginning with lseek, or use pread.",
    risks: Some(
        "The program has more files open at a time. A file that another program replaces meanwhile is still the old one.",
    ),
    syncs_less: false,
    make,
};

/// From where a slot is opened to where it is closed, by the same thread.
#[derive(Debug, Clone, Copy)]
struct Bracket {
    slot: u32,
    thread: usize,
    path: u32,
    record: u32,
    opened: usize,
    closed: Option<usize>,
}

/// What becomes of the slots: each that is opened no more, and the one that stands for it.
#[derive(Debug, Default)]
struct Kept {
    slots: HashMap<u32, u32>,
    /// Closes that are left out, by the thread and the place.
    closes: HashSet<At>,
}

fn make(plan: &ReplayPlan, _: &Given<'_>) -> Made {
    let kept = kept(plan);
    if kept.slots.is_empty() {
        return Err("no thread opens a file again that it opened and closed before".to_owned());
    }
    let positioned: HashSet<u32> = all_steps(plan)
        .filter(|(_, step)| subjects::uses_position(step))
        .map(|(_, step)| step.target)
        .collect();
    let mut affected = 0;
    let threads = plan.threads.iter().enumerate().map(|(thread, list)| {
        let mut new = Rewrite::new(list);
        for (place, step) in list.steps.iter().enumerate() {
            let slot = subjects::slot(plan, step).filter(|_| subjects::mapping(step).is_none());
            let other = slot.and_then(|slot| kept.slots.get(&slot));
            affected += u64::from(other.is_some());
            match (step.kind, other) {
                (StepKind::Close, _) if kept.closes.contains(&(thread, place)) => {
                    new.becomes(&[]);
                }
                (_, None) => new.becomes(&[*step]),
                // A new description begins at byte 0.
                (StepKind::Open, Some(other)) if positioned.contains(&step.target) => {
                    new.becomes(&[Step::new(StepKind::Seek, *other, step.record)]);
                }
                (StepKind::Open, Some(_)) => new.becomes(&[]),
                (_, Some(other)) => new.becomes(&[Step { target: *other, ..*step }]),
            }
        }
        new
    });
    let threads = rewrite::finish(threads.collect());
    let mut new = rewrite::with_threads(plan, threads);
    for mapping in &mut new.mappings {
        mapping.slot = mapping.slot.map(|slot| kept.slots.get(&slot).copied().unwrap_or(slot));
    }
    for (slot, other) in &kept.slots {
        let writes = plan.slots.get(*slot as usize).is_some_and(|slot| slot.writes);
        if let Some(other) = new.slots.get_mut(*other as usize) {
            other.writes |= writes;
        }
    }
    Ok((new, affected))
}

/// Finds, for each thread and path, what is opened after it was closed.
fn kept(plan: &ReplayPlan) -> Kept {
    let changes = name_changes(plan);
    let mut kept = Kept::default();
    let mut last: HashMap<(usize, u32), (Bracket, Bracket)> = HashMap::new();
    for bracket in brackets(plan) {
        let key = (bracket.thread, bracket.path);
        let before = last.get(&key).copied().filter(|(first, before)| {
            let is_closed = before.closed.is_some_and(|closed| closed < bracket.opened);
            let is_changed = changes.get(&bracket.path).is_some_and(|records| {
                records.iter().any(|record| (first.record..bracket.record).contains(record))
            });
            is_closed && !is_changed && are_alike(plan, first.slot, bracket.slot)
        });
        let Some((first, before)) = before else {
            last.insert(key, (bracket, bracket));
            continue;
        };
        kept.slots.insert(bracket.slot, first.slot);
        if let Some(closed) = before.closed {
            kept.closes.insert((bracket.thread, closed));
        }
        last.insert(key, (first, bracket));
    }
    kept
}

/// Slots that a thread opens, and closes itself if anybody does, by threads in the order of their opens.
fn brackets(plan: &ReplayPlan) -> Vec<Bracket> {
    let mut all: Vec<Bracket> = Vec::new();
    let mut by_slot: HashMap<u32, usize> = HashMap::new();
    for ((thread, place), step) in all_steps(plan) {
        let makes = step.flags.has(RecordFlags::CREATE) || step.flags.has(RecordFlags::TRUNCATE);
        let has_slot = (step.target as usize) < plan.slots.len();
        match step.kind {
            StepKind::Open if step.result >= 0 && !makes && has_slot => {
                by_slot.insert(step.target, all.len());
                let (slot, path, record) = (step.target, subjects::second(step), step.record);
                all.push(Bracket { slot, thread, path, record, opened: place, closed: None });
            }
            _ => {}
        }
    }
    let mut is_elsewhere = vec![false; all.len()];
    for ((thread, place), step) in all_steps(plan) {
        let slots = match step.kind {
            StepKind::Close => [Some(step.target), None],
            StepKind::CopyRange | StepKind::SendTo => {
                subjects::copied(plan, step).map_or([None; 2], |slots| slots.map(Some))
            }
            _ => continue,
        };
        for at in slots.into_iter().flatten().filter_map(|slot| by_slot.get(&slot)) {
            let Some(bracket) = all.get_mut(*at) else { continue };
            let is_own = step.kind == StepKind::Close && bracket.thread == thread;
            bracket.closed = is_own.then_some(place);
            if let Some(is_elsewhere) = is_elsewhere.get_mut(*at) {
                *is_elsewhere |= !is_own;
            }
        }
    }
    all.into_iter().zip(is_elsewhere).filter(|(_, is)| !is).map(|(bracket, _)| bracket).collect()
}

/// Paths whose names change, and the records of it.
fn name_changes(plan: &ReplayPlan) -> HashMap<u32, Vec<u32>> {
    let mut changes: HashMap<u32, Vec<u32>> = HashMap::new();
    for (_, step) in all_steps(plan) {
        for path in subjects::changed_names(step).into_iter().flatten() {
            changes.entry(path).or_default().push(step.record);
        }
    }
    changes
}

/// Whether two slots are of the same file, opened in the same way. What is written at the end of a file is left as it is.
fn are_alike(plan: &ReplayPlan, one: u32, other: u32) -> bool {
    let (Some(one), Some(other)) = (plan.slots.get(one as usize), plan.slots.get(other as usize))
    else {
        return false;
    };
    let how = |slot: &hotset_facts::replay::PlanSlot| (slot.file, slot.direct, slot.sync);
    one.file.is_some() && how(one) == how(other) && !one.append && !other.append
}

#[cfg(test)]
mod tests;
