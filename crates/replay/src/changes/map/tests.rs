//! Reads that become loads.

use hotset_facts::trace::{FileIndex, Operation, ProcessIndex, RecordFlags};

use crate::build::testing::Trace;
use crate::changes::plan_text::{after, why_not};
use crate::changes::{apply, parse};

const ONE: (ProcessIndex, u32) = (ProcessIndex(0), 1);
const SIZE: u64 = 10_000;

fn trace() -> Trace {
    let mut trace = Trace::default();
    trace.process(1, None);
    trace.file("/f", SIZE);
    trace
}

fn on(trace: &mut Trace, operation: Operation, tid: u32, range: (u64, u64)) {
    let record = trace.on_file(operation, (ProcessIndex(0), tid), ("/f", FileIndex(0), 1), range);
    let moves = matches!(operation, Operation::Read | Operation::Write);
    record.flags = if moves { RecordFlags::POSITION } else { RecordFlags::NONE };
}

#[test]
fn a_file_is_mapped_after_its_open_and_its_pages_are_touched() {
    let mut trace = trace();
    on(&mut trace, Operation::Openat, 1, (0, 0));
    on(&mut trace, Operation::Fadvise, 1, (0, 0));
    on(&mut trace, Operation::Read, 1, (0, 100));
    on(&mut trace, Operation::Read, 1, (4000, 6000));
    on(&mut trace, Operation::Read, 1, (SIZE, 100));
    trace.last().expect("a record").result = Some(0);
    on(&mut trace, Operation::Pread, 2, (4096, 4096));
    on(&mut trace, Operation::Close, 1, (0, 0));
    let wanted = "thread 0
  open 0 @0+0=0 #0
  mmap 0 @0+10000=0 #0
  fadvise 0 @0+0=0 #1
  load 0 @0+1=0 #2
  load 0 @0+1=0 #3
  load 0 @4096+1=0 #3
  load 0 @8192+1=0 #3
  wait 1 1
  munmap 0 @0+0=0 #6
  close 0 @0+0=0 #6
thread 1
  wait 0 7
  load 0 @4096+1=0 #5
";
    assert_eq!(after(&trace.plan(), "mmap"), wanted);
    let asked = parse("mmap").expect("a change");
    let changed = apply(&trace.plan(), &[asked]).expect("a plan");
    let mapping = changed.plan.mappings[0];
    assert_eq!((mapping.file, mapping.slot, mapping.bytes), (0, Some(0), SIZE));
    assert!(mapping.is_shared && !mapping.is_writable && !mapping.is_made_before);
    assert_eq!(changed.applied[0].affected, 4);
}

#[test]
fn what_is_open_before_is_mapped_before() {
    let mut trace = trace();
    on(&mut trace, Operation::Pread, 1, (0, 100));
    on(&mut trace, Operation::Close, 1, (0, 0));
    let asked = parse("mmap").expect("a change");
    let plan = apply(&trace.plan(), &[asked]).expect("a plan").plan;
    assert!(plan.mappings[0].is_made_before && plan.mappings[0].slot.is_none());
    let text = after(&trace.plan(), "mmap");
    assert_eq!(text, "thread 0\n  load 0 @0+1=0 #0\n  close 0 @0+0=0 #1\n");
}

#[test]
fn what_cannot_be_mapped_is_read() {
    let reads = |operation: Operation, range: (u64, u64), result: i64, flags: RecordFlags| {
        let mut trace = trace();
        on(&mut trace, Operation::Openat, 1, (0, 0));
        on(&mut trace, Operation::Pread, 1, (0, 100));
        on(&mut trace, operation, 1, range);
        let record = trace.last().expect("a record");
        (record.result, record.flags) = (Some(result), flags);
        apply(&trace.plan(), &[parse("mmap").expect("a change")]).is_err()
    };
    let none = RecordFlags::NONE;
    assert!(!reads(Operation::Pread, (0, 100), 100, none));
    assert!(reads(Operation::Pwrite, (0, 100), 100, none), "it is written");
    assert!(reads(Operation::Pread, (SIZE, 100), 100, none), "it is longer than was known");
    assert!(reads(Operation::Pread, (0, 100), -5, none), "a read failed");
    assert!(reads(Operation::Pread, (0, 4096), 4096, RecordFlags::DIRECT), "direct I/O");
    assert!(reads(Operation::Read, (0, 100), 100, none), "where it reads is not known");
    let mut trace = trace();
    trace.on_path(Operation::Stat, ONE, "/f", 0);
    let why = why_not(&trace.plan(), "mmap");
    assert!(why.contains("no open file is only read"), "{why}");
}
