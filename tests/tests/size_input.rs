//! `hotset size` of what it can't predict or was not meant for: each has an exit code and a message, and nothing that is there is lost.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use hotset_tests::conversions::{import, listed};
use hotset_tests::group::{Group, LimitedGroup};
use hotset_tests::scratch::text;
use hotset_tests::{MIB, Scratch, code, hotset, stderr, stdout};
use serde_json::Value;

/// What ends it if it does not end by itself: SIGKILL, because a wait that no other signal ends is one of the things that can go wrong.
const TOO_LONG: &str = "60";

fn size<S: AsRef<std::ffi::OsStr>>(words: &[S]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", TOO_LONG]).arg(hotset()).arg("size").args(words);
    command.output().expect("hotset")
}

fn sized(words: &[&str]) -> Value {
    let output = size(&[&["-q", "--json", "-"], words].concat());
    assert_eq!(code(&output), 0, "{words:?}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// A trace of another tool: each of these pages of a file, in this order. It tells neither hits nor memory.
fn imported(scratch: &Scratch, name: &str, pages: impl Iterator<Item = u64>) -> PathBuf {
    let rows: String =
        (0..).zip(pages).map(|(at, page)| format!("{at},{},4096\n", page * 4096)).collect();
    let (rows_at, trace) = (scratch.path("rows.csv"), scratch.path(name));
    fs::write(&rows_at, format!("time,pos,len\n{rows}")).expect("rows");
    let columns = ["--time", "time", "--offset", "pos", "--size", "len"];
    let output = import("csv", &rows_at, &trace, &columns);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    trace
}

fn assert_refused(words: &[&str], wanted: i32, why: &[&str]) {
    let output = size(words);
    let said = stderr(&output);
    assert_eq!((code(&output), stdout(&output)), (wanted, String::new()), "{words:?}: {said}");
    for why in why {
        assert!(said.contains(why), "{words:?}: no {why:?}: {said}");
    }
    assert!(!said.contains("panicked"), "{words:?}: {said}");
}

#[test]
fn what_is_no_whole_recording_is_named() {
    let scratch = Scratch::new("size-broken");
    let whole = imported(&scratch, "whole", (0..1_000).cycle().take(4_000));
    let bytes = fs::read(&whole).expect("a trace");
    let mut damaged = bytes.clone();
    damaged[100] ^= 0xff;
    let [pipe, results] = ["pipe", "results"].map(|name| scratch.path(name));
    fs::create_dir(&results).expect("a directory");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    for (name, bytes, why) in [
        ("empty", &[][..], "an empty file; expected a Parquet file written by `hotset record`"),
        ("cut", &bytes[..bytes.len() / 2], "the trace is cut off"),
        ("end", &bytes[100..], "not a hotset trace"),
        ("damaged", &damaged, "the trace is damaged at row group 0"),
    ] {
        let broken = scratch.path(name);
        fs::write(&broken, bytes).expect("a file");
        let json = results.join("x.json");
        assert_refused(&[text(&broken), "--json", text(&json)], 1, &[text(&broken), why]);
    }
    for (path, why) in [
        (text(&results), "is a directory"),
        (text(&pipe), "expected a regular file"),
        ("/dev/null", "expected a regular file"),
        ("/nowhere.parquet", "No such file"),
    ] {
        assert_refused(&[path], 1, &[path, why]);
    }
    assert_eq!(listed(&results), [""; 0]);
}

#[test]
fn numbers_that_nothing_can_have_and_options_that_contradict_are_refused() {
    let scratch = Scratch::new("size-options");
    let trace = imported(&scratch, "trace", (0..1_000).cycle().take(4_000));
    let trace = text(&trace);
    for (words, why) in [
        (&["--limit", "0"][..], "above 0"),
        (&["--limit", "17E"], "16 EiB"),
        (&["--other", "2M", "--limit", "1M"], "the program holds 2.00 MiB"),
        (&["--device-rate", "0"], "above 0"),
        (&["--target", "0"], "above 0 and up to 100"),
        (&["--target", "101"], "above 0 and up to 100"),
        (&["--target", "nan"], "above 0 and up to 100"),
        (&["--kernel", "x"], "such as 6.12"),
        (&["--kernel", "6.1", "--policy", "lru"], "cannot be used with"),
        (&["--prepare", "true"], "cannot be used with"),
        (&["--output", "kept"], "cannot be used with"),
        (&["--", "true"], "cannot be used with"),
    ] {
        assert_refused(&[&[trace], words].concat(), 2, &[why]);
    }
    for words in [&["--verify"][..], &["--prepare", "true"], &["--output", "kept"]] {
        let words = [&["--pid", "1", "-d", "100ms"], words].concat();
        assert_refused(&words, 2, &["cannot be used with"]);
    }
    let all = sized(&[trace, "--target", "100"]);
    assert_eq!(all["enough"]["cache_bytes"], 1_000 * 4096, "{all:#}");
}

#[test]
fn a_result_replaces_neither_the_recording_nor_another_result() {
    let scratch = Scratch::new("size-results");
    let trace = imported(&scratch, "trace", (0..1_000).cycle().take(4_000));
    let before = fs::read(&trace).expect("a trace");
    let other_name = scratch.dir().join(".").join("trace");
    for (option, to) in [("--json", &trace), ("--csv", &other_name), ("--html", &trace)] {
        let why = [text(to), "is the recording"];
        assert_refused(&[text(&trace), option, text(to)], 2, &why);
    }
    let kept = scratch.path("kept");
    for (words, wanted, why) in [
        (["-o", text(&kept), "--json", text(&kept)], 2, "is the recording"),
        (["-o", text(&trace), "--json", "-"], 1, "exists; choose another name"),
        (["-o", "/nowhere/kept", "--json", "-"], 1, "/nowhere"),
    ] {
        assert_refused(&[&words[..], &["--", "/bin/true"]].concat(), wanted, &[why]);
    }
    assert!(!kept.exists());
    let [new, same] = [scratch.path("new"), scratch.dir().join("./new")];
    let twice = [text(&trace), "--json", text(&new), "--csv", text(&same)];
    assert_refused(&twice, 2, &["is named twice"]);
    assert!(fs::read(&trace).expect("a trace") == before && !new.exists());
}

#[test]
fn a_kernel_that_was_not_compared_is_said_to_be_so() {
    let scratch = Scratch::new("size-kernels");
    let trace = imported(&scratch, "trace", (0..1_000).cycle().take(4_000));
    for (kernel, compared) in [("4.19", "Linux 6.1"), ("9.0", "Linux 6.18")] {
        let output = size(&[text(&trace), "--kernel", kernel]);
        let said = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(said.contains(&format!("of Linux {kernel};")), "{said}");
        assert!(said.contains("Kernels before Linux 6.1 and after Linux 6.18"), "{said}");
        assert!(said.contains(&format!("way than {compared}, of whose runs")), "{said}");
    }
}

#[test]
fn too_little_to_tell_is_said_and_no_limit_is_made_up() {
    let scratch = Scratch::new("size-little");
    for (name, pages, why) in [
        ("none", 0..0, "no request has a known place in a file"),
        ("few", 0..5, "the pages have room at any limit"),
        ("once", 0..10_000, "the device reads the same at any limit"),
    ] {
        let trace = imported(&scratch, name, pages);
        let told = sized(&[text(&trace)]);
        assert_eq!(told["too_little"], why, "{told:#}");
        assert_eq!((&told["limit"], &told["request"]), (&Value::Null, &Value::Null), "{name}");
        let output = size(&[text(&trace)]);
        let said = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("the recording does not say what its processes used"), "{said}");
        assert!(said.contains("Not recorded: the source does not tell which pages"), "{said}");
    }
}

/// What the caveats say of how it ended.
#[test]
fn a_command_that_failed_or_was_stopped_is_not_taken_for_a_whole_run() {
    let scratch = Scratch::new("size-ended");
    let log = scratch.path("log");
    let runs = || fs::read_to_string(&log).expect("a log").lines().count();
    let script = |end: &str| format!("echo run >> {}; sleep 0.1; {end}", text(&log));
    let said_of = |words: &[&str], end: &str, wanted| {
        let script = script(end);
        let output = size(&[words, &["--", "/bin/sh", "-c", &script]].concat());
        assert_eq!(code(&output), wanted, "{}", stderr(&output));
        let said = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        said + &stderr(&output)
    };
    let said = said_of(&[], "exit 3", 0);
    assert!(said.contains("It ended with exit code 3 when it was recorded"), "{said}");
    assert_eq!(runs(), 1);
    // Who stops it does not want it to run again, under whatever limit.
    let said = said_of(&["--verify", "--limit", "64M"], "kill -INT $$", 130);
    assert!(said.contains("It was ended by signal 2 when it was recorded"), "{said}");
    assert!(said.contains("it is not run under limits"), "{said}");
    assert_eq!(runs(), 2);
}

/// Nobody else makes groups with such a name.
fn reader(group: &Path, data: &Path, seconds: &str) -> std::process::Child {
    let program = "
import os, sys, time
open(sys.argv[1] + '/cgroup.procs', 'w').write('0')
file, held, end = os.open(sys.argv[2], os.O_RDONLY), bytearray(16 << 20), time.monotonic() + float(sys.argv[3])
while time.monotonic() < end:
    for page in range(8192): os.pread(file, 4096, page * 4096)
";
    let mut python = Command::new("/usr/bin/python3");
    python.args(["-S", "-c", program, text(group), text(data), seconds]).spawn().expect("python3")
}

#[test]
fn a_limit_that_would_kill_what_was_watched_is_refused_and_the_rest_is_told() {
    let scratch = Scratch::new("size-killed");
    let data = scratch.file("data", 32 * MIB);
    // High enough to be none.
    let group = LimitedGroup::new(&scratch, 1 << 40);
    let mut running = reader(group.dir(), &data, "600");
    std::thread::sleep(Duration::from_millis(500));
    let json = scratch.path("x.json");
    let words = ["--cgroup", text(group.dir()), "-d", "2s", "--limit", "1M", "--json", text(&json)];
    let output = size(&words);
    running.kill().expect("killed");
    running.wait().expect("waited for");
    let (told, said) = (stdout(&output), stderr(&output));
    assert_eq!(code(&output), 2, "{said}");
    assert!(said.contains("--limit 1 MiB: the program holds") && json.exists(), "{said}");
    assert!(told.contains("Memory limit"), "{told}");
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("may be charged to those"), "{told}");
}

#[test]
fn a_group_that_is_empty_or_goes_away_is_watched_no_longer_than_it_is_there() {
    let scratch = Scratch::new("size-gone");
    let group = Group::new(&scratch);
    let dir = text(group.dir()).to_owned();
    let output = size(&["--cgroup", &dir, "-d", "300ms"]);
    let told = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(told.contains("no process of it could be looked at"), "{told}");
    let began = Instant::now();
    let removing = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(3));
        drop(group);
    });
    let output = size(&["--cgroup", &dir, "-d", "50s"]);
    removing.join().expect("removed");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(began.elapsed() < Duration::from_secs(45), "it waited for a group that is gone");
    assert_refused(&["--cgroup", &dir, "-d", "1s"], 1, &[&dir, "is not a control group"]);
}
