//! What a change does wrong is found.

use hotset_facts::replay::{ReplayPlan, Step, StepKind};
use hotset_facts::trace::{Operation, RecordFlags};

use super::{Permits, Violation, check};
use crate::build::testing::Trace;

/// A thread writes 100 bytes twice and syncs; another reads what it wrote, and makes a directory.
fn plan() -> ReplayPlan {
    let mut trace = Trace::default();
    let process = trace.process(1, None);
    let (one, two) = ((process, 1), (process, 2));
    let file = trace.file("/f", 0);
    let of = ("/f", file, 1);
    trace.on_file(Operation::Openat, one, of, (0, 0));
    for offset in [0, 100] {
        trace.on_file(Operation::Write, one, of, (offset, 100)).flags = RecordFlags::POSITION;
    }
    trace.on_file(Operation::Fsync, one, of, (0, 0));
    trace.on_file(Operation::Pread, two, of, (50, 100));
    trace.on_path(Operation::Stat, two, "/n", -2);
    trace.on_path(Operation::Mkdir, two, "/n", 0);
    trace.on_file(Operation::Close, one, of, (0, 0));
    trace.plan()
}

/// Takes a step out; all waits are for the same steps as before.
fn remove(plan: &mut ReplayPlan, thread: usize, place: usize) {
    plan.threads[thread].steps.remove(place);
    for (at, list) in plan.threads.iter_mut().enumerate() {
        for wait in &mut list.waits {
            wait.before -= u32::from(at == thread && wait.before as usize > place);
            let counts = wait.thread as usize == thread && wait.steps as usize > place;
            wait.steps -= u32::from(counts);
        }
    }
}

/// What is found of a plan that was changed like this.
fn found(change: impl Fn(&mut ReplayPlan)) -> Result<(), Violation> {
    let before = plan();
    let mut after = before.clone();
    change(&mut after);
    check(&before, &after, Permits::default())
}

#[test]
fn nothing_is_found_where_nothing_changed() {
    let plan = plan();
    let kinds = |thread: usize| plan.threads[thread].steps.iter().map(|step| step.kind);
    use StepKind::{Close, DataSync, MakeDirectory, Open, ReadAt, Stat, Sync, Write};
    assert_eq!(kinds(0).collect::<Vec<_>>(), [Open, Write, Write, Sync, Close]);
    assert_eq!(kinds(1).collect::<Vec<_>>(), [ReadAt, Stat, MakeDirectory]);
    assert_eq!(found(|_| {}), Ok(()));
    assert_eq!(found(|plan| plan.threads[0].steps[3].kind = DataSync), Ok(()));
}

#[test]
fn a_write_that_is_missing_moved_or_new_is_found() {
    let lost = Err(Violation::Written { record: 2 });
    assert_eq!(found(|plan| remove(plan, 0, 2)), lost);
    assert_eq!(found(|plan| plan.threads[0].steps.swap(1, 2)), lost, "the order of the records");
    let twice = |plan: &mut ReplayPlan| {
        let step = plan.threads[0].steps[2];
        plan.threads[0].steps.insert(2, step);
    };
    assert_eq!(found(twice), lost);
    let shorter = |plan: &mut ReplayPlan| plan.threads[0].steps[2].result = 50;
    assert_eq!(found(shorter), lost);
    let elsewhere = |plan: &mut ReplayPlan| {
        let step = &mut plan.threads[0].steps[2];
        (step.kind, step.offset) = (StepKind::WriteAt, 110);
    };
    assert_eq!(found(elsewhere), Err(Violation::Read { record: 4 }));
    let far = |plan: &mut ReplayPlan| {
        let step = &mut plan.threads[0].steps[2];
        (step.kind, step.offset) = (StepKind::WriteAt, 50);
    };
    assert_eq!(found(far), Err(Violation::Read { record: 4 }), "it hides what another wrote");
}

