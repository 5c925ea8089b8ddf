//! Files that are opened and closed with nothing left to be read between.

use std::collections::{HashMap, HashSet};

use hotset_facts::replay::{PlanThread, ReplayPlan, Step, StepKind};
use hotset_facts::trace::RecordFlags;

use crate::changes::subjects;

/// The places of steps that are of no use where some reads are left out: those that open and close such a slot, and what is done to it
/// between; and lookups of its path between, as they belong to the reading. A lookup before may ask whether the file changed.
pub(super) fn empty(
    plan: &ReplayPlan,
    thread: &PlanThread,
    is_dropped: &[bool],
    slots: &HashSet<u32>,
) -> Vec<usize> {
    let mut by_slot: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut by_path: HashMap<u32, Vec<usize>> = HashMap::new();
    for (place, step) in thread.steps.iter().enumerate() {
        if step.kind == StepKind::Stat {
            by_path.entry(step.target).or_default().push(place);
        } else if let Some(slot) = subjects::slot(plan, step).filter(|slot| slots.contains(slot)) {
            by_slot.entry(slot).or_default().push(place);
        }
    }
    let mut empty = Vec::new();
    for places in by_slot.into_values() {
        let steps = || places.iter().filter_map(|place| Some((*place, thread.steps.get(*place)?)));
        let is_dropped = |place: usize| is_dropped.get(place).copied().unwrap_or(false);
        let is_of_use = |(place, step): (usize, &Step)| !is_dropped(place) && !is_idle(step);
        let (Some((first, open)), Some((last, close))) = (steps().next(), steps().next_back())
        else {
            continue;
        };
        if !is_plain_open(open) || close.kind != StepKind::Close || steps().any(is_of_use) {
            continue;
        }
        let asked = by_path.get(&subjects::second(open)).map_or(&[][..], Vec::as_slice);
        let between = asked.partition_point(|place| *place < first);
        let asked = asked.iter().skip(between).take_while(|place| **place < last);
        empty.extend(asked.copied());
        empty.extend(places);
    }
    empty
}

/// Whether it opens a file and does nothing else.
fn is_plain_open(step: &Step) -> bool {
    let makes = step.flags.has(RecordFlags::CREATE) || step.flags.has(RecordFlags::TRUNCATE);
    step.kind == StepKind::Open && !makes
}

/// Whether a step on a slot is of no use where nothing is read by it.
fn is_idle(step: &Step) -> bool {
    matches!(
        step.kind,
        StepKind::Open | StepKind::Close | StepKind::Seek | StepKind::Advise | StepKind::ReadAhead
    )
}
