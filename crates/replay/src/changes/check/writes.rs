//! Which of the old writes a new one does.

use std::collections::{HashMap, VecDeque};

use hotset_facts::replay::ReplayPlan;

use super::Violation;
use crate::changes::subjects::{self, is_any_write, moved};

/// How many bytes a write writes for which records, one behind the other: by its thread and place.
pub(super) type Parts = HashMap<(usize, usize), Vec<(u64, u32)>>;

/// Each write for its own record.
pub(super) fn as_they_are(plan: &ReplayPlan) -> Parts {
    let writes =
        subjects::all_steps(plan).filter(|(_, step)| is_any_write(step) && step.result > 0);
    writes.map(|(at, step)| (at, vec![(moved(step), step.record)])).collect()
}

/// Gives each new write the old ones of its thread and file that it is for: as many as it has bytes, from its record on. None may
/// be left out, nor come before one that it came behind.
pub(super) fn parts(before: &ReplayPlan, after: &ReplayPlan) -> Result<Parts, Violation> {
    let mut parts = Parts::new();
    for (thread, (old, new)) in before.threads.iter().zip(&after.threads).enumerate() {
        let mut left: HashMap<Option<u32>, VecDeque<(u64, u32)>> = HashMap::new();
        for step in old.steps.iter().filter(|step| is_any_write(step) && step.result > 0) {
            let file = subjects::file(before, step);
            left.entry(file).or_default().push_back((moved(step), step.record));
        }
        for (place, step) in new.steps.iter().enumerate() {
            if !is_any_write(step) || step.result <= 0 {
                continue;
            }
            let wrong = Violation::Written { record: step.record };
            let queue = left.entry(subjects::file(after, step)).or_default();
            if queue.front().is_none_or(|(_, record)| *record != step.record) {
                return Err(wrong);
            }
            let (mut own, mut bytes) = (Vec::new(), 0);
            while bytes < moved(step) {
                let Some(part) = queue.pop_front() else { return Err(wrong) };
                bytes += part.0;
                own.push(part);
            }
            if bytes != moved(step) {
                return Err(wrong);
            }
            parts.insert((thread, place), own);
        }
        if let Some((_, record)) = left.values().find_map(|queue| queue.front()) {
            return Err(Violation::Written { record: *record });
        }
    }
    Ok(parts)
}
