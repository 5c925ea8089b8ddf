//! The probes of language runtimes, against what the kernel saw of them: the contract of `docs/probes.md`.

use std::path::PathBuf;
use std::process::{Command, Output};

use hotset_lab::Word;
use hotset_lab::probes::{Language, Probe, Start, find};
use hotset_tests::scratch::text;
use hotset_tests::{Scratch, number, profile_of, row_at};
use serde_json::Value;

/// Every runtime: a host without one fails here, it doesn't skip.
fn probes(scratch: &Scratch) -> Vec<Probe> {
    let (probes, skipped) = find(&Language::ALL, &[], &scratch.path("probes"));
    assert_eq!(skipped, [], "install them with .ci/packages.sh lab");
    probes
}

fn words(words: &[(&'static str, &str)]) -> Vec<Word> {
    words.iter().map(|(key, value)| (*key, value.into())).collect()
}

fn run(probe: &Probe, job: &str, with: &[(&'static str, &str)]) -> Output {
    let argv = probe.argv(job, &words(with));
    Command::new(&argv[0]).args(&argv[1..]).output().expect("run")
}

/// What a job says, which keeps the contract.
fn said(probe: &Probe, job: &str, with: &[(&'static str, &str)]) -> Value {
    let output = run(probe, job, with);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{} {job}: {errors}", probe.name);
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(lines.matches('\n').count(), 1, "{} {job}: one line", probe.name);
    let said: Value = serde_json::from_str(&lines).expect("JSON");
    assert_eq!(
        (said["probe"].as_str(), said["job"].as_str()),
        (Some(probe.language.as_str()), Some(job))
    );
    assert_eq!(said["version"], probe.version);
    for field in ["bytes", "operations"] {
        assert!(said[field].is_u64(), "{} {job}: {field}", probe.name);
    }
    assert!(
        said["calls"].as_object().is_some_and(|calls| calls.values().all(Value::is_u64)),
        "{said}"
    );
    let times = said["repetitions_ns"].as_array().expect("times");
    assert!(times.iter().all(Value::is_u64), "{said}");
    said
}

#[test]
fn what_a_probe_can_do_it_does_and_what_it_cannot_do_it_refuses() {
    let scratch = Scratch::new("probes-contract");
    let file = scratch.path("file.json");
    std::fs::write(&file, b"{\"numbers\":[1,2,3]}").expect("write");
    let file = text(&file);
    for probe in probes(&scratch) {
        assert!(probe.can("read:binary") && probe.can("write"), "{probe:?}");
        let read = said(&probe, "read", &[("file", file), ("count", "3")]);
        assert_eq!((number(&read, "/bytes"), number(&read, "/operations")), (3 * 19, 3));
        assert_eq!(read["repetitions_ns"].as_array().map(Vec::len), Some(3));
        for what in ["read", "read+parse", "parse"] {
            let with = [("file", file), ("count", "2"), ("what", what)];
            if probe.can("parse") {
                let bytes = if what == "parse" { 0 } else { 2 * 19 };
                assert_eq!(
                    number(&said(&probe, "parse", &with), "/bytes"),
                    bytes,
                    "{}",
                    probe.name
                );
            } else {
                assert_refused(&probe, "parse", &with);
            }
        }
        assert_refused(&probe, "nonsense", &[]);
        assert_refused(&probe, "read", &[("file", "/nonexistent/file"), ("count", "1")]);
        assert_refused(&probe, "read", &[("file", file), ("count", "many")]);
        assert_refused(&probe, "read", &[("file", file), ("count", "1"), ("how", "backwards")]);
    }
}

fn assert_refused(probe: &Probe, job: &str, with: &[(&'static str, &str)]) {
    let output = run(probe, job, with);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{} {job} {with:?}: {errors}", probe.name);
    assert!(output.stdout.is_empty(), "{} {job} {with:?}", probe.name);
    assert_eq!(errors.trim_end().lines().count(), 1, "{} {job} {with:?}: {errors}", probe.name);
}

/// What the kernel saw of one file while a job ran.
fn row(
    scratch: &Scratch,
    probe: &Probe,
    job: &str,
    with: &[(&'static str, &str)],
    file: &str,
) -> Value {
    let profile = profile_of(scratch, &probe.argv(job, &words(with)));
    row_at(&profile, &PathBuf::from(file)).clone()
}

#[test]
fn a_file_is_opened_and_read_as_often_as_the_probe_says() {
    let scratch = Scratch::new("probes-read");
    let file = scratch.file("file", 100_000);
    let file = text(&file);
    for probe in probes(&scratch) {
        let hows = ["binary", "stdio"].into_iter().filter(|how| probe.can(&format!("read:{how}")));
        for how in hows {
            let with = [("file", file), ("count", "7"), ("how", how)];
            let row = row(&scratch, &probe, "read", &with, file);
            let seen = (number(&row, "/opens"), number(&row, "/read/bytes"));
            assert_eq!(seen, (7, 700_000), "{} {how}: {row}", probe.name);
        }
    }
}

/// The calls that are left of 1000 writes of 100 bytes through a buffer.
fn writes_through(language: Language, buffer: u64) -> Option<u64> {
    let total: u64 = 100_000;
    match (language, buffer) {
        (_, 0) => Some(1000),
        (Language::Ruby | Language::Node, _) => None,
        // A piece that doesn't fit any more waits in these for the next round; the buffer is written with what fits whole.
        (Language::Python | Language::Java, buffer) => Some(total.div_ceil(buffer / 100 * 100)),
        _ => Some(total.div_ceil(buffer)),
    }
}

#[test]
fn a_buffer_of_the_wanted_size_is_what_decides_how_many_writes_there_are() {
    let scratch = Scratch::new("probes-write");
    for probe in probes(&scratch) {
        for buffer in [0_u64, 1000, 4096, 8192] {
            let Some(calls) = writes_through(probe.language, buffer) else { continue };
            let file = scratch.path(&format!("{}-{buffer}", probe.name));
            let size = buffer.to_string();
            let with =
                [("file", text(&file)), ("total", "100000"), ("piece", "100"), ("buffer", &size)];
            let row = row(&scratch, &probe, "write", &with, text(&file));
            let seen = (number(&row, "/write/calls"), number(&row, "/write/bytes"));
            assert_eq!(seen, (calls, 100_000), "{} through {buffer}", probe.name);
            let told = probe.ask(&Start::default(), "write", &words(&with)).expect("an answer");
            let told: Value = serde_json::from_slice(&told).expect("JSON");
            // Other threads of a runtime write too, to wake each other.
            let told = told["write_calls"].as_u64().expect("the kernel's count");
            assert!((calls..=calls + 8).contains(&told), "{} through {buffer}: {told}", probe.name);
            assert_eq!(std::fs::metadata(&file).expect("written").len(), 100_000);
        }
    }
}

#[test]
fn a_name_is_looked_for_along_the_path_until_it_is_found() {
    let scratch = Scratch::new("probes-along");
    let dir = scratch.path("last");
    for place in ["last", "path/d000", "path/d001", "path/d002"] {
        std::fs::create_dir_all(scratch.path(place)).expect("directory");
    }
    // x000 is last of all, x001 is in the second place already, x002 is nowhere.
    for file in ["last/x000.y", "last/x001.y", "path/d001/x001.y"] {
        std::fs::write(scratch.path(file), b"").expect("write");
    }
    let before = scratch.path("path");
    let with = [
        ("dir", text(&dir)),
        ("prefix", "x"),
        ("suffix", ".y"),
        ("count", "3"),
        ("times", "20"),
        ("before", text(&before)),
    ];
    for probe in probes(&scratch) {
        for (directories, asked) in [("3", 4 + 2 + 4), ("1", 2 + 2 + 2), ("0", 3)] {
            let with = [&with[..], &[("directories", directories)]].concat();
            let said = said(&probe, "exists", &with);
            let counts =
                ["/operations", "/notes/found", "/calls/exists"].map(|at| number(&said, at));
            assert_eq!(counts, [60, 40, 20 * asked], "{} {directories}", probe.name);
        }
        assert_refused(&probe, "exists", &[&with[..5], &[("directories", "3")]].concat());
        assert_refused(&probe, "exists", &[&with[..], &[("directories", "many")]].concat());
    }
}

#[test]
fn files_that_are_there_are_told_from_those_that_are_not() {
    let scratch = Scratch::new("probes-exists");
    for number in 0..60 {
        std::fs::write(scratch.path(&format!("x{number:03}.y")), b"").expect("write");
    }
    let dir = text(scratch.dir()).to_owned();
    let with =
        [("dir", &*dir), ("prefix", "x"), ("suffix", ".y"), ("count", "100"), ("times", "20")];
    for probe in probes(&scratch) {
        let said = said(&probe, "exists", &with);
        assert_eq!(number(&said, "/notes/found"), 20 * 60, "{}", probe.name);
        let failed = |count: &str| {
            let with = [&with[..3], &[("count", count), ("times", "20")]].concat();
            let profile = profile_of(&scratch, &probe.argv("exists", &words(&with)));
            number(&profile, "/lookups/failed")
        };
        let (some, all) = (failed("60"), failed("100"));
        assert_eq!(
            all - some,
            20 * 40,
            "{}: each name that isn't there fails once each time",
            probe.name
        );
    }
}
