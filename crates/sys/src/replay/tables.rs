//! Which threads of a replay can have a table of descriptors of their own.
//!
//! Most programs have one thread. In a process with several, the kernel counts who uses a file in each call, and locks its position: tens of
//! nanoseconds that such a program never spent. A thread of a replay that shares no description with another is therefore parted
//! from their table, as processes are.

use hotset_facts::replay::{ReplayPlan, Step, StepKind};

/// Whether each thread uses descriptions that no other uses.
pub(super) fn alone(plan: &ReplayPlan) -> Vec<bool> {
    const NOBODY: usize = usize::MAX;
    const SEVERAL: usize = usize::MAX - 1;
    let mut users = vec![NOBODY; plan.slots.len()];
    let all = || {
        plan.threads.iter().enumerate().flat_map(|(at, thread)| {
            thread.steps.iter().flat_map(move |step| slots(plan, step)).map(move |slot| (at, slot))
        })
    };
    for (at, slot) in all() {
        if let Some(user) = users.get_mut(slot as usize) {
            *user = if *user == NOBODY || *user == at { at } else { SEVERAL };
        }
    }
    let mut alone = vec![true; plan.threads.len()];
    for (at, slot) in all() {
        let is_shared = users.get(slot as usize) == Some(&SEVERAL);
        if let Some(alone) = alone.get_mut(at).filter(|_| is_shared) {
            *alone = false;
        }
    }
    alone
}

/// The descriptions that a thread uses, as often as it does.
pub(super) fn of_thread(plan: &ReplayPlan, at: usize) -> impl Iterator<Item = u32> + '_ {
    let steps = plan.threads.get(at).map_or(&[][..], |thread| &thread.steps);
    steps.iter().flat_map(|step| slots(plan, step))
}

/// The descriptions that a step is about.
fn slots(plan: &ReplayPlan, step: &Step) -> impl Iterator<Item = u32> + use<> {
    let mapping = |place: u32| plan.mappings.get(place as usize)?.slot;
    let [first, second] = match step.kind {
        StepKind::CopyRange | StepKind::SendTo => {
            let transfer = plan.transfers.get(step.target as usize);
            transfer.map_or([None; 2], |of| [Some(of.from), Some(of.to)])
        }
        StepKind::Map => [mapping(step.target), None],
        StepKind::Unmap
        | StepKind::AdviseMapping
        | StepKind::SyncMapping
        | StepKind::Load
        | StepKind::Store
        | StepKind::Drain
        | StepKind::SyncAll
        | StepKind::Truncate
        | StepKind::Stat
        | StepKind::Lstat
        | StepKind::Access
        | StepKind::ReadLink
        | StepKind::Rename
        | StepKind::Unlink
        | StepKind::Link
        | StepKind::Symlink
        | StepKind::MakeDirectory
        | StepKind::RemoveDirectory => [None, None],
        _ => [Some(step.target), None],
    };
    let count = plan.slots.len();
    first.into_iter().chain(second).filter(move |slot| (*slot as usize) < count)
}

/// Parts the calling thread from the table that it shares; whether it did.
pub(super) fn part() -> bool {
    // SAFETY: takes a number; of what the threads of this process share, it parts only the table of descriptors.
    unsafe { libc::unshare(libc::CLONE_FILES) == 0 }
}
