//! Records that become references, and those that take pages out of the cache.

use hotset_facts::trace::{Operation, RecordFlags};
use hotset_facts::{Dev, FileId, PageRange};
use hotset_sizing::RequestKind;
use hotset_sizing::evidence::KernelVersion;

use super::*;
use crate::explain::testing::{MS, Script, US};

const PAGE: u64 = 4096;

fn collected(script: &Script) -> Collected {
    let mut collector = Collector::new(&script.lists, None);
    collector.add(&script.batch()).expect("there is room");
    collector.finish()
}

/// How often each page is asked for the first time: pages that left the cache by themselves count again.
fn firsts(script: &Script) -> u32 {
    let references = collected(script).references;
    let (mut seen, mut firsts) = (HashSet::new(), 0);
    for (request, pages) in references.iter() {
        for page in pages {
            match request.kind {
                RequestKind::Remove => drop(seen.remove(page)),
                kind if kind.is_reference() => firsts += u32::from(seen.insert(*page)),
                _ => {}
            }
        }
    }
    firsts
}

#[test]
fn reads_writes_and_faults_are_references_with_what_they_waited_for() {
    let mut script = Script::new();
    script.read(1, 0, 2 * PAGE, US);
    script.miss(1, 10 * PAGE, 4 * PAGE, 100 * US);
    script.write(2, 0, PAGE, US);
    script.call(Operation::MinorFault, 3, US).offset = Some(5 * PAGE);
    let Collected { references, seen, .. } = collected(&script);
    assert_eq!(references.pages().len(), 8);
    assert_eq!((seen.read_pages, seen.written_pages, seen.faults, seen.files), (6, 1, 1, 3));
    assert_eq!((seen.waited_ns, seen.device_pages), (100 * US, 4));
    assert!(seen.has_large_requests && seen.threads == 1 && seen.unplaced == 0, "{seen:?}");
    assert_eq!(seen.hits, None, "the fault does not tell");
}

#[test]
fn a_request_without_a_result_moved_what_it_asked_for() {
    let mut script = Script::new();
    for result in [None, Some(PAGE as i64), Some(0), Some(-5)] {
        let record = script.read(1, 0, PAGE, US);
        (record.result, record.asked_bytes) = (result, Some(3 * PAGE));
    }
    let Collected { references, seen, .. } = collected(&script);
    assert_eq!((seen.read_pages, references.pages().len(), seen.unplaced), (4, 4, 0));
}

#[test]
fn the_time_of_waits_passes_by_what_is_simulated() {
    let mut script = Script::new();
    script.own(MS);
    script.read(1, 0, PAGE, US);
    script.own(5 * MS);
    script.miss(1, PAGE, PAGE, MS);
    script.own(2 * MS);
    script.read(1, 0, PAGE, US);
    let Collected { references, seen, .. } = collected(&script);
    let own_ns: u64 = references.requests().iter().map(|request| u64::from(request.own_ns)).sum();
    assert_eq!(own_ns, 7 * MS + 2 * US, "from the first record on");
    assert_eq!(seen.span_ns, 8 * MS + 2 * US);
    assert_eq!(seen.hits, Some(2));
}

#[test]
fn direct_requests_are_no_references_and_writes_of_them_empty_the_cache() {
    let mut script = Script::new();
    script.read(1, 0, 4 * PAGE, US);
    script.read(1, 0, 4 * PAGE, US).flags = RecordFlags::DIRECT;
    assert_eq!(firsts(&script), 4);
    script.write(1, PAGE, 2 * PAGE, US).flags = RecordFlags::DIRECT;
    script.read(1, 0, 4 * PAGE, US);
    assert_eq!(firsts(&script), 6);
    assert_eq!(collected(&script).seen.direct_bytes, 6 * PAGE);
}

