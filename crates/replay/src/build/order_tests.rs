//! Who waits for whom, in small traces.

use hotset_facts::replay::{ReplayPlan, Wait};
use hotset_facts::trace::Operation;

use super::testing::Trace;

#[test]
fn a_close_waits_for_whoever_was_using_the_description() {
    let mut trace = Trace::default();
    let process = trace.process(7, None);
    let of = ("/f", trace.file("/f", 9_000), 1);
    let read = trace.on_file(Operation::Pread, (process, 1), of, (0, 100));
    (read.start_ns, read.duration_ns) = (100, Some(50));
    let close = trace.on_file(Operation::Close, (process, 2), of, (0, 0));
    (close.start_ns, close.duration_ns) = (120, Some(5));
    let plan = trace.plan();
    assert_eq!(plan.threads[1].waits, [Wait { before: 0, thread: 0, steps: 1 }]);
}

#[test]
fn time_that_threads_share_is_covered_once() {
    let mut trace = Trace::default();
    let process = trace.process(7, None);
    for (tid, start_ns, duration_ns) in [(1, 100, 50), (2, 120, 10), (1, 200, 30), (2, 210, 40)] {
        let record = trace.on_path(Operation::Newfstatat, (process, tid), "/d", 0);
        (record.start_ns, record.duration_ns) = (start_ns, Some(duration_ns));
    }
    let recorded = trace.plan().recorded;
    assert_eq!((recorded.duration_ns, recorded.covered_ns), (130, 50 + 50));
}

/// What one of two threads waits for: before which of its steps, for how many of the other's.
fn waits(plan: &ReplayPlan, thread: usize) -> Vec<(u32, u32)> {
    plan.threads[thread].waits.iter().map(|Wait { before, steps, .. }| (*before, *steps)).collect()
}

#[test]
fn a_thread_waits_for_what_the_other_wrote_before_but_not_for_what_it_read() {
    let mut trace = Trace::default();
    let process = trace.process(7, None);
    let (one, two) = ((process, 7), (process, 8));
    let (read, written) = (trace.file("/read", 1 << 20), trace.file("/written", 0));
    let (read, written) = (("/read", read, 1), ("/written", written, 2));
    trace.on_file(Operation::Pread, one, read, (0, 10));
    trace.on_file(Operation::Pread, two, read, (0, 10));
    assert_eq!(waits(&trace.plan(), 1), [(0, 1)], "for what its process had done before it began");
    trace.on_file(Operation::Pwrite, one, written, (0, 10));
    trace.on_file(Operation::Pread, one, read, (0, 10));
    trace.on_file(Operation::Pread, two, read, (0, 10));
    trace.on_file(Operation::Pread, two, written, (0, 10));
    assert_eq!(waits(&trace.plan(), 1), [(0, 1), (2, 2)]);
    // Again, and under way at the same time: the write waits for the read before, and the read for nobody.
    trace.on_file(Operation::Pwrite, one, written, (0, 10)).duration_ns = Some(1_000);
    trace.on_file(Operation::Pread, two, written, (0, 10));
    let plan = trace.plan();
    assert_eq!(waits(&plan, 0), [(3, 3)]);
    assert_eq!(waits(&plan, 1), [(0, 1), (2, 2)]);
}

#[test]
fn a_process_waits_for_the_child_that_it_did_nothing_beside() {
    let mut trace = Trace::default();
    let (shell, child) = (trace.process(7, None), trace.process(8, Some(7)));
    trace.on_path(Operation::Stat, (shell, 7), "/a", 0);
    trace.on_path(Operation::Stat, (child, 8), "/b", 0);
    trace.on_path(Operation::Stat, (child, 8), "/c", 0);
    trace.on_path(Operation::Stat, (shell, 7), "/d", 0);
    let plan = trace.plan();
    assert_eq!(plan.threads[1].waits, [Wait { before: 0, thread: 0, steps: 1 }]);
    assert_eq!(plan.threads[0].waits, [Wait { before: 1, thread: 1, steps: 2 }]);
    trace.on_path(Operation::Stat, (child, 8), "/e", 0);
    assert_eq!(trace.plan().threads[0].waits, [], "it went on beside it");
}

