//! `direct`: past the page cache, with O_DIRECT.

use std::collections::{HashMap, HashSet};

use hotset_facts::replay::{ReplayPlan, Step, StepKind};
use hotset_facts::trace::RecordFlags;

use super::subjects::{self, PAGE_BYTES, all_steps, is_any_read, is_write, slot};
use super::{Change, Given, Made};

/// Buffered I/O becomes direct I/O, where offsets and lengths allow it.
pub(super) const CHANGE: Change = Change {
    name: "direct",
    argument: None,
    summary: "Bypass the page cache (O_DIRECT) where I/O is aligned",
    programmer: "Open files with O_DIRECT and use memory that is aligned to 4096 bytes, from posix_memalign or mmap. \
                 Offsets and lengths must be multiples of 4096 as well.",
    risks: Some(
        "Each read waits for the device: there is no read-ahead, and what is read twice is read from the device twice.",
    ),
    syncs_less: false,
    make,
};

fn make(plan: &ReplayPlan, _: &Given<'_>) -> Made {
    let mapped: HashSet<u32> = plan.mappings.iter().map(|mapping| mapping.file).collect();
    // Of each slot: how many transfers it has; nothing where one of them can't be direct.
    let mut transfers: HashMap<u32, Option<u64>> = HashMap::new();
    for (_, step) in all_steps(plan) {
        let copied = subjects::copied(plan, step).into_iter().flatten();
        transfers.extend(copied.map(|slot| (slot, None)));
        let Some(slot) = slot(plan, step) else { continue };
        let count = transfers.entry(slot).or_insert(Some(0));
        if !may_be_direct(plan, step) {
            *count = None;
        } else if is_any_read(step) || is_write(step) {
            *count = count.map(|count| count + 1);
        }
    }
    let changes = |slot: u32| {
        let known = plan.slots.get(slot as usize);
        let is_eligible = known.is_some_and(|known| {
            !known.direct && known.file.is_some_and(|file| !mapped.contains(&file))
        });
        is_eligible && transfers.get(&slot).copied().flatten().is_some_and(|count| count > 0)
    };
    let mut new = plan.clone();
    let mut affected = 0;
    for step in new.threads.iter_mut().flat_map(|thread| &mut thread.steps) {
        if (is_any_read(step) || is_write(step)) && changes(step.target) {
            step.flags = step.flags.with(RecordFlags::DIRECT);
            affected += 1;
        }
    }
    for (slot, place) in new.slots.iter_mut().zip(0..) {
        slot.direct |= changes(place);
    }
    if affected == 0 {
        return Err(
            "no open file has only reads and writes of 4096-byte blocks and no mapping".to_owned()
        );
    }
    Ok((new, affected))
}

/// Whether a step on a slot would be the same with O_DIRECT.
fn may_be_direct(plan: &ReplayPlan, step: &Step) -> bool {
    let is_aligned = |number: u64| number.is_multiple_of(PAGE_BYTES);
    match step.kind {
        StepKind::Send | StepKind::Map => false,
        StepKind::Read
        | StepKind::ReadAt
        | StepKind::ReadRing
        | StepKind::Write
        | StepKind::WriteAt
        | StepKind::WriteRing => {
            let knows_where =
                !subjects::uses_position(step) || step.flags.has(RecordFlags::POSITION);
            knows_where
                && step.result >= 0
                && is_aligned(step.offset)
                && is_aligned(step.bytes)
                && (is_any_read(step) || is_aligned(subjects::moved(step)))
        }
        _ => subjects::slot(plan, step).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::{Operation, RecordFlags};

    use crate::build::testing::Trace;
    use crate::changes::plan_text::why_not;
    use crate::changes::{apply, parse};

    /// How many transfers become direct of a file of 10,000 bytes that is used like this.
    fn direct(uses: &[(Operation, u64, u64, i64)]) -> Option<u64> {
        let mut trace = Trace::default();
        let one = (trace.process(1, None), 1);
        let file = trace.file("/f", 10_000);
        for (operation, offset, bytes, result) in uses {
            let of = ("/f", file, 1);
            let record = trace.on_file(*operation, one, of, (*offset, *bytes));
            (record.result, record.flags) = (Some(*result), RecordFlags::POSITION);
        }
        let plan = trace.plan();
        let changed = apply(&plan, &[parse("direct").expect("a change")]).ok()?;
        assert!(changed.plan.slots[0].direct);
        let is_direct = |flags: RecordFlags| flags.has(RecordFlags::DIRECT);
        let steps = changed.plan.threads[0].steps.iter();
        let marked = steps.filter(|step| is_direct(step.flags)).count() as u64;
        assert_eq!(marked, changed.applied[0].affected);
        Some(marked)
    }

    #[test]
    fn what_is_aligned_goes_past_the_cache() {
        use Operation::{Fsync, Mmap, Pread, Pwrite, Read, Write};
        assert_eq!(
            direct(&[(Read, 0, 4096, 4096), (Read, 4096, 8192, 5904)]),
            Some(2),
            "to its end"
        );
        assert_eq!(direct(&[(Pread, 4096, 4096, 4096), (Pread, 0, 4096, 4096)]), Some(2));
        assert_eq!(direct(&[(Write, 0, 4096, 4096), (Fsync, 0, 0, 0)]), Some(1));
        assert_eq!(direct(&[(Read, 0, 4096, 4096), (Read, 4096, 100, 100)]), None, "a length");
        assert_eq!(direct(&[(Pread, 512, 4096, 4096)]), None, "an offset");
        assert_eq!(direct(&[(Pwrite, 0, 4096, 100)]), None, "less was written");
        assert_eq!(direct(&[(Pread, 0, 4096, -5)]), None, "it failed");
        assert_eq!(direct(&[(Pread, 0, 4096, 4096), (Mmap, 0, 4096, 0)]), None, "it is mapped");
        assert_eq!(direct(&[(Fsync, 0, 0, 0)]), None, "there is nothing to transfer");
    }

    #[test]
    fn a_file_that_was_mapped_before_is_read_through_the_cache() {
        let mut trace = Trace::default();
        let one = (trace.process(1, None), 1);
        let (file, path) = (trace.file("/f", 8192), trace.path("/f"));
        trace.on_file(Operation::Pread, one, ("/f", file, 1), (0, 4096));
        let fault = trace.add(Operation::MinorFault, one, 0);
        (fault.path, fault.file, fault.offset) = (Some(path), Some(file), Some(4096));
        assert!(why_not(&trace.plan(), "direct").contains("no mapping"));
    }

    #[test]
    fn a_plan_without_it_says_what_it_would_need() {
        let why = why_not(&Trace::default().plan(), "direct");
        assert!(why.contains("4096-byte blocks"), "{why}");
    }
}
