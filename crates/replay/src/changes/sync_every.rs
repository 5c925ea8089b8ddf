//! `sync-every=N`: groups of writes are committed together.

use std::collections::{HashMap, HashSet};

use hotset_facts::replay::{ReplayPlan, Step, StepKind};

use super::rewrite::{self, Rewrite};
use super::subjects::{self, At, all_steps};
use super::{Argument, Change, Given, Made};

/// Of N syncs in a row, one.
pub(super) const CHANGE: Change = Change {
    name: "sync-every",
    argument: Some(Argument::Count),
    summary: "Keep one of N syncs of each file, and the last",
    programmer: "Call fsync, fdatasync or msync once per N records instead of after each; in SQL, put N statements into one \
                 transaction.",
    risks: Some(
        "A crash of the system then loses up to N - 1 records that the program believes to be stored.",
    ),
    syncs_less: true,
    make,
};

/// What is synced. A file is the same by whatever description or mapping; files that are removed, as the journal of each
/// transaction is, count together by their path, and so does a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Synced {
    File(u32),
    Path(u32),
    Slot(u32),
}

/// What tells what is synced.
struct Names<'a> {
    plan: &'a ReplayPlan,
    removed: HashSet<u32>,
    /// The path that each slot without a file was opened by.
    opened: HashMap<u32, u32>,
}

impl<'a> Names<'a> {
    fn of(plan: &'a ReplayPlan) -> Self {
        let opens = all_steps(plan).filter(|(_, step)| step.kind == StepKind::Open);
        let opened = opens.map(|(_, step)| (step.target, subjects::second(step)));
        let before = (0..).zip(&plan.slots);
        let before = before.filter_map(|(slot, of)| Some((slot, of.opened_before?)));
        Self { plan, removed: subjects::removed(plan), opened: opened.chain(before).collect() }
    }

    fn synced(&self, step: &Step) -> Option<Synced> {
        if !subjects::is_sync(step) || step.result < 0 {
            return None;
        }
        let Some(file) = subjects::file(self.plan, step) else {
            let path = self.opened.get(&step.target);
            return Some(path.map_or(Synced::Slot(step.target), |path| Synced::Path(*path)));
        };
        let path = self.plan.files.get(file as usize).and_then(|file| file.path);
        let path = path.filter(|_| self.removed.contains(&file));
        Some(path.map_or(Synced::File(file), Synced::Path))
    }
}

fn make(plan: &ReplayPlan, given: &Given<'_>) -> Made {
    let names = Names::of(plan);
    let mut syncs: HashMap<Synced, Vec<(u32, At)>> = HashMap::new();
    for (at, step) in all_steps(plan) {
        if let Some(synced) = names.synced(step) {
            syncs.entry(synced).or_default().push((step.record, at));
        }
    }
    let mut dropped = HashSet::new();
    for list in syncs.values_mut() {
        list.sort_unstable();
        // The last stays, so that nothing that was durable in the end is not.
        let others = list.split_last().map_or(&[][..], |(_, others)| others);
        let is_dropped = |(number, _): &(u64, _)| !number.is_multiple_of(given.value);
        dropped.extend((1_u64..).zip(others).filter(is_dropped).map(|(_, (_, at))| *at));
    }
    if dropped.is_empty() {
        return Err("no file is synced more than once".to_owned());
    }
    let threads = plan.threads.iter().enumerate().map(|(thread, list)| {
        let mut new = Rewrite::new(list);
        for (place, step) in list.steps.iter().enumerate() {
            let is_dropped = dropped.contains(&(thread, place));
            new.becomes(if is_dropped { &[] } else { std::slice::from_ref(step) });
        }
        new
    });
    let threads = rewrite::finish(threads.collect());
    Ok((rewrite::with_threads(plan, threads), dropped.len() as u64))
}

#[cfg(test)]
mod tests {
    use hotset_facts::replay::StepKind;
    use hotset_facts::trace::{Operation, RecordFlags};

    use crate::build::testing::Trace;
    use crate::changes::plan_text::{after, why_not};
    use crate::changes::{apply, parse};

