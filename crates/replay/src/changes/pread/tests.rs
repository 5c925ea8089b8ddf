//! Reads that say where.

use hotset_facts::trace::{FileIndex, Operation, ProcessIndex, RecordFlags};

use crate::build::testing::Trace;
use crate::changes::plan_text::{after, why_not};
use crate::changes::{apply, parse};

const ONE: (ProcessIndex, u32) = (ProcessIndex(0), 1);
const SIZE: u64 = 9000;

fn trace() -> Trace {
    let mut trace = Trace::default();
    trace.process(1, None);
    trace.file("/f", SIZE);
    trace
}

fn on(trace: &mut Trace, operation: Operation, description: u64, range: (u64, u64)) {
    let record = trace.on_file(operation, ONE, ("/f", FileIndex(0), description), range);
    record.flags = match operation {
        Operation::Read | Operation::Write => RecordFlags::POSITION,
        Operation::Mmap => RecordFlags::PRIVATE,
        Operation::Madvise => RecordFlags::RANDOM,
        _ => RecordFlags::NONE,
    };
}

fn fault(trace: &mut Trace, tid: u32, page: u64) {
    let path = trace.path("/f");
    let fault = trace.add(Operation::MinorFault, (ProcessIndex(0), tid), 0);
    (fault.path, fault.file) = (Some(path), Some(FileIndex(0)));
    fault.offset = Some(page * 4096);
}

#[test]
fn a_seek_and_a_read_become_one_call() {
    let mut trace = trace();
    for (offset, bytes) in [(0, 100), (4000, 100), (4100, 50), (10, 10)] {
        on(&mut trace, Operation::Read, 1, (offset, bytes));
    }
    let wanted = "thread 0
  pread 0 @0+100=100 #0
  pread 0 @4000+100=100 #1
  pread 0 @4100+50=50 #2
  pread 0 @10+10=10 #3
";
    assert_eq!(after(&trace.plan(), "pread"), wanted);
    on(&mut trace, Operation::Write, 1, (20, 10));
    let why = why_not(&trace.plan(), "pread");
    assert!(why.contains("no file is read after lseek"), "a write needs the position: {why}");
}

#[test]
fn what_is_read_in_order_stays() {
    let mut trace = trace();
    for offset in [0, 100] {
        on(&mut trace, Operation::Read, 1, (offset, 100));
    }
    assert!(why_not(&trace.plan(), "pread").contains("no file is read after lseek"));
}

#[test]
fn pages_of_a_mapping_are_read_while_its_file_is_open() {
    let mut trace = trace();
    on(&mut trace, Operation::Openat, 1, (0, 0));
    on(&mut trace, Operation::Mmap, 1, (0, SIZE));
    on(&mut trace, Operation::Close, 1, (0, 0));
    on(&mut trace, Operation::Madvise, 1, (0, SIZE));
    trace.last().expect("a record").result = Some(0);
    fault(&mut trace, 1, 2);
    fault(&mut trace, 2, 0);
    on(&mut trace, Operation::Munmap, 1, (0, SIZE));
    let wanted = "thread 0
  open 0 @0+0=0 #0
  fadvise 0 @0+9000=0 #3 random
  pread 0 @8192+4096=808 #4
  wait 1 1
  close 0 @0+0=0 #6
thread 1
  wait 0 3
  pread 0 @0+4096=4096 #5
";
    assert_eq!(after(&trace.plan(), "pread"), wanted);
}

#[test]
fn a_file_that_is_never_unmapped_is_never_closed() {
    let mut trace = trace();
    on(&mut trace, Operation::Openat, 1, (0, 0));
    on(&mut trace, Operation::Mmap, 1, (0, 4096));
    on(&mut trace, Operation::Mmap, 1, (4096, SIZE));
    on(&mut trace, Operation::Close, 1, (0, 0));
    fault(&mut trace, 1, 0);
    fault(&mut trace, 1, 1);
    on(&mut trace, Operation::Munmap, 1, (0, 4096));
    let text = after(&trace.plan(), "pread");
    assert!(!text.contains("close") && !text.contains("mmap"), "{text}");
    on(&mut trace, Operation::Munmap, 1, (4096, SIZE));
    let text = after(&trace.plan(), "pread");
    assert!(text.ends_with("  close 0 @0+0=0 #7\n"), "after the last of its mappings: {text}");
}

#[test]
fn a_mapping_that_nobody_was_seen_to_make_is_read_by_a_new_descriptor() {
    let mut trace = trace();
    fault(&mut trace, 1, 1);
    let asked = parse("pread").expect("a change");
    let plan = apply(&trace.plan(), &[asked]).expect("a plan").plan;
    assert_eq!((plan.slots.len(), plan.slots[0].opened_before), (1, Some(0)));
    assert_eq!(plan.threads[0].steps[0].target, 0);
}

#[test]
fn what_is_stored_into_or_written_stays_mapped() {
    let stays = |operation: Operation, stores: bool, page: u64| {
        let mut trace = trace();
        on(&mut trace, Operation::Openat, 1, (0, 0));
        on(&mut trace, Operation::Mmap, 1, (0, 4 * 4096));
        fault(&mut trace, 1, 0);
        fault(&mut trace, 1, page);
        if stores {
            trace.last().expect("a record").flags = RecordFlags::STORE;
        }
        on(&mut trace, operation, 1, (0, 10));
        apply(&trace.plan(), &[parse("pread").expect("a change")]).is_err()
    };
    assert!(!stays(Operation::Pread, false, 1));
    assert!(stays(Operation::Pread, true, 1), "its own pages differ from the file");
    assert!(stays(Operation::Pwrite, false, 1), "how long the file is changes");
    assert!(stays(Operation::Pread, false, 3), "the page is behind the end");
}

#[test]
fn what_several_threads_open_map_and_close_stays_mapped() {
    let stays = |mapped_by: u32, closed_by: u32| {
        let mut trace = trace();
        on(&mut trace, Operation::Openat, 1, (0, 0));
        on(&mut trace, Operation::Mmap, 1, (0, SIZE));
        let map = trace.last().expect("a record");
        map.tid = Some(mapped_by);
        fault(&mut trace, 1, 0);
        on(&mut trace, Operation::Close, 1, (0, 0));
        trace.last().expect("a record").tid = Some(closed_by);
        apply(&trace.plan(), &[parse("pread").expect("a change")]).is_err()
    };
    assert!(!stays(1, 1));
    assert!(stays(2, 1), "who waits for the mapping need not wait for the open");
    assert!(stays(1, 2));
}
