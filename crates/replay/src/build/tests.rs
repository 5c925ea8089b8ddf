//! Plans of small traces.

use hotset_facts::replay::{FileRole, LeftOut, NameKind, ReplayPlan, Step, StepKind, Wait};
use hotset_facts::trace::{FileIndex, Operation, RecordFlags, RecordPages};
use proptest::prelude::*;

use super::testing::Trace;

fn kinds(plan: &ReplayPlan, thread: usize) -> Vec<StepKind> {
    plan.threads[thread].steps.iter().map(|step| step.kind).collect()
}

#[test]
fn one_thread_reads_a_file_by_its_position() {
    let mut trace = Trace::default();
    let one = (trace.process(7, None), 7);
    let file = trace.file("/data", 10_000);
    let of = ("/data", file, 1);
    trace.on_file(Operation::Openat, one, of, (0, 0)).result = Some(3);
    for (offset, bytes) in [(0, 4096), (4096, 4096), (100, 50)] {
        trace.on_file(Operation::Read, one, of, (offset, bytes)).flags = RecordFlags::POSITION;
    }
    trace.on_file(Operation::Close, one, of, (0, 0));
    let plan = trace.plan();
    let wanted = [
        StepKind::Open,
        StepKind::Read,
        StepKind::Read,
        StepKind::Seek,
        StepKind::Read,
        StepKind::Close,
    ];
    assert_eq!(kinds(&plan, 0), wanted, "a position that moved otherwise is set");
    assert_eq!(plan.threads[0].steps[3].offset, 100);
    assert_eq!(plan.threads[0].steps[0].result, 0, "which descriptor it was is another's");
    assert_eq!(
        (plan.slots.len(), plan.slots[0].writes, plan.slots[0].opened_before),
        (1, false, None)
    );
    let file = &plan.files[0];
    assert_eq!(
        (file.role, file.size_bytes, file.touched.as_slice()),
        (FileRole::Original, 10_000, &[(0, 8192)][..])
    );
    assert_eq!((plan.recorded.records, plan.recorded.duration_ns), (5, 50));
    assert!(plan.left_out.is_empty() && plan.there.is_empty());
}

#[test]
fn a_read_after_an_append_says_where_it_begins() {
    let mut trace = Trace::default();
    let one = (trace.process(7, None), 7);
    let of = ("/log", trace.file("/log", 1_000), 1);
    let on = |trace: &mut Trace, operation: Operation, offset: u64, result: i64| {
        let record = trace.on_file(operation, one, of, (offset, 100));
        record.flags = RecordFlags::POSITION.with(RecordFlags::APPEND);
        record.result = Some(result);
    };
    on(&mut trace, Operation::Write, 1_000, -28);
    on(&mut trace, Operation::Read, 0, 100);
    on(&mut trace, Operation::Write, 1_000, 100);
    on(&mut trace, Operation::Read, 1_100, 0);
    on(&mut trace, Operation::Write, 1_100, 100);
    on(&mut trace, Operation::Read, 100, 100);
    let steps = trace.plan().threads.remove(0).steps;
    let steps: Vec<_> = steps.iter().map(|step| (step.kind, step.offset)).collect();
    use StepKind::{Read, Seek, Write};
    let wanted =
        [(Write, 1_000), (Read, 0), (Write, 1_000), (Read, 1_100), (Write, 1_100), (Seek, 100)];
    assert_eq!(steps[..6], wanted, "one that failed left it at the beginning");
    assert_eq!(steps[6..], [(Read, 100)]);
}

