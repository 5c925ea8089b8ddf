//! `hotset trace` of damaged traces and bad destinations: an error with the file, and nothing half-written.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use hotset_facts::random::Random;
use hotset_tests::conversions::{EXPORTS, assert_refused, export, listed, trace, trace_of};
use hotset_tests::scratch::text;
use hotset_tests::{Mounted, Scratch, as_nobody, code, stderr};
use hotset_trace::{Bytes, Columns, Reader, Writer, catches_panics};

/// `info`, and an export, of a file that is no trace, or a damaged one.
fn assert_no_trace(file: &Path, scratch: &Scratch, words: &[&str]) {
    let before = listed(scratch.dir());
    let words = [&[text(file)], words].concat();
    assert_refused(&trace(["info", text(file)]), 1, &words);
    for format in EXPORTS {
        assert_refused(&export(file, format, &scratch.path("out"), &[]), 1, &words);
    }
    assert_eq!(listed(scratch.dir()), before, "{words:?}");
}

#[test]
fn a_trace_that_is_cut_is_refused() {
    let scratch = Scratch::new("trace-cut");
    let whole = fs::read(trace_of(&scratch, 3_000)).expect("the trace");
    let cut = scratch.path("cut.parquet");
    for length in [1, 4, 8, 12, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
        fs::write(&cut, &whole[..length]).expect("write");
        assert_no_trace(&cut, &scratch, &[]);
    }
}

/// Every result is what was recorded, or an error.
#[test]
fn a_changed_bit_is_told_or_makes_no_difference() {
    let scratch = Scratch::new("trace-flipped");
    let path = trace_of(&scratch, 500);
    let (whole, standard_output) = (fs::read(&path).expect("the trace"), Path::new("-"));
    let wanted = export(&path, "csv", standard_output, &[]).stdout;
    let changed = scratch.path("changed.parquet");
    let mut random = Random::new(11);
    let mut refused = 0;
    for _ in 0..200 {
        let mut bytes = whole.clone();
        bytes[random.below(whole.len() as u64) as usize] ^= 1 << random.below(8);
        fs::write(&changed, bytes).expect("write");
        let output = export(&changed, "csv", standard_output, &[]);
        match code(&output) {
            0 => assert!(output.stdout == wanted, "other content"),
            _ => {
                assert_refused(&output, 1, &[text(&changed)]);
                refused += 1;
            }
        }
    }
    assert!(refused > 100, "{refused}");
}

/// A trace whose checksums nobody finds, as other tools write it.
fn unchecked(mut trace: Vec<u8>) -> Vec<u8> {
    for mark in [&b"HSCK"[..], b"hotset.checks"] {
        let at = trace.windows(mark.len()).rposition(|window| window == mark).expect("a mark");
        trace[at] = b'-';
    }
    trace
}

/// Without checksums, damage reaches Parquet's decoders, some of which panic.
#[test]
fn no_panic_of_a_decoder_is_printed() {
    static CAUGHT: AtomicU32 = AtomicU32::new(0);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| match catches_panics() {
        true => drop(CAUGHT.fetch_add(1, Ordering::Relaxed)),
        false => before(panic),
    }));
    let scratch = Scratch::new("trace-panic");
    let whole = unchecked(fs::read(trace_of(&scratch, 500)).expect("the trace"));
    let changed = scratch.path("changed.parquet");
    let mut random = Random::new(13);
    let mut shown = 0;
    for _ in 0..20_000 {
        let mut bytes = whole.clone();
        // Integers of the footer end where a byte is below 128.
        let at = random.below(whole.len() as u64 - 12) as usize;
        bytes[at..at + 12].fill(0xff);
        let caught = CAUGHT.load(Ordering::Relaxed);
        if let Ok(reader) = Reader::new(Bytes::from(bytes.clone())) {
            let _ = reader.batches(Columns::ALL).find(Result::is_err);
        }
        if CAUGHT.load(Ordering::Relaxed) > caught {
            fs::write(&changed, bytes).expect("write");
            let output = export(&changed, "csv", &scratch.path("out"), &[]);
            assert_refused(&output, 1, &[text(&changed)]);
            assert!(!scratch.path("out").exists());
            shown += 1;
            if shown == 5 {
                break;
            }
        }
    }
    assert!(shown > 0, "no decoder panics any more: is `catches_panics` still needed?");
}

