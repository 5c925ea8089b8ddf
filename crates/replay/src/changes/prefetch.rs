//! `prefetch`: all that will be read is asked for at the start.

use std::collections::HashSet;

use hotset_facts::replay::{FileRole, PlanFile, PlanSlot, ReplayPlan, Step, StepKind};
use hotset_facts::trace::RecordFlags;

use super::rewrite::{self, Rewrite, number};
use super::{Change, Given, Made};

/// Everything is asked for before it is needed.
pub(super) const CHANGE: Change = Change {
    name: "prefetch",
    argument: None,
    summary: "Request all ranges that will be read, at the start",
    programmer: "Keep a list of the files and ranges that the program uses. At the start, open each, call \
                 posix_fadvise(POSIX_FADV_WILLNEED) for its ranges and close it; `hotset warm` does the same from outside.",
    risks: Some(
        "What this run does not use after all is read in vain, and other pages may be evicted for it.",
    ),
    syncs_less: false,
    make,
};

fn make(plan: &ReplayPlan, given: &Given<'_>) -> Made {
    let Some(first) = plan.threads.iter().position(|thread| !thread.steps.is_empty()) else {
        return Err("no step is left".to_owned());
    };
    let record = plan.threads.get(first).and_then(|thread| thread.steps.first());
    let record = record.map_or(0, |step| step.record);
    // Direct I/O would not find what is brought into the cache.
    let slots = plan.slots.iter().filter(|slot| !slot.direct).filter_map(|slot| slot.file);
    let mapped = plan.mappings.iter().map(|mapping| mapping.file);
    let cached: HashSet<u32> = slots.chain(mapped).collect();
    let is_read = |(place, file): &(u32, &PlanFile)| {
        let is_kept = file.role == FileRole::Original || !file.parts.is_empty();
        let stays = is_kept && file.is_there;
        stays && !file.touched.is_empty() && cached.contains(place)
    };
    let files = (0..).zip(&plan.files).filter(is_read);
    let mut files: Vec<(u32, u32)> =
        files.filter_map(|(place, file)| Some((place, file.path?))).collect();
    let order = (given.order)(plan);
    // Sorted without changing the order of those that have no place, or the same.
    files.sort_by_key(|(file, _)| order.get(*file as usize).copied().unwrap_or(u64::MAX));
    if files.is_empty() {
        return Err("no file is read through the page cache that nobody changes".to_owned());
    }
    let (mut slots, mut steps) = (plan.slots.clone(), Vec::new());
    for (place, path) in files {
        let slot = number(slots.len());
        slots.push(reading(place));
        steps.push(Step { offset: path.into(), ..Step::new(StepKind::Open, slot, record) });
        let touched = plan.files.get(place as usize).map_or(&[][..], |file| &file.touched);
        for (begin, end) in touched {
            let (offset, bytes) = (*begin, end.saturating_sub(*begin));
            let advise = Step::new(StepKind::Advise, slot, record);
            steps.push(Step { flags: RecordFlags::WILLNEED, offset, bytes, ..advise });
        }
        steps.push(Step::new(StepKind::Close, slot, record));
    }
    let threads = plan.threads.iter().enumerate().map(|(at, thread)| {
        let mut new = Rewrite::new(thread);
        if at == first {
            steps.iter().for_each(|step| new.insert(*step));
        }
        thread.steps.iter().for_each(|step| new.becomes(std::slice::from_ref(step)));
        new
    });
    let threads = rewrite::finish(threads.collect());
    let inserted = steps.len() as u64;
    Ok((ReplayPlan { slots, ..rewrite::with_threads(plan, threads) }, inserted))
}

/// A slot that a file is read by, opened by a step.
fn reading(file: u32) -> PlanSlot {
    PlanSlot {
        file: Some(file),
        opened_before: None,
        writes: false,
        direct: false,
        append: false,
        sync: false,
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::{Operation, RecordFlags};

    use crate::build::testing::Trace;
    use crate::changes::plan_text::{plan_text, why_not};
    use crate::changes::{apply_ordered, parse};

    #[test]
    fn all_that_is_read_is_asked_for_first_in_the_order_of_the_device() {
        let mut trace = Trace::default();
        let one = (trace.process(1, None), 1);
        let files =
            ["/a", "/b", "/direct", "/written"].map(|path| (path, trace.file(path, 90_000)));
        for (description, (path, file)) in (1..).zip(files) {
            let of = (path, file, description);
            let read = trace.on_file(Operation::Pread, one, of, (8192, 100));
            if path == "/direct" {
                read.flags = RecordFlags::DIRECT;
            }
            trace.on_file(Operation::Pread, one, of, (0, 100));
        }
        trace.on_file(Operation::Pwrite, one, ("/written", files[3].1, 4), (0, 10));
        let asked = || [parse("prefetch").expect("a change")];
        let plan = trace.plan();
        let changed = apply_ordered(&plan, &asked(), &|_| vec![7, 3]).expect("a plan");
        let wanted = "thread 0
  open 4 @1+0=0 #0
  fadvise 4 @0+100=0 #0 willneed
  fadvise 4 @8192+100=0 #0 willneed
  close 4 @0+0=0 #0
  open 5 @0+0=0 #0
  fadvise 5 @0+100=0 #0 willneed
  fadvise 5 @8192+100=0 #0 willneed
  close 5 @0+0=0 #0
  pread 0 @8192+100=100 #0
";
        let text = plan_text(&changed.plan);
        assert!(text.starts_with(wanted), "{text}");
        let slots: Vec<_> =
            changed.plan.slots.iter().map(|slot| (slot.file, slot.opened_before)).collect();
        assert_eq!(slots[4..], [(Some(1), None), (Some(0), None)]);
        assert_eq!((changed.plan.slots.len(), changed.applied[0].affected), (6, 8));
        let changed = apply_ordered(&plan, &asked(), &|_| Vec::new()).expect("a plan");
        assert_eq!(changed.plan.slots[4].file, Some(0), "the order of the plan");
    }

    #[test]
    fn what_reads_nothing_needs_nothing() {
        let mut trace = Trace::default();
        let one = (trace.process(1, None), 1);
        assert!(why_not(&trace.plan(), "prefetch").ends_with("no step is left"));
        trace.on_path(Operation::Stat, one, "/a", 0);
        let why = why_not(&trace.plan(), "prefetch");
        assert!(
            why.ends_with("no file is read through the page cache that nobody changes"),
            "{why}"
        );
    }
}