#[test]
fn all_can_be_on_copies() {
    let mut trace = Trace::default();
    let one = (trace.process(7, None), 7);
    let (read, written) = (trace.file("/d/read", 500), trace.file("/d/written", 500));
    trace.on_file(Operation::Pread, one, ("/d/read", read, 1), (0, 100));
    trace.on_file(Operation::Pwrite, one, ("/d/written", written, 2), (0, 100));
    trace.on_path(Operation::Newfstatat, one, "/d", 0);
    trace.on_path(Operation::Newfstatat, one, "/missing", -2);
    let plan = trace.plan_on_copies();
    assert!(plan.paths.iter().all(|path| path.role == FileRole::Copy));
    let files: Vec<(FileRole, bool)> =
        plan.files.iter().map(|file| (file.role, file.is_changed)).collect();
    assert_eq!(files, [(FileRole::Copy, false), (FileRole::Copy, true)]);
    let there: Vec<(u32, NameKind)> =
        plan.there.iter().map(|name| (name.path, name.kind)).collect();
    assert_eq!(there, [(0, NameKind::File), (1, NameKind::File), (2, NameKind::Directory)]);
}

#[test]
fn a_descriptor_that_is_used_after_a_close_of_its_copy_stays_open() {
    let mut trace = Trace::default();
    let one = (trace.process(7, None), 7);
    let file = trace.file("/script", 10_000);
    let of = ("/script", file, 1);
    trace.on_file(Operation::Openat, one, of, (0, 0)).result = Some(3);
    trace.on_file(Operation::Close, one, of, (0, 0)).result = Some(0);
    trace.on_file(Operation::Read, one, of, (0, 100)).flags = RecordFlags::POSITION;
    let plan = trace.plan();
    assert_eq!(kinds(&plan, 0), [StepKind::Open, StepKind::Read]);
    assert_eq!(plan.left_out.get(&LeftOut::SharedClose), Some(&1));
}

#[test]
fn what_is_written_is_a_copy_and_a_new_file_is_not_there_before() {
    let mut trace = Trace::default();
    let one = (trace.process(7, None), 7);
    let (old, new) = (trace.file("/d/old", 500), trace.file("/d/new", 0));
    trace.on_path(Operation::Newfstatat, one, "/d/new", -2);
    let open = trace.on_file(Operation::Openat, one, ("/d/new", new, 1), (0, 0));
    open.flags = RecordFlags::CREATE;
    trace.on_file(Operation::Pwrite, one, ("/d/new", new, 1), (0, 100));
    trace.on_file(Operation::Pwrite, one, ("/d/old", old, 2), (0, 100));
    trace.on_path(Operation::Newfstatat, one, "/d/else", 0);
    let plan = trace.plan();
    let roles: Vec<FileRole> = plan.files.iter().map(|file| file.role).collect();
    assert_eq!(roles, [FileRole::Copy, FileRole::Copy]);
    let there: Vec<bool> = plan.files.iter().map(|file| file.is_there).collect();
    assert_eq!(there, [false, true]);
    assert_eq!(plan.slots[1].opened_before, Some(1), "nobody was seen to open it");
    let copies = plan.paths.iter().filter(|path| path.role == FileRole::Copy);
    let copies: Vec<&[u8]> = copies.map(|path| path.bytes.as_slice()).collect();
    assert_eq!(copies, [&b"/d/new"[..], b"/d/old"]);
    let names: Vec<(u32, NameKind)> =
        plan.there.iter().map(|name| (name.path, name.kind)).collect();
    assert_eq!(names, [(1, NameKind::File)]);
}

#[test]
fn whether_a_file_was_made_is_told_by_what_was_written_first() {
    let made = |flags, hits, size_bytes| {
        let mut trace = Trace::default();
        let one = (trace.process(7, None), 7);
        let file = trace.file("/t", size_bytes);
        trace.on_file(Operation::Openat, one, ("/t", file, 1), (0, 0)).flags = flags;
        let write = trace.on_file(Operation::Write, one, ("/t", file, 1), (0, 100));
        write.pages = Some(RecordPages { pages: 1, hits, ..RecordPages::default() });
        let plan = trace.plan();
        assert_eq!(plan.there.is_empty(), !plan.files[0].is_there);
        !plan.files[0].is_there
    };
    assert!(made(RecordFlags::CREATE, 0, 400), "its size was asked for when it was written");
    assert!(!made(RecordFlags::CREATE, 1, 400), "there was a page");
    assert!(!made(RecordFlags::NONE, 0, 0), "it was opened without being made");
}

