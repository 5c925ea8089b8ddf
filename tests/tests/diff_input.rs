//! What `hotset diff` refuses, and what it says.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use hotset_tests::scratch::text;
use hotset_tests::traced::record;
use hotset_tests::{Scratch, as_nobody, code, hotset, stderr, stdout};

fn diff(words: &[&str]) -> Output {
    Command::new(hotset()).arg("diff").args(words).output().expect("hotset")
}

fn profile(scratch: &Scratch, name: &str) -> PathBuf {
    let path = scratch.path(name);
    let words = ["run", "-q", "--json", text(&path), "--", "/bin/true"];
    let output = Command::new(hotset()).args(words).output().expect("hotset");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    path
}

#[track_caller]
fn assert_refused(words: &[&str], wanted: i32, why: &[&str]) {
    let output = diff(words);
    let said = stderr(&output);
    assert_eq!(code(&output), wanted, "{words:?}: {said}");
    assert!(why.iter().all(|why| said.contains(why)), "{words:?}: {said}");
    assert!(!said.contains("panicked") && stdout(&output).is_empty(), "{said}");
}

fn written(scratch: &Scratch, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = scratch.path(name);
    fs::write(&path, bytes).expect("a file");
    path
}

#[test]
fn what_is_no_run_is_named_with_what_it_is() {
    let scratch = Scratch::new("diff-refused");
    let whole = profile(&scratch, "whole.json");
    let bytes = fs::read_to_string(&whole).expect("a profile");
    let other = bytes.replacen("hotset.profile/1", "hotset.profile/2", 1);
    let bench = bytes.replacen("hotset.profile/1", "hotset.bench/1", 1);
    let file = |name, bytes: &[u8]| written(&scratch, name, bytes);
    for (path, why) in [
        (scratch.path("gone.json"), "No such file"),
        (scratch.dir().to_owned(), "is a directory"),
        (file("empty.json", b""), "no result in it"),
        (file("words.json", b"hello\n"), "not JSON"),
        (file("other.json", b"{\"a\": 1}\n"), "it has no \"schema\""),
        (file("cut.json", &bytes.as_bytes()[..bytes.len() / 2]), "ends in the middle"),
        (file("next.json", other.as_bytes()), "a profile of version 2"),
        (file("bench.json", bench.as_bytes()), "hotset.bench/1"),
        (file("two.json", [bytes.as_bytes(), bytes.as_bytes()].concat().as_slice()), "2 results"),
        (file("cut.parquet", b"PAR1 and no more"), "cut.parquet"),
    ] {
        assert_refused(&[text(&whole), text(&path)], 1, &[text(&path), why]);
        assert_refused(&[text(&path), text(&whole)], 1, &[text(&path), why]);
    }
    assert_refused(&["-", "-"], 2, &["standard input"]);
    assert_refused(&[text(&whole)], 2, &["AFTER"]);
}

#[test]
fn a_profile_and_a_recording_are_no_pair() {
    let scratch = Scratch::new("diff-pair");
    let whole = profile(&scratch, "whole.json");
    let recorded = record(&scratch, &[], &["/bin/true"]);
    let why = ["is a profile", "is a recording", "expected two of one kind"];
    assert_refused(&[text(&whole), text(&recorded.path)], 1, &why);
}

#[test]
fn no_result_replaces_a_run_or_another_result() {
    let scratch = Scratch::new("diff-results");
    let [before, after] = ["before.json", "after.json"].map(|name| profile(&scratch, name));
    let paths = [text(&before), text(&after)];
    let refused = |words: &[&str], wanted, why: &str| {
        assert_refused(&[&paths[..], words].concat(), wanted, &[why]);
    };
    let other_name = scratch.dir().join(".").join("after.json");
    refused(&["--json", text(&before)], 2, "would replace");
    refused(&["--html", text(&other_name)], 2, "would replace");
    refused(&["--json", "/nowhere/d.json"], 1, "/nowhere");
    refused(&["--json", "-", "--html", "-"], 2, "standard output");
    let kept = fs::read(&before).expect("a profile");
    assert!(kept.starts_with(b"{\"schema\":\"hotset.profile/1\""));
}

/// Runs a shell's line with the program and two files as its words.
fn shell(line: &str, before: &Path, after: &Path) -> Output {
    let words = ["-c", line, "sh", text(&hotset()), text(before), text(after)].map(str::to_owned);
    Command::new("bash").args(words).stdin(Stdio::null()).output().expect("bash")
}

#[test]
fn profiles_come_through_pipes_and_recordings_do_not() {
    let scratch = Scratch::new("diff-pipes");
    let [before, after] = ["before.json", "after.json"].map(|name| profile(&scratch, name));
    for line in ["cat \"$2\" | \"$1\" diff - \"$3\"", "\"$1\" diff <(cat \"$2\") <(gzip -c \"$3\")"]
    {
        let output = shell(line, &before, &after);
        assert_eq!(code(&output), 0, "{line}: {}", stderr(&output));
        assert!(stdout(&output).contains("two profiles of /bin/true"), "{}", stdout(&output));
    }
    let recorded = record(&scratch, &[], &["/bin/true"]);
    let output = shell("cat \"$2\" | \"$1\" diff - \"$3\"", &recorded.path, &after);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("through a pipe"), "{}", stderr(&output));
}

#[test]
fn a_recording_without_records_is_compared_and_told() {
    let scratch = Scratch::new("diff-empty");
    let log = written(&scratch, "empty.csv", "start_ns,op,path,offset,bytes\n");
    let empty = scratch.path("empty.parquet");
    let words = ["trace", "import", "--from", "csv", text(&log), "-o", text(&empty)];
    let output = Command::new(hotset()).args(words).output().expect("hotset");
    // An import that refuses to make an empty trace leaves none to compare.
    if code(&output) != 0 {
        assert!(!empty.exists(), "{}", stderr(&output));
        return;
    }
    let output = diff(&[text(&empty), text(&empty)]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("holds nothing"), "{}", stdout(&output));
}

#[test]
fn who_may_do_nothing_can_compare_what_they_can_read() {
    let scratch = Scratch::new("diff-nobody");
    let [before, after] = ["before.json", "after.json"].map(|name| profile(&scratch, name));
    let output = as_nobody(scratch.dir()).args(["diff", text(&before), text(&after)]).output();
    let output = output.expect("setpriv");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let words = ["diff", text(&before), text(&after), "--json"];
    let to = scratch.path("not-allowed.json");
    let output = as_nobody(scratch.dir()).args(words).arg(&to).output().expect("setpriv");
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("not-allowed.json"), "{}", stderr(&output));
}
