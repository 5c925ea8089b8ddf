//! What is joined, and where joining ends.

use hotset_facts::trace::{FileIndex, Operation, ProcessIndex, RecordFlags};

use crate::build::testing::Trace;
use crate::changes::plan_text::{after, why_not};
use crate::changes::{apply, parse};

const POSITION: RecordFlags = RecordFlags::POSITION;

/// A trace of a process with two threads and one file.
struct One {
    trace: Trace,
    process: ProcessIndex,
    file: FileIndex,
}

impl One {
    fn new(size_bytes: u64) -> Self {
        let mut trace = Trace::default();
        let (process, file) = (trace.process(1, None), trace.file("/f", size_bytes));
        Self { trace, process, file }
    }

    /// A thread does something to the file by a description.
    fn on(&mut self, operation: Operation, (tid, description): (u32, u64), range: (u64, u64)) {
        let of = ("/f", self.file, description);
        let record = self.trace.on_file(operation, (self.process, tid), of, range);
        if matches!(operation, Operation::Read | Operation::Write) {
            record.flags = POSITION;
        }
    }

    fn after(&self, asked: &str) -> String {
        after(&self.trace.plan(), asked)
    }
}

#[test]
fn reads_are_joined_where_the_first_was_up_to_the_size() {
    let mut one = One::new(1050);
    for at in 0..10 {
        one.on(Operation::Read, (1, 1), (at * 100, 100));
        one.trace.on_path(Operation::Stat, (one.process, 1), "/else", 0);
    }
    one.on(Operation::Read, (1, 1), (1000, 100));
    one.trace.last().expect("a record").result = Some(50);
    one.on(Operation::Read, (1, 1), (1050, 100));
    one.trace.last().expect("a record").result = Some(0);
    let plan = one.trace.plan();
    let asked = parse("buffer=350").expect("a change");
    let changed = apply(&plan, &[asked]).expect("something to change");
    let reads = changed.plan.threads[0].steps.iter().filter(|step| step.bytes > 0);
    let reads: Vec<(u64, u64, i64, u32)> =
        reads.map(|step| (step.offset, step.bytes, step.result, step.record)).collect();
    let wanted = [
        (0, 300, 300, 0),
        (300, 300, 300, 6),
        (600, 300, 300, 12),
        (900, 200, 150, 18),
        (1050, 100, 0, 21),
    ];
    assert_eq!(reads, wanted, "the end of the file is still asked for");
    let applied = &changed.applied[0];
    let counts = (applied.steps_before, applied.steps_after, applied.affected);
    assert_eq!((applied.what.as_str(), counts), ("buffer=350", (22, 15, 11)));
}

#[test]
fn writes_are_joined_where_the_last_was() {
    let mut one = One::new(0);
    one.on(Operation::Openat, (1, 1), (0, 0));
    for at in 0..3 {
        one.on(Operation::Write, (1, 1), (at * 100, 100));
        one.trace.on_path(Operation::Stat, (one.process, 1), "/else", 0);
    }
    one.on(Operation::Fsync, (1, 1), (0, 0));
    one.on(Operation::Write, (1, 1), (300, 100));
    one.on(Operation::Close, (1, 1), (0, 0));
    let text = one.after("buffer=64K");
    let wanted = "thread 0
  open 0 @0+0=0 #0
  stat 1 @0+0=0 #2
  stat 1 @0+0=0 #4
  write 0 @0+300=300 #1 position
  stat 1 @0+0=0 #6
  fsync 0 @0+0=0 #7
  write 0 @300+100=100 #8 position
  close 0 @0+0=0 #9
";
    assert_eq!(text, wanted);
}

#[test]
fn what_might_see_or_change_the_bytes_ends_a_buffer() {
    let joins = |operation, description: u64, range| {
        let mut one = One::new(1000);
        for at in 0..2 {
            one.on(Operation::Pwrite, (1, 1), (at * 100, 100));
        }
        one.on(operation, (1, description), range);
        one.on(Operation::Pwrite, (1, 1), (200, 100));
        one.after("buffer=1K").contains("+300=300")
    };
    assert!(joins(Operation::Writeback, 1, (0, 10)), "the kernel writes beside the program");
    for operation in [
        Operation::Newfstatat,
        Operation::Pread,
        Operation::Read,
        Operation::Fdatasync,
        Operation::Ftruncate,
        Operation::Truncate,
        Operation::Fadvise,
        Operation::Unlink,
        Operation::Mmap,
    ] {
        assert!(!joins(operation, 1, (0, 10)), "{operation:?}");
        assert!(!joins(operation, 2, (0, 10)), "{operation:?} by another description");
    }
}

