//! `hotset lab reread`: states, bytes and calls of each cell, against what the kernel and the sensor say. Never times.

use std::path::Path;
use std::process::Command;

use hotset_tests::cells::{all_are, cell, cells, counted, each, fact, measured, of_run};
use hotset_tests::filesystems::{FileSystem, Kind};
use hotset_tests::scratch::text;
use hotset_tests::{Scratch, hotset, number, profile_of, row_at, stderr, undisturbed_on};
use serde_json::Value;

const PAGE: u64 = 4096;

fn factor<'a>(cell: &'a Value, name: &str) -> &'a str {
    cell["factors"][name].as_str().unwrap_or("")
}

/// What a cell's device bytes must be, for one read of the file.
fn device_bounds(cell: &Value, bytes: u64) -> (u64, u64) {
    let reads = if factor(cell, "which") == "later-mean" { 2 } else { 1 };
    // Whole pages, and the blocks that tell where a file's are.
    let cold = (reads * bytes, reads * (bytes.next_multiple_of(PAGE) + 4 * PAGE));
    match (factor(cell, "cache"), factor(cell, "which")) {
        ("warm", _) | ("kept", "later" | "later-mean") => (0, 0),
        ("evicted" | "direct", _) | ("kept", _) => cold,
        (other, _) => panic!("{other}: {cell}"),
    }
}

#[test]
fn every_read_finds_its_state_and_takes_its_bytes_from_where_it_should() {
    let fs = FileSystem::new(Kind::Ext4);
    let scratch = Scratch::below(fs.root(), "lab-reread");
    undisturbed_on(fs.root(), &hotset(), || every_read_is_right(&scratch));
}

fn every_read_is_right(scratch: &Scratch) {
    let words = ["--quick", "--sizes", "5000,3M", "--count", "3", "--rounds", "1"];
    let (session, printed) = measured("reread", scratch, &words);
    for question in [
        "Is reading a file a second time faster?",
        "How much does the cache gain at each size?",
        "Do mean and median of the later reads differ?",
        "How much does the kind of memory matter that the file is read into?",
        "How long does the memory alone take?",
        "Does the cache matter if the data is parsed?",
        "How much is read from the device?",
    ] {
        assert!(printed.contains(question), "{question}: {printed}");
    }
    let mut seen = 0;
    for cell in cells(&session).iter().filter(|cell| factor(cell, "what").starts_with("read")) {
        // A program's device bytes are those of its runtime's start too.
        if factor(cell, "buffer") == "runtime" {
            continue;
        }
        let bytes = cell["factors"]["size_bytes"].as_u64().expect("a size");
        let pages = bytes.div_ceil(PAGE);
        let (least, most) = device_bounds(cell, bytes);
        for at in counted(cell) {
            let id = &cell["id"];
            let reads = if factor(cell, "which") == "later-mean" { 2 } else { 1 };
            assert_eq!(of_run(cell, "operations", at), Some(reads), "{id}");
            assert_eq!(of_run(cell, "bytes", at), Some(reads * bytes), "{id}");
            let device = of_run(cell, "device_read_bytes", at).expect("bytes");
            assert!((least..=most).contains(&device), "{id}: {device} of {least} to {most}");
            assert_eq!(of_run(cell, "reached_before.pages", at), Some(pages), "{id}");
            let cached = of_run(cell, "reached_before.cached_pages", at);
            assert_eq!(cached, Some(if least == 0 { pages } else { 0 }), "{id}");
            let mapped = factor(cell, "buffer").starts_with("mmap");
            assert_eq!(of_run(cell, "syscalls", at), Some(if mapped { 0 } else { reads }), "{id}");
        }
        seen += 1;
    }
    // Warm, kept and evicted; for the larger file mapped, direct and other kinds of memory too; the document. Three parts each.
    assert!(seen > 50, "{seen}");
}

