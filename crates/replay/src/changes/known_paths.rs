//! `known-paths`: nobody asks for what is not there.

use std::collections::HashMap;

use hotset_facts::replay::{FileRole, ReplayPlan, Step, StepKind};
use hotset_facts::trace::RecordFlags;

use super::rewrite::{self, Rewrite};
use super::subjects::{self, all_steps};
use super::{Change, Given, Made};

/// Lookups that fail are left out.
pub(super) const CHANGE: Change = Change {
    name: "known-paths",
    argument: None,
    summary: "Skip path lookups that fail because nothing is there",
    programmer: "Remove directories without results from the search path (PATH, PYTHONPATH, LD_LIBRARY_PATH, -I), move \
                 those with results first, or cache resolved paths.",
    risks: Some(
        "A file that appears later in a directory that is not searched any more is not found.",
    ),
    syncs_less: false,
    make,
};

const ENOENT: i64 = 2;
const ENOTDIR: i64 = 20;

fn make(plan: &ReplayPlan, _: &Given<'_>) -> Made {
    let changed = first_changes(plan);
    let mut dropped = 0;
    let threads = plan.threads.iter().map(|thread| {
        let mut new = Rewrite::new(thread);
        for step in &thread.steps {
            let is_dropped = is_failed_lookup(step) && !may_have_changed(plan, step, &changed);
            dropped += u64::from(is_dropped);
            new.becomes(if is_dropped { &[] } else { std::slice::from_ref(step) });
        }
        new
    });
    let threads = rewrite::finish(threads.collect());
    if dropped == 0 {
        return Err(
            "no lookup fails because nothing is there, except of paths that the program changes"
                .to_owned(),
        );
    }
    Ok((rewrite::with_threads(plan, threads), dropped))
}

fn is_failed_lookup(step: &Step) -> bool {
    let looks_up = match step.kind {
        StepKind::Stat | StepKind::Lstat | StepKind::Access | StepKind::ReadLink => true,
        StepKind::Open => {
            !step.flags.has(RecordFlags::CREATE) && !step.flags.has(RecordFlags::TRUNCATE)
        }
        _ => false,
    };
    looks_up && matches!(-step.result, ENOENT | ENOTDIR)
}

/// Paths that steps make, move or remove, and the first record that does it.
fn first_changes(plan: &ReplayPlan) -> HashMap<&[u8], u32> {
    let mut changed: HashMap<&[u8], u32> = HashMap::new();
    for (_, step) in all_steps(plan) {
        for path in subjects::changed_names(step).into_iter().flatten() {
            let Some(path) = plan.paths.get(path as usize) else { continue };
            let first = changed.entry(&path.bytes).or_insert(step.record);
            *first = step.record.min(*first);
        }
    }
    changed
}

/// Whether a step before may have made or removed a path, or a directory above it. Of an original, nobody does.
fn may_have_changed(plan: &ReplayPlan, step: &Step, changed: &HashMap<&[u8], u32>) -> bool {
    let path = subjects::path(step).and_then(|path| plan.paths.get(path as usize));
    let Some(path) = path else { return true };
    if path.role == FileRole::Original {
        return false;
    }
    let is_before = |path: &[u8]| changed.get(path).is_some_and(|record| *record < step.record);
    let mut ends = path.bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    is_before(&path.bytes) || ends.any(|(end, _)| path.bytes.get(..end).is_some_and(is_before))
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::{Operation, RecordFlags};

    use crate::build::testing::Trace;
    use crate::changes::plan_text::{after, why_not};

    #[test]
    fn lookups_that_find_nothing_are_left_out() {
        let mut trace = Trace::default();
        let one = (trace.process(1, None), 1);
        trace.on_path(Operation::Openat, one, "/a/lib", -2);
        trace.on_path(Operation::Stat, one, "/b/lib", -2);
        trace.on_path(Operation::Lstat, one, "/c/lib/x", -20);
        trace.on_path(Operation::Access, one, "/d/lib", -2);
        trace.on_path(Operation::Readlink, one, "/e/lib", -2);
        trace.on_path(Operation::Stat, one, "/loop", -40);
        trace.on_path(Operation::Stat, one, "/f/lib", 0);
        let text = after(&trace.plan(), "known-paths");
        assert_eq!(text, "thread 0\n  stat 5 @0+0=-40 #5\n  stat 6 @0+0=0 #6\n");
    }

    #[test]
    fn what_the_program_changes_it_has_to_ask_for() {
        let mut trace = Trace::default();
        let one = (trace.process(1, None), 1);
        trace.on_path(Operation::Openat, one, "/d/x/log", -2).flags = RecordFlags::CREATE;
        trace.on_path(Operation::Stat, one, "/d/x", -2);
        trace.on_path(Operation::Mkdir, one, "/d/x", 0);
        trace.on_path(Operation::Stat, one, "/d/x/y", -2);
        trace.on_path(Operation::Rmdir, one, "/d/x", 0);
        trace.on_path(Operation::Stat, one, "/d/x", -2);
        let text = after(&trace.plan(), "known-paths");
        let kept: Vec<u32> = [0, 1, 2, 3, 4, 5]
            .into_iter()
            .filter(|record| text.contains(&format!("#{record}")))
            .collect();
        assert_eq!(kept, [0, 2, 3, 4, 5], "only the first could be known");
    }

    #[test]
    fn where_all_is_found_there_is_nothing_to_skip() {
        let mut trace = Trace::default();
        let one = (trace.process(1, None), 1);
        trace.on_path(Operation::Stat, one, "/a", 0);
        let why = why_not(&trace.plan(), "known-paths");
        assert!(why.contains("no lookup fails because nothing is there"), "{why}");
    }
}
