//! `pread`: calls that say where they read, in place of a position and of mappings.

use std::collections::{HashMap, HashSet};

use hotset_facts::replay::{FileRole, PlanMapping, PlanSlot, ReplayPlan, Step, StepKind};
use hotset_facts::trace::RecordFlags;

use super::rewrite::{self, Rewrite, number};
use super::subjects::{self, At, PAGE_BYTES, all_steps, without};
use super::{Change, Given, Made};

/// Seeks and mappings become reads at an offset.
pub(super) const CHANGE: Change = Change {
    name: "pread",
    argument: None,
    summary: "Read with pread instead of lseek and read, or of mappings",
    programmer: "Call pread with the offset: one call instead of lseek and read. Instead of mapping a file, pread the \
                 4096-byte pages that are used; in Rust, FileExt::read_at; in Go, File.ReadAt; in Python, os.pread.",
    risks: Some(
        "Each use of a mapped page becomes a call that copies it; keep what is used often.",
    ),
    syncs_less: false,
    make,
};

/// Where a mapping or a slot begins and ends.
#[derive(Debug, Default, Clone, Copy)]
struct Span {
    begins: Option<At>,
    ends: Option<At>,
}

/// What becomes of what.
#[derive(Debug, Default)]
struct Becomes {
    /// Slots whose reads say where.
    positioned: HashSet<u32>,
    /// Mappings that are made no more, and the slots that are read instead.
    mappings: HashMap<u32, u32>,
    /// Slots that are closed no more where they were.
    kept: HashSet<u32>,
    /// Slots that are closed instead where a mapping was unmapped.
    closes: HashMap<At, u32>,
    /// Slots that no step opens.
    new: Vec<PlanSlot>,
}

fn make(plan: &ReplayPlan, _: &Given<'_>) -> Made {
    let mut becomes = Becomes { positioned: seeking(plan), ..Becomes::default() };
    mappings(plan, &mut becomes);
    let mut affected = 0;
    let threads = plan.threads.iter().enumerate().map(|(thread, list)| {
        let mut new = Rewrite::new(list);
        for (place, step) in list.steps.iter().enumerate() {
            let steps = instead(plan, &becomes, (thread, place), step);
            affected += u64::from(steps.is_some());
            new.becomes(steps.as_deref().unwrap_or(std::slice::from_ref(step)));
        }
        new
    });
    let threads = rewrite::finish(threads.collect());
    if affected == 0 {
        return Err("no file is read after lseek, or by a mapping that nobody stores into, whose file nobody changes".to_owned());
    }
    let mut new = rewrite::with_threads(plan, threads);
    new.slots.append(&mut becomes.new);
    Ok((new, affected))
}

/// What a step becomes; nothing where it stays.
fn instead(plan: &ReplayPlan, becomes: &Becomes, at: At, step: &Step) -> Option<Vec<Step>> {
    let slot = subjects::mapping(step).and_then(|mapping| becomes.mappings.get(&mapping).copied());
    let steps = match (step.kind, slot) {
        (StepKind::Seek, _) if becomes.positioned.contains(&step.target) => Vec::new(),
        (StepKind::Read, _) if becomes.positioned.contains(&step.target) => {
            let flags = without(step.flags, RecordFlags::POSITION);
            vec![Step { kind: StepKind::ReadAt, flags, ..*step }]
        }
        (StepKind::Close, _) if becomes.kept.contains(&step.target) => Vec::new(),
        (StepKind::Load, Some(slot)) => {
            let file = subjects::file(plan, step).and_then(|file| plan.files.get(file as usize));
            let left = file.map_or(0, |file| file.size_bytes.saturating_sub(step.offset));
            let result = left.min(PAGE_BYTES).cast_signed();
            let read = Step::new(StepKind::ReadAt, slot, step.record);
            vec![Step { offset: step.offset, bytes: PAGE_BYTES, result, ..read }]
        }
        (StepKind::AdviseMapping, Some(slot)) => {
            // Others have no like for descriptors.
            let known = [RecordFlags::SEQUENTIAL, RecordFlags::RANDOM, RecordFlags::WILLNEED];
            let advise = Step { kind: StepKind::Advise, target: slot, ..*step };
            known.iter().any(|flag| step.flags.has(*flag)).then_some(advise).into_iter().collect()
        }
        (StepKind::Unmap, Some(_)) => {
            let closed = becomes.closes.get(&at);
            let close = closed.map(|slot| Step::new(StepKind::Close, *slot, step.record));
            close.into_iter().collect()
        }
        (StepKind::Map, Some(_)) => Vec::new(),
        _ => return None,
    };
    Some(steps)
}