    /// A log that is synced after each record, by two threads in turn.
    fn log(records: u64) -> Trace {
        let mut trace = Trace::default();
        let process = trace.process(1, None);
        let file = trace.file("/log", 0);
        for at in 0..records {
            let one = (process, 1 + (at % 2) as u32);
            trace.on_file(Operation::Pwrite, one, ("/log", file, 1), (at * 10, 10));
            trace.on_file(Operation::Fdatasync, one, ("/log", file, 1), (0, 0));
        }
        trace
    }

    #[test]
    fn one_of_n_syncs_stays_and_the_last() {
        for (asked, kept) in [
            ("sync-every=2", vec![3, 7, 11, 13]),
            ("sync-every=3", vec![5, 11, 13]),
            ("sync-every=100", vec![13]),
        ] {
            let changed = apply(&log(7).plan(), &[parse(asked).expect("a change")]).expect("less");
            let steps = changed.plan.threads.iter().flat_map(|thread| &thread.steps);
            let syncs = steps.filter(|step| step.kind == StepKind::DataSync);
            let mut records: Vec<u32> = syncs.map(|step| step.record).collect();
            records.sort_unstable();
            assert_eq!(records, kept, "{asked}");
            assert_eq!(changed.applied[0].affected, 7 - kept.len() as u64);
        }
    }

    #[test]
    fn each_file_is_counted_for_itself() {
        let mut trace = log(2);
        let file = trace.file("/other", 0);
        let one = (hotset_facts::trace::ProcessIndex(0), 1);
        trace.on_file(Operation::Fsync, one, ("/other", file, 2), (0, 0)).result = Some(-5);
        trace.on_file(Operation::Fsync, one, ("/other", file, 2), (0, 0));
        let text = after(&trace.plan(), "sync-every=2");
        assert_eq!(text.matches("fdatasync").count(), 1, "{text}");
        assert_eq!(text.matches("fsync").count(), 2, "one failed, one is the last: {text}");
    }

    /// Transactions with a journal each, as SQLite has them: the journal is synced, the data, and the directory.
    #[test]
    fn journals_that_are_removed_count_together() {
        let mut trace = Trace::default();
        let one = (trace.process(1, None), 1);
        let data = trace.file("/d/data", 0);
        for at in 0..10_u64 {
            let journal = trace.file("/d/journal", 0);
            let (of, slot) = ("/d/journal", 100 + at);
            trace.on_file(Operation::Openat, one, (of, journal, slot), (0, 0)).flags =
                RecordFlags::CREATE;
            trace.on_file(Operation::Pwrite, one, (of, journal, slot), (0, 10));
            trace.on_file(Operation::Fdatasync, one, (of, journal, slot), (0, 0));
            trace.on_file(Operation::Pwrite, one, ("/d/data", data, 1), (at * 10, 10));
            trace.on_file(Operation::Fdatasync, one, ("/d/data", data, 1), (0, 0));
            trace.on_file(Operation::Close, one, (of, journal, slot), (0, 0)).result = Some(0);
            trace.on_path(Operation::Unlink, one, of, 0);
        }
        let text = after(&trace.plan(), "sync-every=5");
        assert_eq!(text.matches("fdatasync").count(), 4, "two of each: {text}");
        // Renamed instead, each would be another file that stays.
        let mut kept = Trace::default();
        let one = (kept.process(1, None), 1);
        for at in 0..10_u64 {
            let new = kept.file("/d/new", 0);
            kept.on_file(Operation::Openat, one, ("/d/new", new, at), (0, 0)).flags =
                RecordFlags::CREATE;
            kept.on_file(Operation::Pwrite, one, ("/d/new", new, at), (0, 10));
            kept.on_file(Operation::Fsync, one, ("/d/new", new, at), (0, 0));
            let to = kept.path(&format!("/d/{at}"));
            kept.on_path(Operation::Rename, one, "/d/new", 0).new_path = Some(to);
        }
        assert!(why_not(&kept.plan(), "sync-every=5").contains("more than once"));
    }

    #[test]
    fn what_is_synced_once_stays() {
        let why = why_not(&log(1).plan(), "sync-every=2");
        assert!(why.ends_with("no file is synced more than once"), "{why}");
    }
}