#[test]
fn a_child_waits_for_those_before_it_that_their_parent_did_nothing_beside() {
    let mut trace = Trace::default();
    let shell = (trace.process(7, None), 7);
    let children = [8, 9, 10].map(|pid| (trace.process(pid, Some(7)), pid));
    trace.on_path(Operation::Stat, shell, "/a", 0);
    for child in children {
        trace.on_path(Operation::Stat, child, "/b", 0);
    }
    let plan = trace.plan();
    let shell_waits = Wait { before: 0, thread: 0, steps: 1 };
    assert_eq!(plan.threads[1].waits, [shell_waits]);
    for thread in [2, 3] {
        let elder = Wait { before: 0, thread: thread - 1, steps: 1 };
        assert_eq!(plan.threads[thread as usize].waits, [elder, shell_waits], "and no other");
    }
    // What a parent does beside a child, it does without waiting.
    let mut trace = Trace::default();
    let (shell, one) = ((trace.process(7, None), 7), (trace.process(8, Some(7)), 8));
    trace.on_path(Operation::Stat, one, "/b", 0);
    trace.on_path(Operation::Stat, shell, "/a", 0);
    trace.on_path(Operation::Stat, one, "/b", 0);
    let two = (trace.process(9, Some(7)), 9);
    trace.on_path(Operation::Stat, two, "/c", 0);
    let plan = trace.plan();
    assert!(plan.threads[2].waits.iter().all(|wait| wait.thread == 1), "{:?}", plan.threads);
}

#[test]
fn a_name_that_changes_keeps_its_order() {
    let mut trace = Trace::default();
    let process = trace.process(7, None);
    let (one, two) = ((process, 7), (process, 8));
    trace.on_path(Operation::Stat, two, "/x", -2);
    trace.on_path(Operation::Mkdir, one, "/x", 0);
    trace.on_path(Operation::Stat, two, "/x", 0);
    trace.on_path(Operation::Stat, two, "/y", 0);
    let plan = trace.plan();
    let of = |tid| plan.threads.iter().find(|thread| thread.tid == tid).expect("a thread");
    assert_eq!(of(7).waits, [Wait { before: 0, thread: 0, steps: 1 }]);
    assert_eq!(of(8).waits, [Wait { before: 1, thread: 1, steps: 1 }]);
}

#[test]
fn what_is_below_a_new_directory_waits_for_it() {
    let mut trace = Trace::default();
    let (one, two) = ((trace.process(7, None), 7), (trace.process(8, None), 8));
    trace.on_path(Operation::Stat, two, "/else", 0);
    trace.on_path(Operation::Mkdir, one, "/x", 0);
    trace.on_path(Operation::Stat, two, "/x/below", -2);
    let plan = trace.plan();
    assert_eq!(plan.threads[0].waits, [Wait { before: 1, thread: 1, steps: 1 }]);
}

#[test]
fn what_changes_nothing_waits_for_nobody() {
    let mut trace = Trace::default();
    let processes = [(trace.process(7, None), 7), (trace.process(8, None), 8)];
    let file = trace.file("/f", 100);
    for thread in [processes, processes].concat() {
        trace.on_path(Operation::Openat, thread, "/absent", -2);
        trace.on_path(Operation::Stat, thread, "/f", 0);
        trace.on_file(Operation::Pread, thread, ("/f", file, 1), (0, 10));
    }
    let plan = trace.plan();
    assert!(plan.threads.iter().all(|thread| thread.waits.is_empty()), "{:?}", plan.threads);
}

#[test]
fn a_write_that_had_ended_is_waited_for_while_another_is_under_way() {
    let mut trace = Trace::default();
    let process = trace.process(1, None);
    let of = ("/f", trace.file("/f", 100), 1);
    for (tid, operation, start_ns, duration_ns) in [
        (2, Operation::Pread, 0, 10),
        (1, Operation::Pwrite, 100, 10),
        (1, Operation::Pwrite, 200, 500),
        (2, Operation::Pread, 300, 10),
    ] {
        let record = trace.on_file(operation, (process, tid), of, (0, 10));
        (record.start_ns, record.duration_ns) = (start_ns, Some(duration_ns));
    }
    let waits = &trace.plan().threads[0].waits;
    assert_eq!(waits.as_slice(), [Wait { before: 1, thread: 1, steps: 1 }]);
}
