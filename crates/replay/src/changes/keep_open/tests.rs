//! What stays open, and what has to be opened again.

use hotset_facts::trace::{Operation, ProcessIndex, RecordFlags};

use crate::build::testing::Trace;
use crate::changes::plan_text::{after, why_not};
use crate::changes::{apply, parse};

const ONE: (ProcessIndex, u32) = (ProcessIndex(0), 1);
const OTHER: (ProcessIndex, u32) = (ProcessIndex(0), 2);

fn trace() -> Trace {
    let mut trace = Trace::default();
    trace.process(1, None);
    trace.file("/f", 1000);
    trace
}

/// Does something to the file by a description.
fn on(trace: &mut Trace, operation: Operation, who: (ProcessIndex, u32), description: u64) {
    let of = ("/f", hotset_facts::trace::FileIndex(0), description);
    let record = trace.on_file(operation, who, of, (0, 100));
    if matches!(operation, Operation::Read | Operation::Write) {
        record.flags = RecordFlags::POSITION;
    }
}

/// Opens it, uses it and closes it.
fn use_once(trace: &mut Trace, uses: Operation, description: u64) {
    for operation in [Operation::Openat, uses, Operation::Close] {
        on(trace, operation, ONE, description);
    }
}

#[test]
fn a_file_is_opened_once_and_closed_after_its_last_use() {
    let mut trace = trace();
    use_once(&mut trace, Operation::Read, 1);
    use_once(&mut trace, Operation::Pread, 2);
    use_once(&mut trace, Operation::Read, 3);
    let wanted = "thread 0
  open 0 @0+0=0 #0
  read 0 @0+100=100 #1 position
  pread 0 @0+100=100 #4
  lseek 0 @0+0=0 #6
  read 0 @0+100=100 #7 position
  close 0 @0+0=0 #8
";
    let text = after(&trace.plan(), "keep-open");
    assert_eq!(text.replace(" seek ", " lseek "), wanted);
    let changed = apply(&trace.plan(), &[parse("keep-open").expect("a change")]).expect("a plan");
    assert_eq!(changed.applied[0].affected, 6, "two opens, two closes and what is redirected");
}

#[test]
fn what_is_mapped_is_mapped_of_what_stays_open() {
    let mut trace = trace();
    use_once(&mut trace, Operation::Write, 1);
    use_once(&mut trace, Operation::Mmap, 2);
    let asked = parse("keep-open").expect("a change");
    let plan = apply(&trace.plan(), &[asked]).expect("a plan").plan;
    assert_eq!(plan.mappings[0].slot, Some(0));
    assert!(plan.slots[0].writes);
}

#[test]
fn the_one_that_stays_can_do_what_the_others_could() {
    let mut trace = trace();
    use_once(&mut trace, Operation::Read, 1);
    use_once(&mut trace, Operation::Write, 2);
    let asked = parse("keep-open").expect("a change");
    let plan = trace.plan();
    assert!(!plan.slots[0].writes);
    assert!(apply(&plan, &[asked]).expect("a plan").plan.slots[0].writes);
}

#[test]
fn the_last_close_comes_after_the_uses_of_all_threads() {
    let mut trace = trace();
    use_once(&mut trace, Operation::Read, 1);
    on(&mut trace, Operation::Openat, ONE, 2);
    on(&mut trace, Operation::Read, OTHER, 2);
    on(&mut trace, Operation::Close, ONE, 2);
    let text = after(&trace.plan(), "keep-open");
    let wanted = "thread 0
  open 0 @0+0=0 #0
  read 0 @0+100=100 #1 position
  seek 0 @0+0=0 #3
  wait 1 1
  close 0 @0+0=0 #5
thread 1
  wait 0 3
  read 0 @0+100=100 #4 position
";
    assert_eq!(text.replace("lseek", "seek"), wanted);
}

#[test]
fn what_is_another_file_or_opened_otherwise_is_opened_again() {
    let again = |between: Operation, flags: RecordFlags| {
        let mut trace = trace();
        use_once(&mut trace, Operation::Pread, 1);
        trace.on_path(between, ONE, "/f", 0);
        on(&mut trace, Operation::Openat, ONE, 2);
        trace.last().expect("a record").flags = flags;
        on(&mut trace, Operation::Close, ONE, 2);
        apply(&trace.plan(), &[parse("keep-open").expect("a change")]).is_err()
    };
    assert!(!again(Operation::Stat, RecordFlags::NONE));
    assert!(again(Operation::Unlink, RecordFlags::NONE), "its name was another's");
    for flags in [
        RecordFlags::APPEND,
        RecordFlags::CREATE,
        RecordFlags::TRUNCATE,
        RecordFlags::DIRECT,
        RecordFlags::SYNC,
    ] {
        assert!(again(Operation::Stat, flags), "{flags}");
    }
}

#[test]
fn what_is_open_at_the_same_time_or_closed_elsewhere_stays() {
    let mut trace = trace();
    for operation in [Operation::Openat, Operation::Pread] {
        on(&mut trace, operation, ONE, 1);
        on(&mut trace, operation, ONE, 2);
    }
    let why = why_not(&trace.plan(), "keep-open");
    assert!(
        why.ends_with("no thread opens a file again that it opened and closed before"),
        "{why}"
    );
    on(&mut trace, Operation::Close, OTHER, 2);
    on(&mut trace, Operation::Close, ONE, 1);
    use_once(&mut trace, Operation::Pread, 3);
    let text = after(&trace.plan(), "keep-open");
    assert_eq!(text.matches("open ").count(), 2, "{text}");
    assert_eq!(text.matches("close ").count(), 2, "{text}");
}
