//! `mmap`: files are mapped and their pages touched.

use std::collections::{HashMap, HashSet};

use hotset_facts::replay::{FileRole, PlanMapping, ReplayPlan, Step, StepKind};
use hotset_facts::trace::RecordFlags;

use super::rewrite::{self, Rewrite, number};
use super::subjects::{self, PAGE_BYTES, all_steps, is_read, moved};
use super::{Change, Given, Made};

/// Reads become loads from a mapping of the whole file.
pub(super) const CHANGE: Change = Change {
    name: "mmap",
    argument: None,
    summary: "Map each file after opening it instead of reading it",
    programmer: "Map the file with mmap after opening it and use its bytes in place: in Python, the module mmap; in \
                 Rust, memmap2; in Java, FileChannel.map.",
    risks: Some(
        "A file that another program truncates kills the program with SIGBUS, and a page fault blocks a thread where a \
         read could be made elsewhere. The copy that read makes is not part of the comparison.",
    ),
    syncs_less: false,
    make,
};

fn make(plan: &ReplayPlan, _: &Given<'_>) -> Made {
    let slots = readable(plan);
    let mut mappings = plan.mappings.clone();
    let mut places: HashMap<u32, u32> = HashMap::new();
    for (place, slot) in (0..).zip(&plan.slots).filter(|(place, _)| slots.contains(place)) {
        let Some(file) = slot.file else { continue };
        let bytes = plan.files.get(file as usize).map_or(0, |file| file.size_bytes);
        let is_made_before = slot.opened_before.is_some();
        places.insert(place, number(mappings.len()));
        mappings.push(PlanMapping {
            file,
            slot: (!is_made_before).then_some(place),
            offset: 0,
            bytes,
            is_shared: true,
            is_writable: false,
            is_made_before,
        });
    }
    let mut affected = 0;
    let threads = plan.threads.iter().map(|list| {
        let mut new = Rewrite::new(list);
        for step in &list.steps {
            let slot = subjects::slot(plan, step).filter(|_| subjects::mapping(step).is_none());
            let mapping = slot.and_then(|slot| places.get(&slot).copied());
            let steps = mapping.and_then(|mapping| instead(&mappings, mapping, step));
            affected += u64::from(is_read(step) && mapping.is_some());
            new.becomes(steps.as_deref().unwrap_or(std::slice::from_ref(step)));
        }
        new
    });
    let threads = rewrite::finish(threads.collect());
    if affected == 0 {
        return Err(
            "no open file is only read, through the page cache and within a known size".to_owned()
        );
    }
    Ok((ReplayPlan { mappings, ..rewrite::with_threads(plan, threads) }, affected))
}

/// What a step on a slot becomes that this mapping is made of; nothing where it stays.
fn instead(mappings: &[PlanMapping], place: u32, step: &Step) -> Option<Vec<Step>> {
    let mapping = mappings.get(place as usize)?;
    let of_mapping = |kind| Step::new(kind, place, step.record);
    let steps = match step.kind {
        StepKind::Open => vec![*step, Step { bytes: mapping.bytes, ..of_mapping(StepKind::Map) }],
        StepKind::Close if !mapping.is_made_before => vec![of_mapping(StepKind::Unmap), *step],
        StepKind::Seek => Vec::new(),
        StepKind::Read | StepKind::ReadAt => {
            let pages = step.offset / PAGE_BYTES
                ..step.offset.saturating_add(moved(step)).div_ceil(PAGE_BYTES);
            // A clock around each would take as long as what a load from a page that is there takes.
            let load =
                |page| Step { offset: page * PAGE_BYTES, bytes: 1, ..of_mapping(StepKind::Load) };
            // Nothing is loaded where nothing was read.
            if moved(step) == 0 { Vec::new() } else { pages.map(load).collect() }
        }
        _ => return None,
    };
    Some(steps)
}

/// Slots of files that stay as they are, of which all reads are within the file and no position matters but to them.
fn readable(plan: &ReplayPlan) -> HashSet<u32> {
    let mut bytes: HashMap<u32, Option<u64>> = HashMap::new();
    let mut opened = HashSet::new();
    for (_, step) in all_steps(plan) {
        match step.kind {
            StepKind::CopyRange | StepKind::SendTo => {
                let slots = subjects::copied(plan, step);
                bytes.extend(slots.into_iter().flatten().map(|slot| (slot, None)));
            }
            StepKind::Write
            | StepKind::WriteAt
            | StepKind::ReadRing
            | StepKind::WriteRing
            | StepKind::Send => {
                bytes.insert(step.target, None);
            }
            StepKind::Open => {
                opened.insert(step.target);
            }
            StepKind::Read | StepKind::ReadAt => {
                let knows_where =
                    !subjects::uses_position(step) || step.flags.has(RecordFlags::POSITION);
                let is_within = step.offset.saturating_add(moved(step)) <= size(plan, step.target);
                let known = bytes.entry(step.target).or_insert(Some(0));
                *known = known
                    .filter(|_| knows_where && is_within && step.result >= 0)
                    .map(|known| known.saturating_add(moved(step)));
            }
            _ => {}
        }
    }
    let is_eligible = |place: &u32| {
        plan.slots.get(*place as usize).is_some_and(|slot| {
            let file = slot.file.and_then(|file| plan.files.get(file as usize));
            let is_original =
                file.is_some_and(|file| file.role == FileRole::Original && file.path.is_some());
            let is_open = slot.opened_before.is_some() || opened.contains(place);
            is_original && is_open && !slot.direct && !slot.writes
        })
    };
    let read = bytes.into_iter().filter(|(_, bytes)| bytes.is_some_and(|bytes| bytes > 0));
    read.map(|(slot, _)| slot).filter(is_eligible).collect()
}

/// The size of a slot's file before the first step.
fn size(plan: &ReplayPlan, slot: u32) -> u64 {
    let file = plan.slots.get(slot as usize).and_then(|slot| slot.file);
    file.and_then(|file| plan.files.get(file as usize)).map_or(0, |file| file.size_bytes)
}

#[cfg(test)]
mod tests;
