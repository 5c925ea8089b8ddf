//! `hotset record`: what is written is what was counted, and nothing of it is lost unsaid.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use hotset_facts::trace::{Operation, OperationClass};
use hotset_tests::scratch::text;
use hotset_tests::traced::{Recorded, Trace, Traced, record};
use hotset_tests::{MIB, Mounted, Scratch, code, evict_verified, hotset, number, stderr, workload};
use serde_json::Value;

fn words_of(case: &str, file: &Path, truth: &Path, more: &[&str]) -> Vec<String> {
    let program = workload();
    let own = [text(&program), case, "--file", text(file), "--truth", text(truth)];
    own.iter().chain(more).map(|&word| word.to_owned()).collect()
}

/// What records say together, by the name that the profile has for it.
fn sums(trace: &Trace) -> Vec<(&'static str, u64)> {
    use OperationClass::{Device, Fault, Read, Sync, Write};
    let of = |class: OperationClass, value: fn(&Traced) -> u64| {
        trace.sum(|traced| if traced.record.class == class { value(traced) } else { 0 })
    };
    let done = |class: OperationClass, direct: bool, value: fn(&Traced) -> u64| {
        trace.sum(|traced| match traced.is_done(class) && traced.is_direct() == direct {
            true => value(traced),
            false => 0,
        })
    };
    let pages = |traced: &Traced| u64::from(traced.pages().pages);
    let misses = |traced: &Traced| u64::from(traced.pages().misses);
    vec![
        ("/totals/read/calls", done(Read, false, |_| 1)),
        ("/totals/read/bytes", done(Read, false, Traced::moved)),
        ("/totals/read/pages", of(Read, pages)),
        ("/totals/read/misses", of(Read, misses)),
        ("/totals/read/readahead_hits", of(Read, |traced| traced.pages().ahead_hits.into())),
        ("/totals/read/zeros", of(Read, |traced| traced.pages().zeros.unwrap_or(0).into())),
        ("/totals/write/calls", done(Write, false, |_| 1)),
        ("/totals/write/bytes", done(Write, false, Traced::moved)),
        ("/totals/write/pages", of(Write, pages)),
        (
            "/totals/write/new_pages",
            of(Write, |traced| u64::from(traced.pages().pages - traced.pages().hits)),
        ),
        ("/totals/write/misses", of(Write, misses) + of(Device, misses)),
        ("/totals/direct/read_calls", done(Read, true, |_| 1)),
        ("/totals/direct/read_bytes", done(Read, true, Traced::moved)),
        ("/totals/direct/write_calls", done(Write, true, |_| 1)),
        ("/totals/direct/write_bytes", done(Write, true, Traced::moved)),
        ("/totals/mmap/faults", of(Fault, |_| 1)),
        (
            "/totals/mmap/major_faults",
            of(Fault, |traced| u64::from(traced.record.operation == Operation::MajorFault)),
        ),
        ("/totals/readahead/pages", trace.sum(|traced| traced.pages().read_ahead.into())),
        ("/totals/sync/calls", of(Sync, |_| 1)),
        (
            "/totals/device/read_bytes",
            trace.sum(|traced| traced.record.device_read_bytes.unwrap_or(0)),
        ),
        (
            "/totals/device/write_bytes",
            trace.sum(|traced| traced.record.device_write_bytes.unwrap_or(0)),
        ),
    ]
}

fn assert_sums(recorded: &Recorded) {
    for (pointer, sum) in sums(&recorded.trace) {
        let counted = number(&recorded.profile, pointer);
        assert_eq!(
            sum, counted,
            "{pointer}: records, and counters, of {}",
            recorded.profile["command"]["argv"]
        );
    }
    let filled = recorded.trace.sum(|traced| match traced.record.class {
        OperationClass::Fault | OperationClass::Device => {
            u64::from(traced.pages().pages - traced.pages().zeros.unwrap_or(0))
        }
        _ => 0,
    });
    assert_eq!(
        filled,
        number(&recorded.profile, "/totals/mmap/pages_read"),
        "pages that faults read"
    );
    let lookups = recorded.trace.sum(|traced| match traced.record.class {
        OperationClass::Open | OperationClass::Lookup => 1,
        OperationClass::Exec => u64::from(!traced.is_done(OperationClass::Exec)),
        _ => 0,
    });
    assert_eq!(lookups, number(&recorded.profile, "/lookups/calls"), "lookups");
    assert_eq!(recorded.trace.totals.records, recorded.trace.records.len() as u64);
    assert_eq!((recorded.trace.totals.lost, recorded.trace.lists.gaps.len()), (0, 0));
}