/// Slots that are read where a step set their position, and whose position nothing else needs.
fn seeking(plan: &ReplayPlan) -> HashSet<u32> {
    let (mut seeking, mut others) = (HashSet::new(), HashSet::new());
    for (_, step) in all_steps(plan) {
        match step.kind {
            StepKind::Seek => {
                seeking.insert(step.target);
            }
            StepKind::Read if step.flags.has(RecordFlags::POSITION) => {}
            StepKind::CopyRange | StepKind::SendTo => {
                others.extend(subjects::copied(plan, step).into_iter().flatten());
            }
            _ if subjects::uses_position(step) => {
                others.insert(step.target);
            }
            _ => {}
        }
    }
    seeking.retain(|slot| !others.contains(slot));
    seeking
}

/// Where slots and mappings begin and end, and which mappings are used otherwise than by loads.
#[derive(Debug, Default)]
struct Uses {
    slots: HashMap<u32, Span>,
    mappings: HashMap<u32, Span>,
    loads: HashSet<u32>,
    others: HashSet<u32>,
}

fn uses(plan: &ReplayPlan) -> Uses {
    let mut uses = Uses::default();
    for (at, step) in all_steps(plan) {
        let target = step.target;
        match step.kind {
            StepKind::Open => uses.slots.entry(target).or_default().begins = Some(at),
            StepKind::Close => uses.slots.entry(target).or_default().ends = Some(at),
            StepKind::Map => uses.mappings.entry(target).or_default().begins = Some(at),
            StepKind::Unmap => uses.mappings.entry(target).or_default().ends = Some(at),
            StepKind::Load => {
                uses.loads.insert(target);
                let file =
                    subjects::file(plan, step).and_then(|file| plan.files.get(file as usize));
                if file.is_none_or(|file| step.offset >= file.size_bytes) {
                    uses.others.insert(target);
                }
            }
            StepKind::Store | StepKind::SyncMapping => {
                uses.others.insert(target);
            }
            _ => {}
        }
    }
    uses
}

/// Which mappings are read by calls instead. A slot has to be open as long as its mappings were there.
fn mappings(plan: &ReplayPlan, becomes: &mut Becomes) {
    let uses = uses(plan);
    let mut last_unmap: HashMap<u32, Option<At>> = HashMap::new();
    for (place, mapping) in (0..).zip(&plan.mappings) {
        let file = plan.files.get(mapping.file as usize);
        let is_original = file.is_some_and(|file| file.role == FileRole::Original);
        let is_read = uses.loads.contains(&place) && !uses.others.contains(&place);
        if !is_read || !is_original || (mapping.is_shared && mapping.is_writable) {
            continue;
        }
        if mapping.is_made_before {
            let Some(path) = file.and_then(|file| file.path) else { continue };
            becomes.mappings.insert(place, number(plan.slots.len() + becomes.new.len()));
            becomes.new.push(reading(mapping.file, path));
        } else if let Some((slot, unmap)) = readable(plan, &uses, place, mapping) {
            becomes.mappings.insert(place, slot);
            let closed = uses.slots.get(&slot).and_then(|span| span.ends);
            if closed.is_some() && (unmap.is_none() || unmap > closed) {
                becomes.kept.insert(slot);
                let last = last_unmap.entry(slot).or_insert(unmap);
                // None is the end of all.
                *last = last.zip(unmap).map(|(one, other)| one.max(other));
            }
        }
    }
    let closes = last_unmap.into_iter().filter_map(|(slot, at)| Some((at?, slot)));
    becomes.closes.extend(closes);
}

/// The slot that a mapping is made of, and where it is unmapped, if one thread does all that begins and ends them: then
/// whatever waits for one of these steps waits for those before it too.
fn readable(
    plan: &ReplayPlan,
    uses: &Uses,
    place: u32,
    mapping: &PlanMapping,
) -> Option<(u32, Option<At>)> {
    let of = mapping.slot?;
    let slot = plan.slots.get(of as usize).filter(|slot| !slot.direct)?;
    let mapped = uses.mappings.get(&place)?;
    let opened = uses.slots.get(&of).copied().unwrap_or_default();
    let (thread, _) = mapped.begins?;
    let is_opened = opened.begins.is_some() || slot.opened_before.is_some();
    let all = [opened.begins, opened.ends, mapped.ends];
    let is_alone = all.into_iter().flatten().all(|(other, _)| other == thread);
    (is_opened && is_alone).then_some((of, mapped.ends))
}

/// A slot that a file is read by, opened before the first step.
fn reading(file: u32, path: u32) -> PlanSlot {
    PlanSlot {
        file: Some(file),
        opened_before: Some(path),
        writes: false,
        direct: false,
        append: false,
        sync: false,
    }
}

#[cfg(test)]
mod tests;