#[test]
fn what_is_dropped_truncated_or_removed_is_read_anew() {
    let whole = |script: &mut Script| {
        script.read(1, 0, 8 * PAGE, US);
    };
    let after = |change: &dyn Fn(&mut Script)| {
        let mut script = Script::new();
        whole(&mut script);
        change(&mut script);
        whole(&mut script);
        firsts(&script) - 8
    };
    assert_eq!(after(&|_| {}), 0);
    let advice = |flag: RecordFlags, offset, bytes| {
        after(&move |script| {
            let record = script.call(Operation::Fadvise, 1, US);
            (record.flags, record.offset, record.asked_bytes) = (flag, Some(offset), Some(bytes));
        })
    };
    assert_eq!(advice(RecordFlags::DONTNEED, PAGE, 2 * PAGE), 2);
    assert_eq!(advice(RecordFlags::DONTNEED, 0, 0), 8, "all of it");
    assert_eq!(advice(RecordFlags::DONTNEED, 100, 2 * PAGE), 1, "whole pages alone");
    assert_eq!(advice(RecordFlags::WILLNEED, 0, 0), 0);
    let sized = |operation, flags, offset, bytes| {
        after(&move |script| {
            let record = script.call(operation, 1, US);
            (record.flags, record.offset, record.asked_bytes) = (flags, Some(offset), Some(bytes));
        })
    };
    assert_eq!(sized(Operation::Ftruncate, RecordFlags::NONE, 3 * PAGE, 0), 5);
    assert_eq!(sized(Operation::Fallocate, RecordFlags::NONE, 0, 8 * PAGE), 0);
    assert_eq!(sized(Operation::Fallocate, RecordFlags::PUNCH_HOLE, 0, 3 * PAGE), 3);
    assert_eq!(sized(Operation::Fallocate, RecordFlags::COLLAPSE_RANGE, PAGE, PAGE), 7);
    let opened = after(&|script| {
        script.call(Operation::Openat, 1, US).flags = RecordFlags::TRUNCATE;
    });
    assert_eq!(opened, 8);
    let failed = after(&|script| {
        let record = script.call(Operation::Ftruncate, 1, US);
        (record.offset, record.result) = (Some(0), Some(-22));
    });
    assert_eq!(failed, 0);
}

#[test]
fn a_file_without_a_name_loses_its_pages_when_it_is_closed() {
    let mut script = Script::new();
    script.read(1, 0, 4 * PAGE, US);
    script.path(Operation::Unlink, "/data/1", 0, US);
    script.read(1, 0, 4 * PAGE, US);
    assert_eq!(firsts(&script), 8);
    script.call(Operation::Close, 1, US);
    script.read(1, 0, 4 * PAGE, US);
    assert_eq!(firsts(&script), 12);
    // What is renamed keeps its pages, and what was there before has lost its name.
    let mut script = Script::new();
    script.read(1, 0, 4 * PAGE, US);
    script.read(2, 0, 2 * PAGE, US);
    let target = script.path_number("/data/2");
    script.path(Operation::Rename, "/data/1", 0, US).new_path = Some(target);
    script.read(1, 0, 4 * PAGE, US);
    script.read(2, 0, 2 * PAGE, US);
    assert_eq!(firsts(&script), 8);
    script.path(Operation::Unlink, "/data/2", 0, US);
    script.read(1, 0, 4 * PAGE, US);
    assert_eq!(firsts(&script), 12, "the name is that of the first file now");
}

