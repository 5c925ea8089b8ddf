//! `strace` of the same program lists the same calls, offsets and results in the same order a thread.

mod compare;

use std::path::{Path, PathBuf};
use std::process::Command;

use compare::{by_thread, differences};
use hotset_tests::scratch::text;
use hotset_tests::traced::{Trace, record};
use hotset_tests::{Scratch, hotset, stderr};

/// Compiles the program that makes every call.
fn program(scratch: &Scratch) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record_calls/calls.c");
    let program = scratch.path("calls");
    let words = ["-O1", "-w", "-pthread", text(&source), "-o", text(&program)];
    let output = Command::new("cc").args(words).output();
    let output = output.unwrap_or_else(|error| panic!("this test needs a C compiler: {error}"));
    assert!(output.status.success(), "{}", stderr(&output));
    program
}

/// What strace says of a command, as a trace.
fn straced(scratch: &Scratch, words: &[&str]) -> Trace {
    let (told, trace) = (scratch.path("told.strace"), scratch.path("strace.parquet"));
    let output = Command::new("strace")
        .args(["-f", "-ttt", "-T", "-y", "-v", "-s", "4096", "-o", text(&told)])
        .args(words)
        .output()
        .unwrap_or_else(|error| panic!("this test needs strace: {error}"));
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    let import = ["trace", "import", "--force", "--from", "strace", text(&told), "-o"];
    let output = Command::new(hotset()).args(import).arg(&trace).output().expect("hotset");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!stderr(&output).contains("could not be read"), "{}", stderr(&output));
    Trace::read(&trace)
}

/// An empty directory for each execution: both find the same.
fn emptied(scratch: &Scratch) -> PathBuf {
    let dir = scratch.path("dir");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir(&dir).expect("mkdir");
    dir
}

#[test]
fn a_recording_has_the_calls_that_strace_has() {
    let scratch = Scratch::new("record-calls");
    let program = program(&scratch);
    let dir = emptied(&scratch);
    let words = [text(&program), text(&dir)];
    let recorded = by_thread(&record(&scratch, &[], &words).trace);
    emptied(&scratch);
    let traced = by_thread(&straced(&scratch, &words));
    let found = differences(&recorded, &traced);
    assert!(found.is_empty(), "{}", found.join("\n"));
    // On a busy host, any thread may be the first that makes a call.
    let mut calls: Vec<usize> = recorded.iter().map(Vec::len).collect();
    calls.sort_unstable();
    assert!(calls.len() == 5 && calls[3] > 100 && calls[4] > 800, "calls by thread: {calls:?}");
}

#[test]
fn so_has_one_of_a_real_program() {
    let scratch = Scratch::new("record-programs");
    let dir = scratch.path("dir");
    let made = "git init -q r && cd r && echo a > a && git add a && \
                git -c user.name=a -c user.email=a@b commit -qm a && echo b > a";
    let made = Command::new("sh").args(["-c", made]).current_dir(scratch.dir()).output();
    assert!(made.expect("git").status.success(), "this test needs git");
    for line in [
        "exec python3 -c 'import json, email, http.client'",
        "exec sqlite3 a.db 'create table t(x); insert into t values (1), (2); select sum(x) from t'",
        "cd ../r && git status && git log && git diff",
    ] {
        // Before both executions, so that byte code is there, and the index is as it stays.
        let _ = Command::new("sh").args(["-c", line]).current_dir(emptied(&scratch)).output();
        let line = format!("cd {} && {{ {line}; }} > /dev/null 2>&1", text(&dir));
        let words = ["sh", "-c", &line];
        emptied(&scratch);
        let recorded = by_thread(&record(&scratch, &[], &words).trace);
        emptied(&scratch);
        let traced = by_thread(&straced(&scratch, &words));
        let found = differences(&recorded, &traced);
        assert!(found.is_empty(), "{line}:\n{}", found.join("\n"));
        assert!(recorded.iter().map(Vec::len).sum::<usize>() > 100, "{line}");
    }
}