#[test]
fn memory_alone_faults_once_a_page_or_once_a_huge_page() {
    let scratch = Scratch::new("lab-reread-memory");
    let words = ["--quick", "--sizes", "8M", "--count", "2", "--rounds", "1"];
    let (session, _) = measured("reread", &scratch, &words);
    let pages = (8 << 20) / PAGE;
    let faults = |what: &str, buffer: &str| {
        let cell = cells(&session)
            .iter()
            .find(|cell| {
                factor(cell, "what") == what
                    && factor(cell, "buffer") == buffer
                    && factor(cell, "which") == "later"
                    && !cell["factors"]["size_bytes"].is_null()
            })
            .unwrap_or_else(|| panic!("no {what} {buffer}"));
        of_run(cell, "minor_faults", counted(cell)[0]).expect("faults")
    };
    let huge_unasked = fact(&session, "transparent huge pages") == "always";
    let least = if huge_unasked { pages / 512 } else { pages };
    assert!(faults("touch", "fresh") >= least, "{} of {least}", faults("touch", "fresh"));
    assert!(faults("touch", "huge") < pages / 16, "{}", faults("touch", "huge"));
    assert!(faults("zero", "reused") < pages / 16);
}

#[test]
fn a_file_and_a_document_of_the_users_are_measured_in_each_language_and_stay_as_they_are() {
    let fs = FileSystem::new(Kind::Ext4);
    let scratch = Scratch::below(fs.root(), "lab-reread-own");
    undisturbed_on(fs.root(), &hotset(), || own_files(&scratch));
}

fn own_files(scratch: &Scratch) {
    let (bytes, document) = (100 * PAGE, b"[1, {\"a\": \"b\"}, null]".to_vec());
    let (file, json) = (scratch.file("own", bytes), scratch.path("own.json"));
    std::fs::write(&json, &document).expect("a document");
    let before = std::fs::read(&file).expect("the file");
    let words = ["--quick", "--count", "3", "--rounds", "1", "--interpreter"];
    let own = ["python=/usr/bin/python3", "--file", text(&file), "--document", text(&json)];
    let (session, _) = measured("reread", scratch, &[&words[..], &own].concat());
    assert_eq!(fact(&session, "file"), text(&file));
    let fresh = cell(&session, &format!("reread/read/file/{bytes}/evicted/fresh/none/first"));
    all_are(fresh, "bytes", bytes);
    for reader in ["c", "go", "python", "ruby", "node", "java"] {
        let id =
            |cache: &str| format!("reread/read/file/{bytes}/{cache}/runtime/none/{reader}/later");
        let evicted = cell(&session, &id("evicted"));
        all_are(evicted, "bytes", bytes);
        all_are(evicted, "reached_before.cached_pages", 0);
        assert!(each(evicted, "device_read_bytes").iter().all(|&read| read >= bytes), "{reader}");
        all_are(cell(&session, &id("warm")), "reached_before.cached_pages", 100);
    }
    let size = document.len();
    let parsed = format!("reread/read+parse/json/{size}/evicted/runtime/python-json/later");
    all_are(cell(&session, &parsed), "bytes", size as u64);
    assert_eq!(std::fs::read(&file).expect("the file"), before);
    assert_eq!(std::fs::read(&json).expect("the document"), document);
}

#[test]
fn the_sensor_sees_the_reads_that_a_probe_tells_of() {
    let scratch = Scratch::new("lab-reread-probe");
    let bytes = 50 * PAGE;
    let path = scratch.file("file", bytes);
    for (cache, read_pages, missed) in [("evicted", 3 * 50, 3 * 50), ("kept", 3 * 50, 50)] {
        let program = hotset();
        let words = [
            text(&program).to_owned(),
            "lab-probe".to_owned(),
            "reread".to_owned(),
            format!("file={}", text(&path)),
            "count=3".to_owned(),
            "what=read".to_owned(),
            format!("cache={cache}"),
            "buffer=fresh".to_owned(),
        ];
        let profile = profile_of(&scratch, &words);
        let row: &Value = row_at(&profile, Path::new(&path));
        assert_eq!(number(row, "/read/calls"), 3, "{cache}");
        assert_eq!(number(row, "/read/bytes"), 3 * bytes, "{cache}");
        assert_eq!(number(row, "/read/pages"), read_pages, "{cache}");
        assert_eq!(number(row, "/device/read_bytes"), missed * PAGE, "{cache}");
        // One descriptor is held to ask what is cached.
        assert_eq!(number(row, "/opens"), 4, "{cache}");
    }
}

#[test]
fn what_can_not_be_meant_is_refused_by_name() {
    for (words, part) in [(["--count", "1"], "--count"), (["--sizes", "0"], "--sizes 0")] {
        let output = Command::new(hotset()).args(["lab", "reread"]).args(words).output();
        let output = output.expect("hotset");
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
}