/// A trace that says something else of itself, with the checksum of that.
fn renamed(mut trace: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = trace.windows(from.len()).rposition(|window| window == from).expect("a name");
    trace[at..at + to.len()].copy_from_slice(to);
    // So that the footer has no checksum.
    let mark = trace.windows(4).rposition(|window| window == b"HSCK").expect("a mark");
    trace[mark] = b'-';
    trace
}

#[test]
fn what_is_no_trace_is_named_as_what_it_is() {
    let scratch = Scratch::new("trace-other");
    let whole = fs::read(trace_of(&scratch, 10)).expect("the trace");
    let newer = renamed(whole.clone(), b"hotset.trace/1", b"hotset.trace/2");
    // With its length before it, it is a key and no value.
    let foreign = renamed(whole.clone(), b"\x0chotset.trace", b"\x0canother.keys");
    let other = renamed(whole, b"hotset.trace/1", b"another.keys/1");
    for (name, content, words) in [
        ("newer", &newer[..], &["hotset.trace/2", "Use a newer hotset"][..]),
        ("other", &other, &["not a hotset trace: a file with the schema"]),
        ("foreign", &foreign, &["a Parquet file of", "without the key hotset.trace"]),
        ("empty", b"", &["an empty file"]),
        ("text", b"hello, world\n", &["not a hotset trace", "hell"]),
        ("json", b"{\"schema\": 1}", &["JSON"]),
    ] {
        let path = scratch.path(name);
        fs::write(&path, content).expect("write");
        assert_no_trace(&path, &scratch, words);
    }
    let directory = scratch.path("directory");
    fs::create_dir(&directory).expect("mkdir");
    assert_no_trace(&directory, &scratch, &["is a directory, expected a trace"]);
    assert_no_trace(&scratch.path("none"), &scratch, &["No such file"]);
    assert_no_trace(Path::new("/dev/null"), &scratch, &["expected a regular file"]);
}

#[test]
fn what_is_there_is_replaced_only_by_force() {
    let scratch = Scratch::new("trace-force");
    let (path, out) = (trace_of(&scratch, 300), scratch.path("out"));
    for format in EXPORTS.into_iter().filter(|format| *format != "fio") {
        fs::write(&out, "old").expect("write");
        assert_refused(
            &export(&path, format, &out, &[]),
            1,
            &[text(&out), "another name", "--force"],
        );
        assert_eq!(fs::read(&out).expect("read"), b"old");
        let forced = export(&path, format, &out, &["--force"]);
        assert_eq!(code(&forced), 0, "{}", stderr(&forced));
        assert!(fs::read(&out).expect("read") != b"old");
    }
    // A directory, of which only files of an export are removed.
    assert_refused(&export(&path, "fio", &out, &["--force"]), 1, &[text(&out), "Not a directory"]);
    let logs = scratch.path("logs");
    assert_eq!(code(&export(&path, "fio", &logs, &[])), 0);
    assert_eq!(listed(&logs).len(), 5, "{:?}", listed(&logs));
    assert_refused(&export(&path, "fio", &logs, &[]), 1, &["another name", "--force"]);
    assert_eq!(code(&export(&path, "fio", &logs, &["--force", "--one-log"])), 0);
    assert_eq!(listed(&logs), ["files.tsv", "replay.fio", "trace.iolog"]);
    fs::write(logs.join("mine"), "mine").expect("write");
    assert_refused(&export(&path, "fio", &logs, &["--force"]), 1, &[text(&logs), "mine"]);
    assert_eq!(listed(&logs).len(), 4);
    assert_eq!(listed(scratch.dir()), ["logs", "out", "t.parquet"]);
}

