//! Reads in flight together.

use hotset_facts::trace::{FileIndex, Operation, ProcessIndex, RecordFlags};

use crate::build::testing::Trace;
use crate::changes::plan_text::{after, why_not};

const ONE: (ProcessIndex, u32) = (ProcessIndex(0), 1);

fn trace() -> Trace {
    let mut trace = Trace::default();
    trace.process(1, None);
    trace.file("/f", 90_000);
    trace
}

fn on(trace: &mut Trace, operation: Operation, description: u64, range: (u64, u64)) {
    by(trace, operation, 1, description, range);
}

fn by(trace: &mut Trace, operation: Operation, tid: u32, description: u64, range: (u64, u64)) {
    let who = (ProcessIndex(0), tid);
    let record = trace.on_file(operation, who, ("/f", FileIndex(0), description), range);
    if matches!(operation, Operation::Read | Operation::Write) {
        record.flags = RecordFlags::POSITION;
    }
}

#[test]
fn reads_in_a_row_are_in_flight_and_waited_for() {
    let mut trace = trace();
    on(&mut trace, Operation::Pread, 1, (8192, 100));
    on(&mut trace, Operation::Pread, 2, (0, 100));
    trace.on_path(Operation::Stat, ONE, "/else", 0);
    on(&mut trace, Operation::Pread, 1, (500, 100));
    let wanted = "thread 0 with 8 in flight
  io_uring_read 0 @8192+100=100 #0
  io_uring_read 1 @0+100=100 #1
  io_uring_wait 0 @0+0=0 #1
  stat 1 @0+0=0 #2
  pread 0 @500+100=100 #3
";
    assert_eq!(after(&trace.plan(), "io_uring=8"), wanted, "one alone stays as it is");
}

#[test]
fn a_position_is_set_where_it_matters_later() {
    let mut trace = trace();
    for offset in [0, 100, 5_000, 5_100] {
        on(&mut trace, Operation::Read, 1, (offset, 100));
    }
    on(&mut trace, Operation::Fdatasync, 1, (0, 0));
    on(&mut trace, Operation::Read, 1, (5_200, 100));
    let text = after(&trace.plan(), "io_uring=2");
    assert_eq!(text.matches("io_uring_read").count(), 4, "the seek between is for a read: {text}");
    let end = "  io_uring_wait 0 @0+0=0 #3
  fdatasync 0 @0+0=0 #4
  seek 0 @5200+0=0 #5
  read 0 @5200+100=100 #5 position
";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn what_may_depend_on_a_read_ends_the_run() {
    let ends = |operation: Operation, result: i64| {
        let mut trace = trace();
        on(&mut trace, Operation::Pread, 1, (0, 100));
        on(&mut trace, operation, 1, (100, 100));
        trace.last().expect("a record").result = Some(result);
        on(&mut trace, Operation::Pread, 1, (200, 100));
        let plan = trace.plan();
        let asked = crate::changes::parse("io_uring=4").expect("a change");
        crate::changes::apply(&plan, &[asked]).is_err()
    };
    assert!(!ends(Operation::Pread, 100) && !ends(Operation::Read, 50));
    assert!(ends(Operation::Pread, 0), "it found the end");
    assert!(ends(Operation::Pread, -5), "it failed");
    for operation in [Operation::Pwrite, Operation::Fsync, Operation::Fadvise] {
        assert!(ends(operation, 0), "{operation:?}");
    }
}

#[test]
fn who_waits_and_is_waited_for_ends_the_run() {
    let mut trace = trace();
    by(&mut trace, Operation::Pwrite, 2, 2, (0, 100));
    for offset in [0, 100] {
        by(&mut trace, Operation::Pread, 1, 1, (offset, 100));
    }
    by(&mut trace, Operation::Pwrite, 2, 2, (0, 100));
    for offset in [200, 300] {
        by(&mut trace, Operation::Pread, 1, 1, (offset, 100));
    }
    let wanted = "thread 0
  pwrite 0 @0+100=100 #0
  wait 1 3
  pwrite 0 @0+100=100 #3
thread 1 with 4 in flight
  wait 0 1
  io_uring_read 1 @0+100=100 #1
  io_uring_read 1 @100+100=100 #2
  io_uring_wait 0 @0+0=0 #2
  wait 0 2
  io_uring_read 1 @200+100=100 #4
  io_uring_read 1 @300+100=100 #5
  io_uring_wait 0 @0+0=0 #5
";
    assert_eq!(after(&trace.plan(), "io_uring=4"), wanted);
}

#[test]
fn a_position_that_two_threads_move_stays_theirs() {
    let mut trace = trace();
    for (tid, offset) in [(1, 0), (1, 100), (2, 200)] {
        by(&mut trace, Operation::Read, tid, 1, (offset, 100));
    }
    let why = why_not(&trace.plan(), "io_uring=4");
    assert!(why.ends_with("with nothing between that may depend on them"), "{why}");
}
