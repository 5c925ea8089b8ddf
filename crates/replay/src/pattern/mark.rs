//! A step as a picture shows it.

use hotset_facts::replay::{PatternKind, PatternMark, ReplayPlan, Step, StepKind};
use hotset_facts::trace::RecordFlags;

use super::lanes::Name;
use crate::changes::subjects::{self, PAGE_BYTES, moved};

const ENOENT: i64 = 2;
const ENOTDIR: i64 = 20;

/// A mark with the name of its lane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawn<'a> {
    pub(super) mark: PatternMark,
    pub(super) name: Option<Name<'a>>,
    /// It is in flight while the thread goes on.
    pub(super) flies: bool,
}

/// Whether the program did it, or would: a seek is there for the plan's sake, and so is waiting for what is in flight.
pub(super) fn is_drawn(step: &Step) -> bool {
    !matches!(step.kind, StepKind::Seek | StepKind::Drain)
}

/// Whether a step goes past the page cache.
pub(super) fn is_direct(plan: &ReplayPlan, step: &Step) -> bool {
    let slot = subjects::slot(plan, step).and_then(|slot| plan.slots.get(slot as usize));
    step.flags.has(RecordFlags::DIRECT) || slot.is_some_and(|slot| slot.direct)
}

pub(super) fn draw<'a>(plan: &'a ReplayPlan, step: &Step) -> Drawn<'a> {
    let kind = kind(step);
    let (offset, bytes) = range(step);
    let moves = matches!(kind, PatternKind::Read | PatternKind::Write | PatternKind::Open);
    let mark = PatternMark {
        record: step.record,
        kind,
        step: step.kind,
        lane: None,
        offset,
        bytes,
        direct: moves && is_direct(plan, step),
    };
    Drawn { mark, name: Name::of(plan, step), flies: step.kind == StepKind::ReadRing }
}

fn kind(step: &Step) -> PatternKind {
    let found_nothing = matches!(-step.result, ENOENT | ENOTDIR);
    match step.kind {
        StepKind::Read
        | StepKind::ReadAt
        | StepKind::ReadRing
        | StepKind::Load
        | StepKind::Send
        | StepKind::CopyRange => PatternKind::Read,
        StepKind::Write | StepKind::WriteAt | StepKind::Store => PatternKind::Write,
        StepKind::Sync | StepKind::DataSync | StepKind::SyncMapping => PatternKind::Sync,
        StepKind::Open
        | StepKind::Stat
        | StepKind::Lstat
        | StepKind::Access
        | StepKind::ReadLink
            if found_nothing =>
        {
            PatternKind::FailedLookup
        }
        StepKind::Open => PatternKind::Open,
        StepKind::Close => PatternKind::Close,
        StepKind::Stat | StepKind::Lstat | StepKind::Access | StepKind::ReadLink => {
            PatternKind::Lookup
        }
        StepKind::Advise | StepKind::ReadAhead | StepKind::AdviseMapping => PatternKind::Hint,
        StepKind::Map | StepKind::Unmap => PatternKind::Map,
        _ => PatternKind::Change,
    }
}

/// Where in the file, and how many bytes.
fn range(step: &Step) -> (Option<u64>, Option<u64>) {
    match step.kind {
        StepKind::Read
        | StepKind::ReadAt
        | StepKind::ReadRing
        | StepKind::Write
        | StepKind::WriteAt => (Some(step.offset), Some(moved(step))),
        StepKind::Load | StepKind::Store => (Some(step.offset), Some(PAGE_BYTES)),
        StepKind::Advise | StepKind::ReadAhead => (Some(step.offset), Some(step.bytes)),
        // Where a copy begins, the positions of both files say.
        StepKind::Send | StepKind::CopyRange => (None, Some(moved(step))),
        _ => (None, None),
    }
}
