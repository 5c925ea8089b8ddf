//! Each record's hits and misses are what cachestat(2) said right before its request.

use std::path::Path;

use hotset_facts::trace::{Operation, OperationClass};
use hotset_tests::scratch::text;
use hotset_tests::traced::{Trace, Traced, record};
use hotset_tests::{MIB, Scratch, evict_verified, number, read_json, until_ok, workload};

/// Offset, bytes moved, and pages that were not cached.
type Request = (u64, u64, u64);

/// What a case's records say, of its file.
type Seen = fn(&Trace, &Path) -> Vec<Request>;

fn requests(
    trace: &Trace,
    file: &Path,
    class: OperationClass,
    absent: fn(&Traced) -> u64,
) -> Vec<Request> {
    let of_file = trace.of(file).filter(|one| one.is_done(class) && one.moved() > 0);
    of_file.map(|one| (one.record.offset.expect("an offset"), one.moved(), absent(one))).collect()
}

fn reads(trace: &Trace, file: &Path) -> Vec<Request> {
    requests(trace, file, OperationClass::Read, |one| {
        let pages = one.pages();
        assert_eq!(pages.hits + pages.misses, pages.pages, "{:?}", one.record);
        pages.misses.into()
    })
}

/// Of a write, what was not cached is made.
fn writes(trace: &Trace, file: &Path) -> Vec<Request> {
    requests(trace, file, OperationClass::Write, |one| {
        u64::from(one.pages().pages - one.pages().hits)
    })
}

/// Touches of a page that was not cached: those alone are major faults.
fn faults(trace: &Trace, file: &Path) -> Vec<Request> {
    let majors = trace.of(file).filter(|one| one.record.operation == Operation::MajorFault);
    let request = |one: &Traced| {
        assert!(one.pages().pages > 0, "{:?}", one.record);
        (one.record.offset.expect("an offset"), 1, 1)
    };
    majors.map(request).collect()
}

fn told(truth: &Path, absent_only: bool) -> Vec<Request> {
    let truth = read_json(truth);
    let each = truth["each"].as_array().expect("requests");
    let request = |one| (number(one, "/offset"), number(one, "/bytes"), number(one, "/missing"));
    each.iter().map(request).filter(|(.., missing)| !absent_only || *missing > 0).collect()
}

fn first_difference(
    seen: &[Request],
    told: &[Request],
) -> Option<(usize, Option<Request>, Option<Request>)> {
    let longest = seen.len().max(told.len());
    (0..longest)
        .map(|at| (at, seen.get(at).copied(), told.get(at).copied()))
        .find(|(_, seen, told)| seen != told)
}

/// Runs cases on a file that is not cached.
fn check(name: &str, seen: Seen, cases: &[(&str, &[&str])]) {
    let scratch = Scratch::new(name);
    let file = scratch.file("f", 8 * MIB + 123);
    let (truth, other) = (scratch.path("truth.json"), scratch.path("other"));
    let program = workload();
    for (case, more) in cases {
        let mut words =
            vec![text(&program), case, "--file", text(&file), "--truth", text(&truth), "--each"];
        words.extend(more.iter().map(|&word| if word == "OTHER" { text(&other) } else { word }));
        until_ok("each record says what cachestat said before it", || {
            evict_verified(&file);
            let recorded = record(&scratch, &[], &words);
            let seen = seen(&recorded.trace, &file);
            let told = told(&truth, case.starts_with("mmap"));
            assert!(
                told.len() > if case.starts_with("mmap") { 0 } else { 20 },
                "{case}: {} requests",
                told.len()
            );
            match first_difference(&seen, &told) {
                None => Ok(()),
                Some(difference) => Err(format!("{case} {more:?}: {difference:?}")),
            }
        });
    }
}

