//! What is read twice, and what is only so by its looks.

use hotset_facts::trace::{FileIndex, Operation, ProcessIndex, RecordFlags};

use crate::build::testing::Trace;
use crate::changes::plan_text::{after, why_not};

/// A trace of one file of 1000 bytes.
struct One {
    trace: Trace,
    process: ProcessIndex,
    file: FileIndex,
}

impl One {
    fn new() -> Self {
        let mut trace = Trace::default();
        let (process, file) = (trace.process(1, None), trace.file("/f", 1000));
        Self { trace, process, file }
    }

    /// A thread does something to the file by a description.
    fn on(&mut self, operation: Operation, (tid, description): (u32, u64), range: (u64, u64)) {
        let of = ("/f", self.file, description);
        let record = self.trace.on_file(operation, (self.process, tid), of, range);
        if operation == Operation::Read {
            record.flags = RecordFlags::POSITION;
        }
    }

    /// The file is opened, read whole with a read that meets its end, and closed.
    fn load(&mut self, description: u64) {
        self.on(Operation::Openat, (1, description), (0, 0));
        self.on(Operation::Read, (1, description), (0, 1000));
        self.on(Operation::Newfstatat, (1, description), (0, 0));
        self.on(Operation::Read, (1, description), (1000, 1000));
        self.trace.last().expect("a record").result = Some(0);
        self.on(Operation::Close, (1, description), (0, 0));
    }

    fn after(&self) -> String {
        after(&self.trace.plan(), "once")
    }

    fn why_not(&self) -> String {
        why_not(&self.trace.plan(), "once")
    }
}

#[test]
fn a_file_that_is_loaded_again_is_not_even_opened() {
    let mut one = One::new();
    for description in 1..4 {
        one.load(description);
        one.on(Operation::Newfstatat, (1, 99), (0, 0));
    }
    let wanted = "thread 0
  open 0 @0+0=0 #0
  read 0 @0+1000=1000 #1 position
  stat 0 @0+0=0 #2
  read 0 @1000+1000=0 #3 position
  close 0 @0+0=0 #4
  stat 0 @0+0=0 #5
  stat 0 @0+0=0 #11
  stat 0 @0+0=0 #17
";
    assert_eq!(one.after(), wanted, "whether it changed is still asked");
}

#[test]
fn what_is_left_to_read_is_read_from_where_it_is() {
    let mut one = One::new();
    one.on(Operation::Pread, (1, 9), (100, 300));
    one.on(Operation::Openat, (1, 1), (0, 0));
    for (offset, bytes) in [(0, 100), (100, 100), (200, 100), (300, 200), (100, 50), (500, 10)] {
        one.on(Operation::Read, (1, 1), (offset, bytes));
    }
    let wanted = "thread 0
  pread 0 @100+300=300 #0
  open 1 @0+0=0 #1
  read 1 @0+100=100 #2 position
  seek 1 @300+0=0 #5
  read 1 @300+200=200 #5 position
  read 1 @500+10=10 #7 position
";
    let text = one.after().replace("lseek", "seek");
    assert_eq!(text, wanted);
}

#[test]
fn what_somebody_wrote_is_read_again() {
    let mut one = One::new();
    one.on(Operation::Pread, (1, 1), (0, 100));
    one.on(Operation::Pwrite, (1, 1), (500, 10));
    one.on(Operation::Pread, (1, 1), (0, 100));
    assert!(one.why_not().contains("no process reads the same bytes"), "{}", one.why_not());
    one.on(Operation::Pread, (1, 1), (0, 100));
    assert!(one.after().contains("#2") && !one.after().contains("#3"));
    one.on(Operation::Pwrite, (2, 2), (900, 10));
    assert!(one.why_not().contains("no process reads"), "another thread may write at any time");
}

#[test]
fn what_another_thread_of_the_process_read_is_waited_for() {
    let mut one = One::new();
    one.on(Operation::Pread, (1, 1), (0, 100));
    one.trace.on_path(Operation::Stat, (one.process, 1), "/else", 0);
    one.trace.on_path(Operation::Stat, (one.process, 2), "/else", 0);
    one.on(Operation::Pread, (2, 1), (50, 50));
    one.on(Operation::Pread, (2, 1), (50, 100));
    one.on(Operation::Pread, (1, 1), (100, 50));
    let wanted = "thread 0
  pread 0 @0+100=100 #0
  stat 1 @0+0=0 #1
  wait 1 2
thread 1
  wait 0 2
  stat 1 @0+0=0 #2
  pread 0 @50+100=100 #4
";
    let text = one.after();
    assert_eq!(text, wanted.replace("  wait 1 2\n", ""), "nothing is left that would wait");
    one.trace.on_path(Operation::Stat, (one.process, 1), "/else", 0);
    let wanted = wanted.replace("  wait 1 2\n", "  wait 1 2\n  stat 1 @0+0=0 #6\n");
    assert_eq!(one.after(), wanted);
    let other = one.trace.process(5, None);
    let of = ("/f", one.file, 7);
    one.trace.on_file(Operation::Pread, (other, 5), of, (0, 100));
    assert!(one.after().contains("#7"), "another process knows nothing of it");
}

#[test]
fn what_is_new_or_of_an_unsure_position_is_read() {
    let mut one = One::new();
    one.on(Operation::Pread, (1, 1), (0, 100));
    one.on(Operation::Read, (1, 3), (0, 100));
    one.trace.last().expect("a record").flags = RecordFlags::NONE;
    assert!(one.why_not().contains("no process reads"), "where it is nobody knows");
    one.on(Operation::Pread, (1, 4), (50, 100));
    assert!(one.why_not().contains("no process reads"), "half of it is new");
    one.on(Operation::Pread, (1, 4), (60, 80));
    assert!(!one.after().contains("@60+80"), "{}", one.after());
}

#[test]
fn what_is_truncated_by_name_is_read_again() {
    let mut one = One::new();
    one.on(Operation::Pread, (1, 1), (0, 100));
    one.on(Operation::Truncate, (1, 1), (50, 0));
    one.on(Operation::Pread, (1, 1), (0, 50));
    assert!(one.why_not().contains("no process reads"));
    let mut one = One::new();
    one.on(Operation::Pread, (1, 1), (0, 100));
    one.on(Operation::Openat, (1, 2), (0, 0));
    let open = one.trace.last().expect("a record");
    (open.flags, open.description) = (RecordFlags::TRUNCATE, None);
    one.on(Operation::Pread, (1, 1), (0, 50));
    one.trace.last().expect("a record").result = Some(0);
    assert!(one.why_not().contains("no process reads"), "it is emptied by an open");
}

#[test]
fn what_nobody_was_seen_to_open_is_still_closed() {
    let mut one = One::new();
    for description in 1..3 {
        one.on(Operation::Pread, (1, description), (0, 100));
        one.on(Operation::Close, (1, description), (0, 0));
    }
    let wanted = "thread 0
  pread 0 @0+100=100 #0
  close 0 @0+0=0 #1
  close 1 @0+0=0 #3
";
    assert_eq!(one.after().replace("+100=100 #3", ""), wanted);
}