/// The same programs count and record, so that this holds whatever the cache was like.
#[test]
fn records_add_up_to_what_was_counted() {
    let scratch = Scratch::new("record-sums");
    let file = scratch.file("f", 8 * MIB);
    let truth = scratch.path("truth.json");
    for (case, more) in [
        ("seq", &["--block", "65536"][..]),
        ("random", &["--count", "500"]),
        ("vectored", &[]),
        ("splice", &[]),
        ("copy-file-range", &["--file2", "copy"]),
        ("write-new", &["--size-mib", "4"]),
        ("write-partial", &[]),
        ("mmap-seq", &[]),
        ("direct-mixed", &[]),
        ("uring", &["--depth", "8"]),
        ("aio", &["--depth", "8"]),
    ] {
        let copy = scratch.path("copy");
        let more: Vec<&str> =
            more.iter().map(|word| if *word == "copy" { text(&copy) } else { *word }).collect();
        let words = words_of(case, &file, &truth, &more);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        evict_verified(&file);
        let recorded = record(&scratch, &[], &words);
        assert!(!recorded.trace.records.is_empty(), "{case}");
        assert_sums(&recorded);
    }
}

#[test]
fn records_of_programs_add_up_too() {
    let scratch = Scratch::new("record-programs");
    let copied = scratch.path("copied");
    scratch.file("f", 3 * MIB);
    for line in [
        "for i in 1 2 3; do cat f | wc -c; done",
        "cp f copied && mv copied g && rm g && ls /nonexistent",
        "dd if=f of=h bs=100k conv=fsync && dd if=f of=h bs=64k oflag=direct",
        "python3 -c 'import json, email, http.client'",
        "git init -q r && cd r && echo a > a && git add a && git -c user.name=a -c user.email=a@b commit -qm a",
    ] {
        let line = format!("cd {} && {{ {line}; }} >/dev/null 2>&1; true", text(scratch.dir()));
        let recorded = record(&scratch, &[], &["sh", "-c", &line]);
        assert_sums(&recorded);
    }
    assert!(!copied.exists());
}