#[test]
fn a_read_before_the_write_that_it_depends_on_is_found() {
    let too_early = Err(Violation::Read { record: 4 });
    let waits = plan().threads[1].waits.clone();
    assert!(!waits.is_empty());
    let alone = |plan: &mut ReplayPlan| plan.threads[1].waits.clear();
    let found_alone = found(alone);
    let is_found = matches!(
        found_alone,
        Err(Violation::Read { record: 4 } | Violation::NotOpen { record: 4 })
    );
    assert!(is_found, "{found_alone:?}");
    let sooner = |plan: &mut ReplayPlan| {
        plan.threads[1].waits.iter_mut().for_each(|wait| wait.steps = 2);
    };
    assert_eq!(found(sooner), too_early);
    assert_eq!(found(|plan| remove(plan, 1, 0)), too_early, "it is missing");
    assert_eq!(found(|plan| plan.threads[1].steps[0].result = 99), too_early);
    assert_eq!(found(|plan| plan.threads[1].steps[0].offset = 51), too_early);
}

#[test]
fn a_read_after_what_it_was_needed_for_is_found() {
    let late = |plan: &mut ReplayPlan| plan.threads[1].steps.rotate_left(1);
    assert_eq!(found(late), Err(Violation::Read { record: 4 }));
}

#[test]
fn a_request_that_is_not_waited_for_in_time_is_found() {
    let waited = |place: Option<usize>| {
        found(|plan| {
            let steps = &mut plan.threads[1].steps;
            steps[0].kind = StepKind::ReadRing;
            if let Some(place) = place {
                steps.insert(place, Step::new(StepKind::Drain, 0, 4));
            }
        })
    };
    let late = Err(Violation::Read { record: 4 });
    assert_eq!(waited(Some(1)), Ok(()));
    assert_eq!([waited(Some(2)), waited(None)], [late.clone(), late]);
}

#[test]
fn a_request_for_bytes_that_are_written_meanwhile_is_found() {
    let mut trace = Trace::default();
    let one = (trace.process(1, None), 1);
    let of = ("/f", trace.file("/f", 100), 1);
    for operation in [Operation::Pwrite, Operation::Pread, Operation::Pwrite] {
        trace.on_file(operation, one, of, (0, 100));
    }
    let before = trace.plan();
    let with_drain_at = |place: usize| {
        let mut after = before.clone();
        let steps = &mut after.threads[0].steps;
        steps[1].kind = StepKind::ReadRing;
        steps.insert(place, Step::new(StepKind::Drain, 0, 1));
        check(&before, &after, Permits::default())
    };
    assert_eq!(with_drain_at(2), Ok(()));
    assert_eq!(with_drain_at(3), Err(Violation::Read { record: 1 }));
}

#[test]
fn a_sync_that_is_missing_or_covers_less_is_found() {
    let missing = |plan: &mut ReplayPlan| remove(plan, 0, 3);
    assert_eq!(found(missing), Err(Violation::NoSync { record: 3 }));
    let (before, mut after) = (plan(), plan());
    missing(&mut after);
    let permits = Permits { fewer_syncs: true };
    assert_eq!(check(&before, &after, permits), Err(Violation::Durable { record: 1 }));
    let sooner = |plan: &mut ReplayPlan| plan.threads[0].steps.swap(2, 3);
    assert_eq!(found(sooner), Err(Violation::Sync { record: 3 }));
}

#[test]
fn what_changes_of_names_and_slots_is_found() {
    let missing = |plan: &mut ReplayPlan| remove(plan, 1, 2);
    assert_eq!(found(missing), Err(Violation::Changes { thread: 1 }));
    let late = |plan: &mut ReplayPlan| plan.threads[1].steps.swap(1, 2);
    assert_eq!(found(late), Err(Violation::Name { record: 5 }));
    let closed = |plan: &mut ReplayPlan| plan.threads[0].steps.swap(3, 4);
    assert_eq!(found(closed), Err(Violation::NotOpen { record: 3 }));
    let cut = |plan: &mut ReplayPlan| plan.threads[0].steps[0].flags = RecordFlags::TRUNCATE;
    assert_eq!(found(cut), Err(Violation::Changes { thread: 0 }));
}

#[test]
fn waits_without_an_end_are_found() {
    let circle = |plan: &mut ReplayPlan| {
        plan.threads[0].waits.push(hotset_facts::replay::Wait { before: 0, thread: 1, steps: 1 });
        plan.threads[0].waits.sort_by_key(|wait| wait.before);
    };
    assert_eq!(found(circle), Err(Violation::Stuck { steps_left: 8 }));
    let far = |plan: &mut ReplayPlan| plan.threads[1].waits[0].steps = 6;
    assert_eq!(found(far), Err(Violation::Wait { thread: 1, before: 0 }));
}
