//! Small files that are opened, read and closed.

use std::collections::{HashMap, HashSet};

use hotset_facts::replay::{ReplayPlan, Step, StepKind};
use hotset_facts::trace::RecordFlags;

use crate::changes::subjects::{self, all_steps, is_read, moved};

/// Larger files gain little by standing beside others.
const MOST_BYTES: u64 = 64 << 10;

/// What one thread does to one small file.
#[derive(Debug)]
pub(super) struct Bracket {
    pub(super) thread: usize,
    pub(super) slot: u32,
    pub(super) file: u32,
    /// The record of its open.
    pub(super) record: u32,
    /// The places of its steps, from the open to the close.
    places: Vec<usize>,
    /// Of these, reads.
    pub(super) reads: Vec<usize>,
    /// Places of lookups of its path between.
    asked: Vec<usize>,
}

impl Bracket {
    /// The place of its open.
    pub(super) fn opened(&self) -> usize {
        self.places.first().copied().unwrap_or_default()
    }

    /// The places of all that is not needed with a pack.
    pub(super) fn all(&self) -> impl Iterator<Item = usize> {
        self.places.iter().chain(&self.asked).copied()
    }
}

/// The uses of one slot: by which thread, and at which places; nothing where by several.
type Uses = Option<(usize, Vec<usize>)>;

/// All of them, in the order of their records.
pub(super) fn of(plan: &ReplayPlan) -> Vec<Bracket> {
    let mapped: HashSet<u32> = plan.mappings.iter().filter_map(|mapping| mapping.slot).collect();
    let mut by_slot: HashMap<u32, Uses> = HashMap::new();
    let mut by_path: HashMap<(usize, u32), Vec<usize>> = HashMap::new();
    for ((thread, place), step) in all_steps(plan) {
        let copied = subjects::copied(plan, step).into_iter().flatten();
        by_slot.extend(copied.map(|slot| (slot, None)));
        if let Some(slot) = subjects::slot(plan, step) {
            match by_slot.entry(slot).or_insert_with(|| Some((thread, Vec::new()))) {
                Some((user, places)) if *user == thread => places.push(place),
                uses => *uses = None,
            }
        }
        if matches!(step.kind, StepKind::Stat | StepKind::Lstat | StepKind::Access) {
            by_path.entry((thread, step.target)).or_default().push(place);
        }
    }
    let uses = by_slot.into_iter().filter(|(slot, _)| !mapped.contains(slot));
    let brackets = uses.filter_map(|(slot, uses)| bracket(plan, slot, uses?, &by_path));
    let mut brackets: Vec<Bracket> = brackets.collect();
    brackets.sort_by_key(|bracket| (bracket.record, bracket.thread, bracket.slot));
    brackets
}

fn bracket(
    plan: &ReplayPlan,
    slot: u32,
    (thread, places): (usize, Vec<usize>),
    by_path: &HashMap<(usize, u32), Vec<usize>>,
) -> Option<Bracket> {
    let how = plan.slots.get(slot as usize).filter(|slot| !slot.direct && !slot.writes)?;
    let file = how.file?;
    let size_bytes = small(plan, file)?;
    let steps = &plan.threads.get(thread)?.steps;
    let [first, between @ .., last] = places.as_slice() else { return None };
    let open = steps.get(*first).filter(|step| is_plain_open(step))?;
    let is_closed = steps.get(*last)?.kind == StepKind::Close;
    let is_of_reading =
        |place: &usize| steps.get(*place).is_some_and(|step| is_of_reading(step, size_bytes));
    if !is_closed || how.opened_before.is_some() || !between.iter().all(is_of_reading) {
        return None;
    }
    let is_read = |place: &usize| steps.get(*place).is_some_and(is_read);
    let reads: Vec<usize> = between.iter().copied().filter(is_read).collect();
    let asked = by_path.get(&(thread, subjects::second(open))).map_or(&[][..], Vec::as_slice);
    let is_between = |place: &usize| (*first..*last).contains(place);
    let asked = asked.iter().copied().filter(is_between).collect();
    let record = open.record;
    let has_reads = !reads.is_empty();
    has_reads.then_some(Bracket { thread, slot, file, record, places, reads, asked })
}

/// The size of a file that fits and that nobody changes.
fn small(plan: &ReplayPlan, file: u32) -> Option<u64> {
    let file = plan.files.get(file as usize)?;
    let stays = file.is_there && !file.is_changed;
    let is_small = file.size_bytes <= MOST_BYTES && file.parts.is_empty();
    (stays && is_small).then_some(file.size_bytes)
}

fn is_plain_open(step: &Step) -> bool {
    let makes = step.flags.has(RecordFlags::CREATE) || step.flags.has(RecordFlags::TRUNCATE);
    step.kind == StepKind::Open && step.result >= 0 && !makes
}

/// Whether a step between is a read within the file, or is of use for reading alone.
fn is_of_reading(step: &Step, size_bytes: u64) -> bool {
    match step.kind {
        StepKind::Read | StepKind::ReadAt => {
            let knows_where =
                step.kind == StepKind::ReadAt || step.flags.has(RecordFlags::POSITION);
            let is_within =
                moved(step) == 0 || step.offset.saturating_add(moved(step)) <= size_bytes;
            knows_where && is_within && step.result >= 0
        }
        StepKind::Seek | StepKind::Advise | StepKind::ReadAhead => true,
        _ => false,
    }
}
