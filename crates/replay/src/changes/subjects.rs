//! What a step is about, and what it does to that.

use std::collections::{HashMap, HashSet};

use hotset_facts::replay::{PlanTransfer, ReplayPlan, Step, StepKind};
use hotset_facts::trace::RecordFlags;

/// A step, by the place of its thread and its own in that.
pub(super) type At = (usize, usize);

/// A base page (docs/trace-format.md).
pub(crate) const PAGE_BYTES: u64 = 4096;

/// The slot that a step is about; nothing of an open that failed, nor of a step that copies from one slot to another.
pub(crate) fn slot(plan: &ReplayPlan, step: &Step) -> Option<u32> {
    let slot = match step.kind {
        StepKind::Open
        | StepKind::Close
        | StepKind::Seek
        | StepKind::Read
        | StepKind::ReadAt
        | StepKind::ReadRing
        | StepKind::Write
        | StepKind::WriteAt
        | StepKind::WriteRing
        | StepKind::Send
        | StepKind::Sync
        | StepKind::DataSync
        | StepKind::SyncRange
        | StepKind::SyncRing
        | StepKind::Advise
        | StepKind::ReadAhead
        | StepKind::SetLength
        | StepKind::Allocate => step.target,
        StepKind::Map => plan.mappings.get(step.target as usize)?.slot?,
        _ => return None,
    };
    ((slot as usize) < plan.slots.len()).then_some(slot)
}

/// The slots that a step copies between: from the first to the second.
pub(super) fn copied(plan: &ReplayPlan, step: &Step) -> Option<[u32; 2]> {
    let transfer = transfer(plan, step)?;
    Some([transfer.from, transfer.to])
}

/// What a step copies.
pub(super) fn transfer<'a>(plan: &'a ReplayPlan, step: &Step) -> Option<&'a PlanTransfer> {
    let copies = matches!(step.kind, StepKind::CopyRange | StepKind::SendTo);
    plan.transfers.get(step.target as usize).filter(|_| copies)
}

/// The files that a step copies between: from the first to the second.
pub(super) fn copied_files(plan: &ReplayPlan, step: &Step) -> [Option<u32>; 2] {
    let file = |slot: u32| plan.slots.get(slot as usize)?.file;
    copied(plan, step).map_or([None; 2], |slots| slots.map(file))
}

/// The mapping that a step is about.
pub(super) fn mapping(step: &Step) -> Option<u32> {
    let is_of_mapping = matches!(
        step.kind,
        StepKind::Map
            | StepKind::Unmap
            | StepKind::Load
            | StepKind::Store
            | StepKind::AdviseMapping
            | StepKind::SyncMapping
    );
    is_of_mapping.then_some(step.target)
}

/// The file that a step is about by a slot or a mapping.
pub(crate) fn file(plan: &ReplayPlan, step: &Step) -> Option<u32> {
    match mapping(step) {
        Some(mapping) => Some(plan.mappings.get(mapping as usize)?.file),
        None => plan.slots.get(slot(plan, step)? as usize)?.file,
    }
}

/// The second thing that a step is about, by its place in the plan.
pub(super) fn second(step: &Step) -> u32 {
    u32::try_from(step.offset).unwrap_or(u32::MAX)
}

/// The path that a step looks up or changes, by its place in the plan; of two, the first.
pub(crate) fn path(step: &Step) -> Option<u32> {
    match step.kind {
        StepKind::Open | StepKind::Symlink => Some(second(step)),
        StepKind::Stat
        | StepKind::Lstat
        | StepKind::Access
        | StepKind::ReadLink
        | StepKind::Truncate
        | StepKind::Rename
        | StepKind::Unlink
        | StepKind::Link
        | StepKind::MakeDirectory
        | StepKind::RemoveDirectory => Some(step.target),
        _ => None,
    }
}

/// The paths whose names a step makes, moves or removes.
pub(super) fn changed_names(step: &Step) -> [Option<u32>; 2] {
    if step.result < 0 {
        return [None; 2];
    }
    match step.kind {
        StepKind::Open if step.flags.has(RecordFlags::CREATE) => [Some(second(step)), None],
        StepKind::Unlink | StepKind::MakeDirectory | StepKind::RemoveDirectory => {
            [Some(step.target), None]
        }
        StepKind::Rename | StepKind::Link => [Some(step.target), Some(second(step))],
        StepKind::Symlink => [Some(second(step)), None],
        _ => [None; 2],
    }
}

/// Whether a step changes a file by its name alone, so that it may be any: truncate(2), or an open that empties what no step uses.
pub(super) fn changes_any_file(plan: &ReplayPlan, step: &Step) -> bool {
    match step.kind {
        StepKind::Truncate => true,
        StepKind::Open => step.flags.has(RecordFlags::TRUNCATE) && file(plan, step).is_none(),
        _ => false,
    }
}

