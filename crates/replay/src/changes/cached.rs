//! `cached`: through the page cache.

use hotset_facts::replay::{ReplayPlan, StepKind};
use hotset_facts::trace::RecordFlags;

use super::subjects::{self, slot, without};
use super::{Change, Given, Made};

/// Direct I/O becomes buffered I/O.
pub(super) const CHANGE: Change = Change {
    name: "cached",
    argument: None,
    summary: "Read and write through the page cache, without O_DIRECT",
    programmer: "Open files without O_DIRECT. In databases this is a setting, such as innodb_flush_method of MySQL.",
    risks: Some(
        "Data that is read once evicts other pages. Writes are not on the device when they return; sync where they must be.",
    ),
    syncs_less: false,
    make,
};

fn make(plan: &ReplayPlan, _: &Given<'_>) -> Made {
    let mut new = plan.clone();
    let mut affected = 0;
    let is_direct = |place: Option<u32>| {
        place.and_then(|place| plan.slots.get(place as usize)).is_some_and(|slot| slot.direct)
    };
    for step in new.threads.iter_mut().flat_map(|thread| &mut thread.steps) {
        let goes_past = step.flags.has(RecordFlags::DIRECT) || is_direct(slot(plan, step));
        if goes_past && (subjects::is_any_read(step) || subjects::is_any_write(step)) {
            affected += 1;
            // With Linux AIO, a submission of a buffered read returns when it is done; so a gain is understated rather than overstated.
            step.kind = match step.kind {
                StepKind::ReadRing => StepKind::ReadAt,
                StepKind::WriteRing => StepKind::WriteAt,
                kind => kind,
            };
        }
        step.flags = without(step.flags, RecordFlags::DIRECT);
    }
    for slot in &mut new.slots {
        slot.direct = false;
    }
    if affected == 0 {
        return Err("no read or write uses O_DIRECT".to_owned());
    }
    Ok((new, affected))
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::{Operation, RecordFlags};

    use crate::build::testing::Trace;
    use crate::changes::plan_text::{after, why_not};
    use crate::changes::{apply, parse};

    #[test]
    fn direct_io_becomes_buffered_io() {
        let mut trace = Trace::default();
        let one = (trace.process(1, None), 1);
        let (direct, buffered) = (trace.file("/direct", 8192), trace.file("/buffered", 8192));
        for at in 0..2 {
            let of = ("/direct", direct, 1);
            let read = trace.on_file(Operation::Pread, one, of, (at * 4096, 4096));
            read.flags = RecordFlags::DIRECT.with(RecordFlags::WAITED);
            trace.on_file(Operation::Pread, one, ("/buffered", buffered, 2), (0, 10));
        }
        let plan = trace.plan();
        assert!(plan.slots[0].direct);
        let changed = apply(&plan, &[parse("cached").expect("a change")]).expect("direct I/O");
        assert!(changed.plan.slots.iter().all(|slot| !slot.direct));
        let steps = &changed.plan.threads[0].steps;
        assert_eq!(steps[0].flags, RecordFlags::WAITED, "what else is known of it stays");
        assert_eq!(changed.applied[0].affected, 2);
        assert_eq!(steps.len(), plan.threads[0].steps.len());
        let why = why_not(&changed.plan, "cached");
        assert!(why.ends_with("no read or write uses O_DIRECT"), "{why}");
    }

    #[test]
    fn reads_in_flight_wait_each_for_itself() {
        let mut trace = Trace::default();
        let one = (trace.process(1, None), 1);
        let of = ("/direct", trace.file("/direct", 1 << 20), 1);
        for at in 0..3 {
            let read = trace.on_file(Operation::UringRead, one, of, (at * 4096, 4096));
            read.flags = RecordFlags::DIRECT;
            (read.start_ns, read.duration_ns) = (100 + at, Some(1_000));
        }
        let text = after(&trace.plan(), "cached");
        assert_eq!(
            (text.matches("pread").count(), text.matches("io_uring_read").count()),
            (3, 0),
            "{text}"
        );
    }
}
