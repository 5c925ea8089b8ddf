//! Who moves the position of an open file.

use std::collections::HashMap;

use hotset_facts::replay::{ReplayPlan, StepKind};
use hotset_facts::trace::RecordFlags;

use super::subjects::{self, all_steps};

/// The slots whose position one thread alone uses and moves, and where that is known each time; with the place of the thread.
/// What writes at the end of its file is none of them.
pub(super) fn of_one_thread(plan: &ReplayPlan) -> HashMap<u32, usize> {
    let mut users: HashMap<u32, Option<usize>> = HashMap::new();
    for ((thread, _), step) in all_steps(plan) {
        let knows_where = match step.kind {
            StepKind::Read | StepKind::Write => step.flags.has(RecordFlags::POSITION),
            StepKind::Seek => true,
            StepKind::CopyRange | StepKind::SendTo => {
                let slots = subjects::copied(plan, step);
                users.extend(slots.into_iter().flatten().map(|slot| (slot, None)));
                continue;
            }
            _ => continue,
        };
        let user = users.entry(step.target).or_insert(Some(thread));
        *user = user.filter(|user| *user == thread && knows_where);
    }
    let is_plain = |slot: u32| plan.slots.get(slot as usize).is_some_and(|slot| !slot.append);
    let known = users.into_iter().filter_map(|(slot, user)| Some((slot, user?)));
    known.filter(|(slot, _)| is_plain(*slot)).collect()
}
