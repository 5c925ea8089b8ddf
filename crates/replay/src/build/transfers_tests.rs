use hotset_facts::replay::{LeftOut, PlanTransfer, ReplayPlan, Step, StepKind};
use hotset_facts::trace::{FileIndex, Operation, OperationClass, ProcessIndex, RecordFlags};

use super::testing::Trace;

/// A trace with files `/from` and `/to`, and one thread.
fn trace() -> (Trace, (ProcessIndex, u32), [FileIndex; 2]) {
    let mut trace = Trace::default();
    let one = (trace.process(1, None), 1);
    let files = [trace.file("/from", 10_000), trace.file("/to", 500)];
    (trace, one, files)
}

/// Both records of a call.
fn copy(
    trace: &mut Trace,
    operation: Operation,
    one: (ProcessIndex, u32),
    [from, to]: [FileIndex; 2],
    (begin, there, asked, result): (u64, u64, u64, i64),
) {
    let source = trace.on_file(operation, one, ("/from", from, 1), (begin, asked));
    source.result = Some(result);
    let start_ns = source.start_ns;
    let target = trace.on_file(operation, one, ("/to", to, 2), (there, asked));
    (target.result, target.class, target.duration_ns) = (Some(result), OperationClass::Write, None);
    target.start_ns = start_ns;
}

fn steps(plan: &ReplayPlan, thread: usize) -> Vec<(StepKind, u64, u64, i64)> {
    let of = |step: &Step| (step.kind, step.offset, step.bytes, step.result);
    plan.threads[thread].steps.iter().map(of).collect()
}

#[test]
fn two_records_of_one_call_are_one_step() {
    let (mut trace, one, files) = trace();
    copy(&mut trace, Operation::CopyFileRange, one, files, (100, 0, 1 << 40, 9_900));
    copy(&mut trace, Operation::Sendfile, one, files, (0, 700, 50, 50));
    let plan = trace.plan();
    let wanted = [
        (StepKind::CopyRange, 100, 1 << 40, 9_900),
        (StepKind::Seek, 700, 0, 0),
        (StepKind::SendTo, 0, 50, 50),
    ];
    assert_eq!(steps(&plan, 0), wanted, "sendfile(2) writes at the position");
    let [first, second] = plan.transfers[..] else { panic!("{:?}", plan.transfers) };
    assert_eq!(first, PlanTransfer { from: 0, to: 1, to_offset: 0 });
    assert_eq!(second, PlanTransfer { to_offset: 700, ..first });
    assert_eq!(
        (plan.recorded.records, plan.recorded.duration_ns, plan.recorded.untimed),
        (4, 20, 0)
    );
    let [from, to] = &plan.files[..] else { panic!("{:?}", plan.files) };
    assert_eq!((from.is_changed, &from.touched[..]), (false, &[(0, 50), (100, 10_000)][..]));
    assert_eq!((to.is_changed, plan.slots[1].writes), (true, true));
}

#[test]
fn what_goes_to_a_socket_is_sent_and_has_no_time() {
    let (mut trace, one, files) = trace();
    trace.on_file(Operation::Sendfile, one, ("/from", files[0], 1), (0, 9_000)).result =
        Some(4_000);
    trace.on_file(Operation::Splice, one, ("/from", files[0], 1), (4_000, 9_000)).result =
        Some(-11);
    trace.on_file(Operation::Pread, one, ("/from", files[0], 1), (0, 100));
    let plan = trace.plan();
    let wanted = [(StepKind::Send, 0, 4_000, 4_000), (StepKind::ReadAt, 0, 100, 100)];
    assert_eq!(steps(&plan, 0), wanted, "as many bytes as the socket took");
    assert_eq!(
        (plan.recorded.records, plan.recorded.duration_ns, plan.recorded.untimed),
        (2, 10, 1)
    );
    assert_eq!(plan.left_out.get(&LeftOut::OtherError), Some(&1), "who reads decides what fits");
}