/// Whether a step may change bytes or the size of the file that it is about. One that copies is about none: it has two.
pub(super) fn changes_file(plan: &ReplayPlan, step: &Step) -> bool {
    match step.kind {
        StepKind::Write
        | StepKind::WriteAt
        | StepKind::WriteRing
        | StepKind::SetLength
        | StepKind::Allocate => true,
        StepKind::Open => step.flags.has(RecordFlags::TRUNCATE),
        StepKind::Store => {
            let mapping = plan.mappings.get(step.target as usize);
            mapping.is_none_or(|mapping| mapping.is_shared)
        }
        _ => false,
    }
}

/// Whether it uses the position of its slot. One that copies may use that of another.
pub(super) fn uses_position(step: &Step) -> bool {
    matches!(step.kind, StepKind::Read | StepKind::Write)
}

/// Whether it reads bytes by a call that returns how many. A request of io_uring is none: its bytes are there later.
pub(super) fn is_read(step: &Step) -> bool {
    matches!(step.kind, StepKind::Read | StepKind::ReadAt)
}

/// Whether it reads bytes of an open file in whichever way.
pub(super) fn is_any_read(step: &Step) -> bool {
    is_read(step) || step.kind == StepKind::ReadRing
}

/// Whether it writes bytes by a call that returns how many.
pub(super) fn is_write(step: &Step) -> bool {
    matches!(step.kind, StepKind::Write | StepKind::WriteAt)
}

/// Whether it writes bytes to an open file in whichever way, and knows them by itself.
pub(super) fn is_any_write(step: &Step) -> bool {
    is_write(step) || step.kind == StepKind::WriteRing
}

/// Whether it makes a file durable while its thread waits. Of a part of a file, sync_file_range(2) promises nothing; what syncs all files
/// at once is no matter of one.
pub(super) fn is_sync(step: &Step) -> bool {
    match step.kind {
        StepKind::Sync | StepKind::DataSync => true,
        StepKind::SyncMapping => step.flags.has(RecordFlags::WAITED),
        _ => false,
    }
}

/// Bytes that a call moved: 0 of one that failed.
pub(crate) fn moved(step: &Step) -> u64 {
    u64::try_from(step.result).unwrap_or(0)
}

/// Flags without some.
pub(super) fn without(flags: RecordFlags, other: RecordFlags) -> RecordFlags {
    RecordFlags(flags.0 & !other.0)
}

/// All steps, with the place of their thread and theirs in it.
pub(super) fn all_steps(plan: &ReplayPlan) -> impl Iterator<Item = (At, &Step)> {
    plan.threads.iter().enumerate().flat_map(|(thread, list)| {
        list.steps.iter().enumerate().map(move |(place, step)| ((thread, place), step))
    })
}

/// The files that paths were seen to lead to.
pub(super) fn files_by_path(plan: &ReplayPlan) -> HashMap<u32, Vec<u32>> {
    let first = plan.files.iter().zip(0..).filter_map(|(file, place)| Some((file.path?, place)));
    let there = plan.there.iter().filter_map(|name| Some((name.path, name.file?)));
    let opened = all_steps(plan)
        .filter(|(_, step)| step.kind == StepKind::Open)
        .filter_map(|(_, step)| Some((second(step), file(plan, step)?)));
    let mut files: HashMap<u32, Vec<u32>> = HashMap::new();
    for (path, file) in first.chain(there).chain(opened) {
        let known = files.entry(path).or_default();
        if !known.contains(&file) {
            known.push(file);
        }
    }
    files
}

/// Files that are removed behind the last step about them, and have no other name: what is durable of them, nobody finds after a
/// crash.
pub(super) fn removed(plan: &ReplayPlan) -> HashSet<u32> {
    let (mut last, mut unlinked) = (HashMap::new(), HashMap::new());
    let mut moved = HashSet::new();
    for (_, step) in all_steps(plan) {
        let [from, to] = copied_files(plan, step);
        for file in [file(plan, step), from, to].into_iter().flatten() {
            let last: &mut u32 = last.entry(file).or_default();
            *last = step.record.max(*last);
        }
        match step.kind {
            StepKind::Unlink if step.result >= 0 => {
                let when: &mut u32 = unlinked.entry(step.target).or_default();
                *when = step.record.max(*when);
            }
            StepKind::Rename | StepKind::Link => moved.extend([step.target, second(step)]),
            _ => {}
        }
    }
    let files = (0..).zip(&plan.files);
    files
        .filter(|(place, file)| {
            let gone = file.path.filter(|path| !moved.contains(path));
            let gone = gone.and_then(|path| unlinked.get(&path));
            gone.is_some_and(|gone| last.get(place).is_none_or(|last| last < gone))
        })
        .map(|(place, _)| place)
        .collect()
}