#[test]
fn a_file_that_was_cached_as_a_whole_is_so_whatever_was_asked_for() {
    for (cached_pages, wanted) in
        [(Some(3), vec![(0, 12_288)]), (Some(0), Vec::new()), (None, vec![(0, 4096)])]
    {
        let mut trace = Trace::default();
        let one = (trace.process(7, None), 7);
        let file = trace.file("/t", 10_000);
        trace.lists.files[0].cached_pages = cached_pages;
        let read = trace.on_file(Operation::Pread, one, ("/t", file, 1), (0, 100));
        read.pages = Some(RecordPages { pages: 1, hits: 1, ..RecordPages::default() });
        assert_eq!(trace.plan().files[0].cached, wanted);
    }
}

#[test]
fn faults_are_loads_from_the_mapping_of_their_process() {
    let mut trace = Trace::default();
    let (own, other) = (trace.process(7, None), trace.process(9, None));
    let file = trace.file("/lib", 100_000);
    let map = trace.on_file(Operation::Mmap, (own, 7), ("/lib", file, 1), (8192, 65_536));
    (map.result, map.flags) = (Some(0x7000_0000), RecordFlags::PRIVATE);
    for (process, offset) in [((own, 7), 12_288), ((other, 9), 4096)] {
        let path = trace.path("/lib");
        let fault = trace.add(Operation::MinorFault, process, 0);
        (fault.path, fault.file, fault.offset) = (Some(path), Some(file), Some(offset));
        (fault.result, fault.duration_ns) = (None, None);
    }
    let plan = trace.plan();
    assert_eq!(kinds(&plan, 0), [StepKind::Map, StepKind::Load]);
    let Step { kind, target, offset, .. } = plan.threads[1].steps[0];
    assert_eq!((kind, target, offset), (StepKind::Load, 1, 4096));
    let before: Vec<(bool, u64)> =
        plan.mappings.iter().map(|mapping| (mapping.is_made_before, mapping.bytes)).collect();
    assert_eq!(before, [(false, 65_536), (true, 102_400)]);
    assert_eq!(plan.recorded.untimed, 2);
}

#[test]
fn what_is_no_step_is_counted_by_its_reason() {
    let mut trace = Trace::default();
    let one = (trace.process(7, None), 7);
    let file = trace.file("/f", 1);
    trace.on_path(Operation::Stat, one, "relative", 0);
    trace.on_path(Operation::Openat, one, "/proc/self/maps", 3);
    trace.add(Operation::Access, one, 0);
    trace.on_path(Operation::Execve, one, "/bin/true", 0);
    trace.on_path(Operation::Openat, one, "/root/secret", -13);
    trace.on_file(Operation::Writeback, one, ("/f", file, 1), (0, 1));
    trace.on_file(Operation::UringSplice, one, ("/f", file, 1), (0, 1));
    for _ in 0..2 {
        trace.on_file(Operation::Pread, one, ("/f", file, 1), (0, 1));
        trace.on_file(Operation::Close, one, ("/f", file, 1), (0, 0));
    }
    let plan = trace.plan();
    assert_eq!(kinds(&plan, 0), [StepKind::ReadAt, StepKind::ReadAt, StepKind::Close]);
    let left: Vec<(LeftOut, u64)> = plan.left_out.into_iter().collect();
    let wanted = [
        (LeftOut::NoPath, 1),
        (LeftOut::RelativePath, 1),
        (LeftOut::SpecialFile, 1),
        (LeftOut::OtherError, 1),
        (LeftOut::Exec, 1),
        (LeftOut::Kernel, 1),
        (LeftOut::SharedClose, 1),
        (LeftOut::NotReplayed, 1),
    ];
    assert_eq!(left, wanted);
}