#[test]
fn each_read_missed_what_was_not_cached_before_it() {
    let cases: &[(&str, &[&str])] = &[
        ("seq", &["--block", "65536"]),
        ("random", &["--count", "1000"]),
        ("odd", &[]),
        ("vectored", &[]),
        ("preadv2", &["--at-position"]),
        ("reread", &["--passes", "2"]),
        ("splice", &[]),
        ("sendfile", &["--file2", "OTHER", "--block", "100000"]),
        ("copy-file-range", &["--file2", "OTHER", "--block", "100000"]),
    ];
    check("record-truth-reads", reads, cases);
}

#[test]
fn each_asynchronous_read_did_too() {
    let cases: &[(&str, &[&str])] = &[
        ("uring", &["--depth", "1", "--count", "300"]),
        ("aio", &["--depth", "1", "--count", "300"]),
    ];
    check("record-truth-async", reads, cases);
}

#[test]
fn each_write_made_what_was_not_cached_before_it() {
    // The last two make the file anew.
    let cases: &[(&str, &[&str])] = &[
        ("write-partial", &["--count", "500"]),
        ("overwrite", &["--block", "10000"]),
        ("append", &["--block", "3000", "--count", "100"]),
        ("append", &["--block", "3000", "--count", "100", "--by-flag"]),
        ("uring", &["--depth", "1", "--write", "--count", "300"]),
        ("aio", &["--depth", "1", "--write", "--count", "300"]),
        ("write-new", &["--size-mib", "4", "--block", "50000"]),
        ("fsync-each", &["--block", "1000", "--count", "50"]),
    ];
    check("record-truth-writes", writes, cases);
}

#[test]
fn each_touch_of_a_page_that_was_not_cached_is_a_major_fault() {
    let cases: &[(&str, &[&str])] = &[
        ("mmap-seq", &[]),
        ("mmap-random", &["--count", "500", "--advise-random"]),
        ("mmap-seq", &["--advise-random"]),
    ];
    check("record-truth-faults", faults, cases);
}

/// Past the cache, no page of it is a hit or a miss; what is asked of the device is what was moved.
#[test]
fn direct_reads_have_device_bytes_and_no_pages() {
    let scratch = Scratch::new("record-truth-direct");
    let file = scratch.file("f", 4 * MIB);
    let program = workload();
    let words = [text(&program), "direct-read", "--file", text(&file), "--block", "65536"];
    evict_verified(&file);
    let recorded = record(&scratch, &[], &words);
    let direct: Vec<&Traced> = recorded
        .trace
        .of(&file)
        .filter(|one| one.is_done(OperationClass::Read) && one.moved() > 0)
        .collect();
    assert_eq!(direct.len(), 64);
    for one in direct {
        assert!(one.is_direct(), "{:?}", one.record);
        assert_eq!((one.pages().pages, one.record.device_read_bytes), (0, Some(65536)));
    }
}

/// What a ring opens has its file, once it is open.
#[test]
fn opens_of_io_uring_tell_their_file() {
    let scratch = Scratch::new("record-uring-opens");
    let file = scratch.file("f", MIB);
    let program = workload();
    let words = [text(&program), "uring-lookups", "--file", text(&file), "--count", "10"];
    let recorded = record(&scratch, &[], &words);
    let opens = |done: bool| {
        let opens = recorded.trace.records.iter().filter(move |one| {
            one.record.operation == Operation::UringOpen
                && one.is_done(OperationClass::Open) == done
        });
        opens.collect::<Vec<_>>()
    };
    let (done, failed) = (opens(true), opens(false));
    assert_eq!((done.len(), failed.len()), (10, 10));
    let of_file =
        recorded.trace.of(&file).filter(|one| one.record.operation == Operation::UringOpen);
    assert_eq!(of_file.count(), 10, "{done:?}");
    assert!(done.iter().all(|one| one.record.description.is_some() && one.record.file.is_some()));
    assert!(failed.iter().all(|one| one.record.file.is_none() && one.path.is_none()), "{failed:?}");
}