#[test]
fn a_destination_that_can_not_be_written_is_refused() {
    let scratch = Scratch::new("trace-destination");
    let path = trace_of(&scratch, 100);
    for format in EXPORTS {
        let missing = scratch.path("no/out");
        assert_refused(&export(&path, format, &missing, &[]), 1, &[text(&missing), "No such file"]);
        let closed = scratch.path("out");
        let output = as_nobody(scratch.dir())
            .args(["trace", "export", text(&path), "--to", format, "-o", text(&closed)])
            .output()
            .expect("hotset");
        assert_refused(&output, 1, &[text(&closed), "can't be written to"]);
        if format != "fio" {
            let directory = export(&path, format, scratch.dir(), &["--force"]);
            assert_refused(&directory, 1, &["is a directory, expected a file name"]);
            let named = scratch.path("out/");
            assert_refused(&export(&path, format, &named, &[]), 1, &["the name of a directory"]);
        }
    }
    let standard_output = Path::new("-");
    for format in ["fio", "oracle"] {
        assert_refused(&export(&path, format, standard_output, &[]), 2, &["-o -", "expected"]);
    }
    for format in ["perfetto", "pprof", "csv"] {
        let output = export(&path, format, standard_output, &[]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(!output.stdout.is_empty() && stderr(&output).contains("standard output"));
    }
    assert_eq!(listed(scratch.dir()), ["t.parquet"]);
}

#[test]
fn a_full_disk_leaves_nothing() {
    let scratch = Scratch::new("trace-full");
    let path = trace_of(&scratch, 20_000);
    let disk = scratch.path("disk");
    fs::create_dir(&disk).expect("mkdir");
    let _mounted = Mounted::new(&["-t", "tmpfs", "-o", "size=64k", "none", text(&disk)]);
    let out = disk.join("out");
    let full = &[text(&disk), "No space left on device"];
    for format in EXPORTS.into_iter().filter(|format| *format != "pprof") {
        assert_refused(&export(&path, format, &out, &["--force"]), 1, full);
        assert!(listed(&disk).is_empty(), "{format}: {:?}", listed(&disk));
    }
    // What is small finds no room at all.
    fs::write(disk.join("filler"), vec![1; 64 << 10]).expect("it fits");
    for format in EXPORTS {
        assert_refused(&export(&path, format, &out, &[]), 1, full);
    }
    assert_eq!(listed(&disk), ["filler"]);
}

#[test]
fn options_of_another_format_are_refused() {
    let scratch = Scratch::new("trace-options");
    let (path, out) = (trace_of(&scratch, 10), scratch.path("out"));
    for (format, option) in [("csv", "--all"), ("fio", "--all"), ("csv", "--one-log")] {
        assert_refused(&export(&path, format, &out, &[option]), 2, &[option, "applies to --to"]);
    }
    assert_eq!(listed(scratch.dir()), ["t.parquet"]);
}

/// A part of a recording, under the name that a recording gives it.
fn part(scratch: &Scratch, number: u32, is_last: bool) {
    let whole = Reader::new(Bytes::from(fs::read(scratch.path("t.parquet")).expect("the trace")));
    let head = whole.as_ref().expect("a trace").head().clone();
    let writer = Writer::new(Vec::new(), &head, Some(number)).expect("a part");
    let part = writer.finish(0, is_last).expect("a part");
    let name = format!("new.parquet.part-{number:05}");
    fs::write(scratch.path(&name), part.out).expect("write");
}

#[test]
fn join_replaces_by_force_and_keeps_the_parts_where_it_fails() {
    let scratch = Scratch::new("trace-join");
    let (there, new) = (trace_of(&scratch, 10), scratch.path("new.parquet"));
    let join = |more: &[&str]| trace([&["join", text(&new)], more].concat());
    assert_refused(&join(&[]), 1, &[text(&new), "part-00000"]);
    part(&scratch, 0, false);
    part(&scratch, 2, true);
    let before = listed(scratch.dir());
    assert_refused(&join(&[]), 1, &[text(&new), "part 1 is missing"]);
    assert_refused(&join(&["-o", "-"]), 2, &["expected a file name"]);
    assert_refused(&join(&["-o", text(&there)]), 1, &[text(&there), "--force"]);
    assert_eq!(listed(scratch.dir()), before);
    fs::remove_file(scratch.path("new.parquet.part-00002")).expect("removed");
    fs::write(scratch.path("new.parquet.part-00001"), "PAR1").expect("write");
    assert_refused(&join(&[]), 1, &[text(&new), "part 1", "cut off"]);
    part(&scratch, 1, true);
    let joined = join(&["-o", text(&there), "--force"]);
    assert_eq!(code(&joined), 0, "{}", stderr(&joined));
    assert_eq!(listed(scratch.dir()), ["t.parquet"]);
}
