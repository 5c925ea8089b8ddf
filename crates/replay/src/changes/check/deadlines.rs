//! Until when a thread needs what it read.

use std::collections::HashMap;

use hotset_facts::replay::{ReplayPlan, Step, StepKind};

use crate::changes::subjects::{is_any_read, is_any_write};

/// Of each step of each old thread: the first new step of the thread that does what came behind the old one, or the number of
/// new steps. Of several steps of one record, the first is for the first, and so on; beside those that move bytes may be
/// others, which are for any of them. A seek comes with the step that it is for.
///
/// A request of io_uring needs nothing of the reads before it: that is what the program promises by making it. The first step of
/// another kind needs all of them.
pub(super) fn of(before: &ReplayPlan, after: &ReplayPlan) -> Vec<Vec<usize>> {
    let deadlines = before.threads.iter().zip(&after.threads).map(|(old, new)| {
        let mut places: HashMap<(u32, bool), Vec<usize>> = HashMap::new();
        for (place, step) in old.steps.iter().enumerate() {
            if !matches!(step.kind, StepKind::Seek | StepKind::Drain) {
                places.entry((step.record, moves(step))).or_default().push(place);
            }
        }
        let mut taken: HashMap<(u32, bool), usize> = HashMap::new();
        let mut deadlines = vec![new.steps.len(); old.steps.len()];
        let needs =
            |(_, step): &(usize, &Step)| !matches!(step.kind, StepKind::ReadRing | StepKind::Drain);
        for (at, step) in new.steps.iter().enumerate().filter(needs) {
            let key = (step.record, moves(step));
            let like = places.get(&key).or_else(|| places.get(&(step.record, !key.1)));
            let like = like.map_or(&[][..], Vec::as_slice);
            let taken = taken.entry(key).or_default();
            let own = like.get(*taken).or(like.last()).copied().unwrap_or(0);
            *taken += usize::from(step.kind != StepKind::Seek);
            for deadline in &mut deadlines[..own] {
                *deadline = at.min(*deadline);
            }
        }
        deadlines
    });
    deadlines.collect()
}

fn moves(step: &Step) -> bool {
    is_any_read(step) || is_any_write(step) || matches!(step.kind, StepKind::Load | StepKind::Store)
}