#[test]
fn what_comes_out_of_a_pipe_is_written() {
    let (mut trace, one, files) = trace();
    for (offset, flags) in [(10, RecordFlags::POSITION), (800, RecordFlags::NONE)] {
        let record = trace.on_file(Operation::Splice, one, ("/to", files[1], 2), (offset, 4096));
        (record.result, record.class, record.flags) = (Some(300), OperationClass::Write, flags);
    }
    let plan = trace.plan();
    let wanted = [
        (StepKind::Seek, 10, 0, 0),
        (StepKind::Write, 10, 300, 300),
        (StepKind::WriteAt, 800, 300, 300),
    ];
    assert_eq!(steps(&plan, 0), wanted);
}

#[test]
fn a_copy_waits_for_who_wrote_its_source_and_is_waited_for() {
    let (mut trace, one, files) = trace();
    let two = (one.0, 2);
    let three = (one.0, 3);
    trace.on_file(Operation::Pwrite, two, ("/from", files[0], 1), (0, 100));
    copy(&mut trace, Operation::CopyFileRange, one, files, (0, 0, 100, 100));
    trace.on_file(Operation::Pread, three, ("/to", files[1], 2), (0, 100));
    trace.on_file(Operation::Pread, three, ("/from", files[0], 1), (0, 100));
    let plan = trace.plan();
    let waits = |thread: usize| -> Vec<(u32, u32, u32)> {
        let waits = plan.threads[thread].waits.iter();
        waits.map(|wait| (wait.before, wait.thread, wait.steps)).collect()
    };
    assert_eq!((waits(0), waits(1)), (vec![], vec![(0, 0, 1)]));
    assert_eq!(waits(2), [(0, 1, 1), (0, 0, 1)]);
}

#[test]
fn what_syncs_all_files_is_ordered_with_all_that_changes_one() {
    let (mut trace, one, files) = trace();
    let two = (one.0, 2);
    trace.on_file(Operation::Pwrite, one, ("/to", files[1], 2), (0, 100));
    trace.on_file(Operation::Pread, one, ("/from", files[0], 1), (0, 100));
    trace.add(Operation::Sync, two, 0);
    trace.on_file(Operation::Pwrite, one, ("/to", files[1], 2), (0, 100));
    let plan = trace.plan();
    assert_eq!(steps(&plan, 1), [(StepKind::SyncAll, 0, 0, 0)]);
    let waits: Vec<_> = plan.threads.iter().flat_map(|thread| &thread.waits).collect();
    let waits: Vec<_> = waits.iter().map(|wait| (wait.before, wait.thread, wait.steps)).collect();
    assert_eq!(waits, [(2, 1, 1), (0, 0, 2)]);
}

#[test]
fn writes_of_rings_are_in_flight_and_those_of_aio_past_the_cache() {
    let (mut trace, one, files) = trace();
    let direct = RecordFlags::DIRECT.with(RecordFlags::SYNC);
    for (operation, flags) in [
        (Operation::UringWrite, RecordFlags::SYNC),
        (Operation::UringSync, RecordFlags::NONE),
        (Operation::AioWrite, RecordFlags::NONE),
        (Operation::AioWrite, direct),
        (Operation::AioSync, RecordFlags::NONE),
    ] {
        trace.on_file(operation, one, ("/to", files[1], 2), (0, 100)).flags = flags;
        if let Some(record) = trace.last().filter(|_| operation == Operation::UringSync) {
            (record.offset, record.result) = (None, Some(0));
        }
    }
    let plan = trace.plan();
    let kinds: Vec<StepKind> = plan.threads[0].steps.iter().map(|step| step.kind).collect();
    let (write, sync, wait) = (StepKind::WriteRing, StepKind::SyncRing, StepKind::Drain);
    assert_eq!(kinds, [write, sync, wait, StepKind::WriteAt, write, sync, wait]);
    assert!(!plan.slots[0].sync, "one write alone was told that");
}