#[test]
fn an_open_that_empties_a_file_by_another_name_ends_its_buffers() {
    let joins = |flags: RecordFlags| {
        let mut one = One::new(1000);
        one.on(Operation::Pwrite, (1, 1), (0, 100));
        let of = ("/link", one.file, 2);
        let open = one.trace.on_file(Operation::Openat, (one.process, 1), of, (0, 0));
        (open.flags, open.description) = (flags, None);
        one.on(Operation::Pwrite, (1, 1), (100, 100));
        let mut plan = one.trace.plan();
        // As if the name had been made by a step.
        plan.there.clear();
        apply(&plan, &[parse("buffer=1K").expect("a change")]).is_ok()
    };
    assert!(joins(RecordFlags::NONE));
    assert!(!joins(RecordFlags::TRUNCATE));
}

#[test]
fn other_reads_of_the_file_end_no_buffer_of_reads() {
    let mut one = One::new(10_000);
    for at in 0..2 {
        one.on(Operation::Read, (1, 1), (at * 100, 100));
        one.on(Operation::Read, (1, 2), (at * 10, 10));
    }
    let text = one.after("buffer=4K");
    assert!(text.contains("@0+200=200") && text.contains("@0+20=20"), "{text}");
}

#[test]
fn a_step_that_another_thread_waits_for_ends_a_buffer_of_writes() {
    let mut one = One::new(0);
    one.on(Operation::Pwrite, (1, 1), (0, 100));
    one.on(Operation::Pwrite, (1, 1), (100, 100));
    one.on(Operation::Pread, (2, 2), (0, 100));
    one.on(Operation::Pwrite, (1, 1), (200, 100));
    one.on(Operation::Pwrite, (1, 1), (300, 100));
    let text = one.after("buffer=1M");
    let wanted = "thread 0
  pwrite 0 @0+200=200 #0
  wait 1 1
  pwrite 0 @200+200=200 #3
thread 1
  wait 0 1
  pread 1 @0+100=100 #2
";
    assert_eq!(text, wanted);
}

#[test]
fn a_wait_ends_a_buffer_of_reads() {
    let mut one = One::new(0);
    one.on(Operation::Pwrite, (1, 1), (0, 100));
    one.on(Operation::Pread, (2, 2), (0, 50));
    one.on(Operation::Pread, (2, 2), (50, 50));
    one.on(Operation::Pwrite, (1, 1), (100, 100));
    one.on(Operation::Pread, (2, 2), (100, 50));
    one.on(Operation::Pread, (2, 2), (150, 50));
    let text = one.after("buffer=1M");
    assert!(text.contains("@0+100=100 #1") && text.contains("@100+100=100 #4"), "{text}");
}

#[test]
fn what_is_not_joined() {
    let never = |flags: RecordFlags, result: i64, next: u64, bytes: u64| {
        let mut one = One::new(100_000);
        one.on(Operation::Pwrite, (1, 1), (0, 100));
        let record = one.trace.last().expect("a record");
        (record.flags, record.result) = (flags, Some(result));
        one.on(Operation::Pwrite, (1, 1), (next, bytes));
        apply(&one.trace.plan(), &[parse("buffer=1000").expect("a change")]).is_err()
    };
    assert!(!never(RecordFlags::SYNC, 100, 100, 900));
    assert!(never(RecordFlags::NONE, 100, 100, 901), "it does not fit");
    assert!(never(RecordFlags::NONE, 100, 101, 100), "there is a gap");
    assert!(never(RecordFlags::NONE, 50, 50, 100), "not all was written");
    assert!(never(RecordFlags::NONE, -28, 0, 100), "it failed");
    assert!(never(RecordFlags::DIRECT, 100, 100, 100), "lengths are those of blocks");
    let mut one = One::new(1000);
    for (offset, result) in [(0, 50), (50, 100)] {
        one.on(Operation::Pread, (1, 1), (offset, 100));
        one.trace.last().expect("a record").result = Some(result);
    }
    assert!(why_not(&one.trace.plan(), "buffer=1000").contains("1000 B"), "it met the end");
    let why = why_not(&One::new(0).trace.plan(), "buffer=64K");
    let wanted = "no two sequential reads or writes of one open file fit into 64 KiB";
    assert!(why.ends_with(wanted), "{why}");
}