#[test]
fn mappings_that_are_read_at_random_are_told_apart() {
    let mut script = Script::new();
    let touch = |script: &mut Script| {
        script.call(Operation::MajorFault, 1, US).offset = Some(PAGE);
    };
    touch(&mut script);
    script.call(Operation::Madvise, 1, US).flags = RecordFlags::RANDOM;
    touch(&mut script);
    script.process = 1;
    touch(&mut script);
    script.process = 0;
    script.call(Operation::Madvise, 1, US).flags = RecordFlags::SEQUENTIAL;
    touch(&mut script);
    let Collected { references, seen, .. } = collected(&script);
    use RequestKind::{Fault, RandomFault};
    let kinds: Vec<RequestKind> =
        references.requests().iter().filter(|one| one.pages > 0).map(|one| one.kind).collect();
    assert_eq!(kinds, [Fault, RandomFault, Fault, Fault]);
    assert_eq!((seen.faults, seen.random_faults), (4, 1));
    // Before Linux 6.3, such a use counts like any other.
    let host = SizeHost { kernel: KernelVersion::new(6, 1), multi_gen_lru: false };
    let mut collector = Collector::new(&script.lists, Some(host));
    collector.add(&script.batch()).expect("there is room");
    let old = collector.finish().references;
    assert!(old.requests().iter().all(|one| one.kind != RandomFault));
}

#[test]
fn what_has_no_place_is_counted() {
    let mut script = Script::new();
    script.read(1, 0, PAGE, US).file = None;
    script.read(1, 0, PAGE, US).offset = None;
    script.read(1, 0, 0, US).offset = None;
    assert_eq!(collected(&script).seen.unplaced, 2);
}

#[test]
fn code_is_told_apart_and_what_is_read_around_is_counted() {
    use hotset_facts::trace::RecordPages;
    let brought = |pages| Some(RecordPages { pages, ..RecordPages::default() });
    let mut script = Script::new();
    let map =
        |script: &mut Script, file, flags| script.call(Operation::Mmap, file, US).flags = flags;
    map(&mut script, 1, RecordFlags::PRIVATE.with(RecordFlags::EXECUTE));
    map(&mut script, 2, RecordFlags::PRIVATE);
    let fault = |script: &mut Script, operation, file, page: u64, pages| {
        let record = script.call(operation, file, US);
        (record.offset, record.pages) = (Some(page * PAGE), brought(pages));
    };
    // Of code, 40 pages come in at once, of which three are touched.
    fault(&mut script, Operation::MajorFault, 1, 3, 40);
    fault(&mut script, Operation::MinorFault, 1, 5, 0);
    fault(&mut script, Operation::MinorFault, 1, 17, 0);
    // Of data, 32 come in for three that are touched.
    fault(&mut script, Operation::MajorFault, 2, 20, 32);
    fault(&mut script, Operation::MinorFault, 2, 21, 0);
    fault(&mut script, Operation::MinorFault, 2, 22, 0);
    // Read ahead are 30 pages, of which 10 are asked for.
    script.miss(3, 0, 2 * PAGE, US).pages.as_mut().expect("pages").read_ahead = 30;
    script.read(3, 2 * PAGE, 10 * PAGE, US).pages.as_mut().expect("pages").ahead_hits = 10;
    let Collected { references, seen, .. } = collected(&script);
    assert_eq!((seen.code_faults, seen.faults, seen.code_bytes), (3, 6, 3 * PAGE));
    let ahead: Vec<u32> = references
        .requests()
        .iter()
        .filter(|one| one.kind == RequestKind::Ahead)
        .map(|one| one.pages)
        .collect();
    assert_eq!(ahead, [40, 32, 30]);
    // From page 4 on, around page 20; all else is asked for in it, or anew.
    assert_eq!(references.distinct(), 40 + 32 + 2 + 30);
}

#[test]
fn pages_that_others_hold_are_left_out() {
    let mut script = Script::new();
    script.read(1, 0, 4 * PAGE, US);
    script.read(2, 0, 4 * PAGE, US);
    let id = FileId { dev: Dev { major: 8, minor: 1 }, ino: 5, generation: None };
    script.lists.files[1].id = Some(FileId { generation: Some(7), ..id });
    let mut collector = Collector::new(&script.lists, None);
    collector.hold(&[(id, vec![PageRange { first: 1, count: 2 }])]);
    collector.add(&script.batch()).expect("there is room");
    let Collected { references, held_requests, .. } = collector.finish();
    assert_eq!((references.pages().len(), held_requests), (6, 2));
}