/// One random request: thread, what, which file, where, how long, how long after the one before.
type Request = (u32, u8, u64, u64, u64, u64);

fn random(requests: &[Request]) -> Trace {
    let mut trace = Trace::default();
    let processes = [trace.process(1, None), trace.process(2, Some(1)), trace.process(3, Some(1))];
    let files: Vec<FileIndex> = (0..3).map(|at| trace.file(&format!("/d/{at}"), 100)).collect();
    let mut free_ns = [0_u64; 4];
    for (thread, what, file, offset, duration_ns, after_ns) in requests {
        let (process, tid) = (processes[(*thread % 3) as usize], *thread);
        let path = format!("/d/{file}");
        let of = (path.as_str(), files[*file as usize], *file + 1);
        let record = match what % 7 {
            0 => trace.on_file(Operation::Pread, (process, tid), of, (*offset, 8)),
            1 => trace.on_file(Operation::Pwrite, (process, tid), of, (*offset, 8)),
            2 => trace.on_file(Operation::Read, (process, tid), of, (*offset, 8)),
            3 => trace.on_path(Operation::Unlink, (process, tid), &path, 0),
            4 => trace.on_path(Operation::Stat, (process, tid), &path, 0),
            5 => trace.on_file(Operation::UringRead, (process, tid), of, (*offset, 8)),
            _ => trace.on_file(Operation::Openat, (process, tid), of, (0, 0)),
        };
        let in_flight = what % 7 == 5;
        if what % 7 == 2 {
            record.flags = RecordFlags::POSITION;
        }
        let free = &mut free_ns[*thread as usize];
        record.start_ns = (*free).max(record.start_ns) + after_ns;
        record.duration_ns = Some(*duration_ns);
        *free = record.start_ns + if in_flight { 1 } else { duration_ns + 1 };
    }
    trace
}

/// Does the steps of all threads, always of the first that need not wait, in an order that begins with `first`: how many are left.
fn left_after_running(plan: &ReplayPlan, first: usize) -> usize {
    let mut done = vec![0_usize; plan.threads.len()];
    let mut goes_on = true;
    while goes_on {
        goes_on = false;
        let threads = done.len();
        for at in (0..threads).map(|at| (at + first) % threads) {
            let thread = &plan.threads[at];
            let waits = |wait: &Wait| {
                wait.before as usize == done[at] && done[wait.thread as usize] < wait.steps as usize
            };
            if done[at] < thread.steps.len() && !thread.waits.iter().any(waits) {
                done[at] += 1;
                goes_on = true;
            }
        }
    }
    plan.threads.iter().zip(done).map(|(thread, done)| thread.steps.len() - done).sum()
}

proptest! {
    #[test]
    fn nobody_waits_for_ever(
        requests in proptest::collection::vec((0_u32..4, 0_u8..7, 0_u64..3, 0_u64..3, 0_u64..500, 0_u64..300), 0..60)
    ) {
        let plan = random(&requests).plan();
        let steps = plan.threads.iter().flat_map(|thread| &thread.steps);
        let is_new = |step: &&Step| matches!(step.kind, StepKind::Seek | StepKind::Drain);
        let new = steps.filter(is_new).count() as u64;
        prop_assert_eq!(plan.steps() - new, requests.len() as u64);
        for thread in &plan.threads {
            let order: Vec<u32> = thread.waits.iter().map(|wait| wait.before).collect();
            prop_assert!(order.is_sorted());
            for wait in &thread.waits {
                prop_assert!((wait.before as usize) < thread.steps.len());
                prop_assert!(wait.steps as usize <= plan.threads[wait.thread as usize].steps.len());
            }
        }
        for first in 0..plan.threads.len() {
            prop_assert_eq!(left_after_running(&plan, first), 0);
        }
    }
}
