//! Small files in one.

use hotset_facts::replay::{FilePart, FileRole, ReplayPlan, StepKind};
use hotset_facts::trace::{Operation, ProcessIndex, RecordFlags};

use crate::build::testing::Trace;
use crate::changes::check::{Permits, Violation, check};
use crate::changes::plan_text::{after, plan_text, why_not};
use crate::changes::{apply, parse};

/// A thread opens, asks for, reads to the end and closes these files, in two reads each.
fn load(trace: &mut Trace, tid: u32, files: &[(&str, u64)]) {
    let who = (ProcessIndex(0), tid);
    for (path, size) in files {
        let file = trace.file(path, *size);
        let of = (*path, file, u64::from(file.0) + 1);
        trace.on_file(Operation::Openat, who, of, (0, 0));
        trace.on_path(Operation::Newfstatat, who, path, 0);
        for (offset, result) in [(0, size - 10), (size - 10, 10), (*size, 0)] {
            let record = trace.on_file(Operation::Read, who, of, (offset, size - 10));
            (record.result, record.flags) = (Some(result as i64), RecordFlags::POSITION);
        }
        trace.on_file(Operation::Close, who, of, (0, 0));
    }
}

fn trace(files: &[(&str, u64)]) -> Trace {
    let mut trace = Trace::default();
    trace.process(1, None);
    load(&mut trace, 1, files);
    trace
}

fn packed(plan: &ReplayPlan) -> ReplayPlan {
    apply(plan, &[parse("packed").expect("a change")]).expect("a plan").plan
}

#[test]
fn each_file_is_one_read_of_the_pack() {
    let mut trace = trace(&[("/b", 5_000), ("/a", 300)]);
    trace.on_path(Operation::Stat, (ProcessIndex(0), 1), "/b", 0);
    let plan = trace.plan();
    let new = packed(&plan);
    let wanted = "thread 0
  open 2 @2+0=0 #0
  pread 2 @0+5000=5000 #2
  pread 2 @5000+300=300 #8
  stat 0 @0+0=0 #12
";
    assert_eq!(plan_text(&new), wanted, "opened once, never closed; a later lookup stays");
    let [.., pack] = new.files.as_slice() else { panic!("no file") };
    assert_eq!((pack.role, pack.is_changed, pack.is_there), (FileRole::Copy, false, true));
    assert_eq!((pack.size_bytes, pack.touched.as_slice()), (5_300, &[(0, 5_300)][..]));
    let parts = [FilePart { file: 0, offset: 0 }, FilePart { file: 1, offset: 5_000 }];
    assert_eq!(pack.parts, parts);
    assert_eq!(
        (new.paths[2].bytes.as_slice(), new.paths[2].role),
        (&b"/hotset-packed"[..], FileRole::Copy)
    );
    assert_eq!(new.there.last().map(|name| (name.path, name.file)), Some((2, Some(2))));
    assert_eq!(new.slots[2].file, Some(2));
    assert!(why_not(&new, "packed").contains("no two files"), "once is all");
}

#[test]
fn copies_that_nobody_changes_are_packed_as_well() {
    let mut trace = trace(&[("/a", 100), ("/b", 100)]);
    trace.on_path(Operation::Stat, (ProcessIndex(0), 1), "/hotset-packed", 0);
    let new = packed(&trace.plan_on_copies());
    assert_eq!(new.threads[0].steps.len(), 4);
    let name = new.paths.last().map(|path| path.bytes.as_slice());
    assert_eq!(name, Some(&b"/hotset-packed-2"[..]), "the program has a file of that name");
}

#[test]
fn each_thread_opens_the_pack_for_itself() {
    let mut trace = trace(&[("/a", 100)]);
    load(&mut trace, 2, &[("/b", 200)]);
    let text = after(&trace.plan(), "packed");
    let wanted = "thread 0
  open 2 @2+0=0 #0
  pread 2 @0+100=100 #2
thread 1
  wait 0 2
  open 3 @2+0=0 #6
  pread 3 @100+200=200 #8
";
    assert_eq!(text, wanted);
}

#[test]
fn what_was_cached_is_so_in_the_pack_as_far_as_pages_are_whole() {
    let trace = trace(&[("/a", 5_000), ("/b", 5_000), ("/c", 5_000)]);
    let mut plan = trace.plan();
    for file in [0, 1] {
        plan.files[file].cached = vec![(0, 8_192)];
    }
    assert_eq!(packed(&plan).files[3].cached, [(0, 8_192)], "the last page of /b is half of /c");
    plan.files[2].cached = vec![(0, 8_192)];
    assert_eq!(packed(&plan).files[3].cached, [(0, 15_000)]);
    plan.files[0].cached.clear();
    assert_eq!(packed(&plan).files[3].cached, [(8_192, 15_000)]);
}

#[test]
fn what_is_large_written_mapped_or_left_open_stays() {
    let stays = |change: &dyn Fn(&mut Trace)| {
        let mut trace = trace(&[("/a", 100), ("/b", 100)]);
        change(&mut trace);
        apply(&trace.plan(), &[parse("packed").expect("a change")]).is_err()
    };
    let one = (ProcessIndex(0), 1);
    assert!(!stays(&|_| {}));
    let written = |trace: &mut Trace| {
        trace.on_file(
            Operation::Pwrite,
            one,
            ("/a", hotset_facts::trace::FileIndex(0), 9),
            (0, 10),
        );
    };
    assert!(stays(&written), "what it has changes");
    assert!(stays(&|trace| trace.lists.files[0].size_bytes = Some(65_537)));
    let open = |trace: &mut Trace| trace.last().expect("a record").operation = Operation::Fsync;
    assert!(stays(&|trace| {
        open(trace);
        trace.last().expect("a record").class = Operation::Fsync.class();
    }));
    assert!(stays(&|trace| trace.last().expect("a record").tid = Some(2)), "two threads");
}

#[test]
fn a_read_of_the_wrong_part_is_found() {
    let plan = trace(&[("/a", 100), ("/b", 100)]).plan();
    let permits = Permits::default();
    let found = |change: &dyn Fn(&mut ReplayPlan)| {
        let mut new = packed(&plan);
        change(&mut new);
        check(&plan, &new, permits)
    };
    assert_eq!(found(&|_| {}), Ok(()));
    let wrong = |record: u32| Err(Violation::Read { record });
    assert_eq!(found(&|new| new.threads[0].steps[1].offset = 100), wrong(2));
    assert_eq!(found(&|new| new.threads[0].steps[1].result = 99), wrong(3));
    assert_eq!(found(&|new| new.files[2].parts.swap(0, 1)), Ok(()), "their order says nothing");
    let other = |new: &mut ReplayPlan| new.files[2].parts[1].offset = 150;
    assert_eq!(found(&other), wrong(8));
    let late =
        |new: &mut ReplayPlan| new.threads[0].steps.retain(|step| step.kind != StepKind::Open);
    assert_eq!(found(&late), Err(Violation::NotOpen { record: 2 }));
}