#[test]
fn what_finds_no_room_is_counted_with_its_thread_and_time() {
    let scratch = Scratch::new("record-lost");
    let file = scratch.file("f", 4 * MIB);
    let truth = scratch.path("truth.json");
    let words = words_of("seq", &file, &truth, &["--block", "16"]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let recorded = record(&scratch, &["--buffer", "64K"], &words);
    let Trace { totals, lists, .. } = &recorded.trace;
    assert!(totals.lost > 1_000, "{totals:?}");
    assert_eq!(lists.gaps.iter().map(|gap| gap.records).sum::<u64>(), totals.lost);
    assert!(lists.gaps.iter().all(|gap| gap.from_ns <= gap.to_ns), "{:?}", lists.gaps.first());
    let said = stderr(&recorded.output);
    assert!(said.contains("records were lost: the buffer was full"), "{said}");
    // Nearly all of them are the reads; the rest is what its start does.
    let reads = recorded.trace.sum(|traced| u64::from(traced.record.class == OperationClass::Read));
    let calls = number(&recorded.profile, "/totals/read/calls");
    assert!((calls..calls + 1_000).contains(&(reads + totals.lost)), "{reads} {calls} {totals:?}");
}

#[test]
fn nothing_is_lost_where_the_command_waits_for_its_records() {
    let scratch = Scratch::new("record-lossless");
    let file = scratch.file("f", 4 * MIB);
    let truth = scratch.path("truth.json");
    let words = words_of("seq", &file, &truth, &["--block", "32"]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let recorded = record(&scratch, &["--buffer", "64K", "--lossless"], &words);
    assert_sums(&recorded);
    assert!(recorded.trace.records.len() > 30_000);
}

/// Killed, hotset loses what it had not written yet; what was written is joined by hand.
#[test]
fn of_a_recording_that_is_killed_the_finished_parts_stay() {
    let scratch = Scratch::new("record-killed");
    let trace = scratch.path("t.parquet");
    let join = |more: &[&str]| {
        let mut command = Command::new(hotset());
        command.args(["trace", "join", text(&trace)]).args(more).output().expect("hotset")
    };
    let none = join(&[]);
    assert_eq!(code(&none), 1, "{}", stderr(&none));
    assert!(stderr(&none).contains("t.parquet.part-00000"), "{}", stderr(&none));
    let mut recording = Command::new(hotset())
        .args(["record", "-o", text(&trace), "--system", "-d", "60"])
        .stderr(Stdio::null())
        .spawn()
        .expect("hotset");
    std::thread::sleep(Duration::from_millis(1_500));
    recording.kill().expect("killed");
    recording.wait().expect("waited");
    // The first part was not finished: there is nothing of it, and no half of a file.
    let left: Vec<_> = std::fs::read_dir(scratch.dir()).expect("list").flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_trace_that_is_there_is_not_replaced() {
    let scratch = Scratch::new("record-exists");
    let trace = scratch.path("t.parquet");
    let ran = scratch.path("ran");
    let record = |trace: &Path, more: &[&str]| {
        let mut command = Command::new(hotset());
        command.args(["record", "-o", text(trace)]).args(more);
        command.args(["--", "touch", text(&ran)]).output().expect("hotset")
    };
    std::fs::write(&trace, "old").expect("write");
    let refused = record(&trace, &[]);
    assert_eq!(code(&refused), 125, "{}", stderr(&refused));
    assert!(stderr(&refused).contains("--force"), "{}", stderr(&refused));
    assert!(!ran.exists() && std::fs::read(&trace).expect("read") == b"old");
    assert_eq!(code(&record(&trace, &["--force"])), 0);
    assert!(ran.exists() && Trace::read(&trace).totals.records > 0);
    for (wrong, why) in [
        (Path::new("/nonexistent/t.parquet"), "/nonexistent"),
        (Path::new("-"), "written in parts"),
        (scratch.dir(), "is a directory"),
    ] {
        let refused = record(wrong, &[]);
        assert!(stderr(&refused).contains(why), "{}: {}", wrong.display(), stderr(&refused));
    }
    let buffer = record(&scratch.path("u.parquet"), &["--buffer", "100000"]);
    assert_eq!(code(&buffer), 2, "{}", stderr(&buffer));
}

#[test]
fn a_full_disk_ends_the_trace_and_not_the_command() {
    let scratch = Scratch::new("record-full");
    let dir = scratch.path("disk");
    std::fs::create_dir(&dir).expect("mkdir");
    let _mounted = Mounted::new(&["-t", "tmpfs", "-o", "size=3m", "none", text(&dir)]);
    let (trace, file) = (dir.join("t.parquet"), scratch.file("data", MIB));
    // Lengths in no order, so that a row group of them is hundreds of kilobytes.
    let reads = "import os, random\n\
                 file = os.open(os.sys.argv[1], os.O_RDONLY)\n\
                 for _ in range(1000000): os.pread(file, random.randrange(1, 64), random.randrange(1000000))\n\
                 os.sys.exit(3)";
    let mut command = Command::new(hotset());
    command.args([
        "record",
        "-o",
        text(&trace),
        "--lossless",
        "--",
        "/usr/bin/python3",
        "-c",
        reads,
    ]);
    let output = command.arg(&file).output().expect("hotset");
    assert_eq!(code(&output), 3, "the command's own: {}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("No space left on device"), "{said}");
    assert!(said.contains("found no room on the disk"), "{said}");
    let left: Vec<_> = std::fs::read_dir(&dir).expect("list").flatten().collect();
    assert_eq!(left.len(), 1, "a trace, and no half of one: {left:?}");
    let trace = Trace::read(&trace);
    let held = trace.of(&file).count() as u64;
    assert!(held > 100_000, "{held}");
    let gap = trace.lists.gaps.last().expect("a gap");
    assert_eq!(trace.totals.lost, gap.records, "{:?}", trace.lists.gaps);
    assert!(held + gap.records >= 1_000_000, "{held} and {}", gap.records);
    let last = trace.records.iter().map(|traced| traced.record.start_ns).max();
    assert!(last <= Some(gap.from_ns), "the trace ends where it must");
}

#[test]
fn without_room_for_a_trace_nothing_is_run() {
    let scratch = Scratch::new("record-no-room");
    let dir = scratch.path("disk");
    std::fs::create_dir(&dir).expect("mkdir");
    let _mounted = Mounted::new(&["-t", "tmpfs", "-o", "size=16k", "none", text(&dir)]);
    let (trace, done) = (dir.join("t.parquet"), scratch.path("done"));
    let mut command = Command::new(hotset());
    let output = command.args(["record", "-o", text(&trace), "--", "touch", text(&done)]).output();
    let output = output.expect("hotset");
    assert_eq!(code(&output), 125, "{}", stderr(&output));
    assert!(stderr(&output).contains("No space left on device"), "{}", stderr(&output));
    assert!(!done.exists(), "the command did not run");
    assert_eq!(std::fs::read_dir(&dir).expect("list").count(), 0);
}

#[test]
fn a_trace_says_what_it_is_of() {
    let scratch = Scratch::new("record-head");
    let recorded = record(&scratch, &[], &["sh", "-c", "exec cat /etc/passwd"]);
    let command = recorded.trace.head.command.as_ref().expect("a command");
    assert_eq!(command.argv, ["sh", "-c", "exec cat /etc/passwd"]);
    assert_eq!(command.exit.value().map(|exit| format!("{exit:?}")), Some("Code(0)".to_owned()));
    let environment = recorded.trace.head.environment.as_ref().expect("the host");
    let kernel: &Value = &recorded.profile["environment"]["kernel"];
    assert_eq!(kernel, environment.kernel.as_str());
    let touched = &recorded.profile["environment"]["filesystems"];
    let mounts: Vec<&str> =
        environment.filesystems.iter().filter_map(|one| one.mount.to_str()).collect();
    let counted = touched.as_array().expect("a list").iter().map(|one| one["mount"].as_str());
    assert_eq!(mounts, counted.flatten().collect::<Vec<_>>(), "{touched}");
    assert!(!mounts.is_empty(), "/etc/passwd is on a file system");
    // One process, and each program that it ran.
    let comms: Vec<&str> =
        recorded.trace.lists.processes.iter().map(|process| process.comm.as_str()).collect();
    assert!(comms.contains(&"sh") && comms.contains(&"cat"), "{comms:?}");
}
