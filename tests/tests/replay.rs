//! `hotset replay` on a program that does all that programs do to files: nothing of the user's changes, and it ends as recorded.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use hotset_tests::replays::{
    each, everything, left_behind, long_unread, recorded_changes, replay, session, tree,
};
use hotset_tests::scratch::text;
use hotset_tests::{
    Scratch, code, hotset, read_json, stderr, stdout, until, until_within, with_default_signals,
};

/// What this test relies on: that reading would be seen.
#[test]
fn a_time_of_access_that_changes_is_seen() {
    let scratch = Scratch::new("replay-seen");
    let dir = tree(&scratch);
    long_unread(&scratch, &dir);
    let before = everything(&dir);
    assert_eq!(everything(&dir), before);
    fs::read(dir.join("in/link")).expect("read");
    let after = everything(&dir);
    let changed = before.lines().zip(after.lines()).filter(|(before, after)| before != after);
    let changed: Vec<&str> = changed.filter_map(|(line, _)| line.split(' ').next()).collect();
    assert_eq!(changed, [text(&dir.join("in/link")), text(&dir.join("in/read"))]);
}

#[test]
fn a_replay_changes_nothing_and_ends_as_recorded() {
    let scratch = Scratch::new("replay-changes");
    let (dir, trace) = recorded_changes(&scratch);
    let before = everything(&dir);
    let session = session(&scratch, &trace, &["--rounds", "2", "--dir", text(scratch.dir())]);
    assert_eq!(everything(&dir), before);
    assert_eq!(each(&session, "/differences"), [0, 0], "{:#}", session["samples"]);
    let copies = session["files"]["copies"].as_u64().expect("a number");
    assert!(copies >= 6, "{:#}", session["files"]);
    assert_eq!(session["files"]["made_up"], 0, "{:#}", session["files"]);
    assert_eq!(session["files"]["elsewhere"], 0, "{:#}", session["files"]);
    let cost = &session["head"]["cost"];
    let (beyond, added) = (cost["beyond_duration_ns"].as_i64(), cost["added_ns"].as_i64());
    // A request costs some hundred nanoseconds more when it is recorded; how many is the host's business.
    assert!(added.is_some_and(|ns| ns < 1_000_000), "{cost}");
    assert!(beyond.is_some_and(|ns| ns.abs() < 1_000_000), "{cost}");
    assert!(left_behind(scratch.dir()).is_empty());
}

/// The names of all changes, each with an argument where it takes one.
fn all_changes() -> Vec<String> {
    let output = Command::new(hotset()).args(["replay", "--as-list"]).output().expect("hotset");
    let said = stdout(&output);
    let names = said.lines().filter(|line| !line.starts_with(' ') && !line.is_empty()).skip(1);
    names
        .map(|name| name.replace("=SIZE", "=8K").replace("=N", "=4").replace("=DEPTH", "=4"))
        .collect()
}

#[test]
fn no_change_changes_a_file_or_a_result() {
    let scratch = Scratch::new("replay-as");
    let (dir, trace) = recorded_changes(&scratch);
    let before = everything(&dir);
    let names = all_changes();
    assert!(names.len() >= 13, "{names:?}");
    let mut unused = Vec::new();
    for name in names {
        let json = scratch.path("replay.json");
        let words = ["-q", "--rounds", "1", "--as", &name, "--json", text(&json)];
        let output = replay(&trace, &words);
        assert_eq!(everything(&dir), before, "{name}");
        if code(&output) != 0 {
            unused.push(format!("{name}: {}", stderr(&output)));
            continue;
        }
        let session = read_json(&json);
        assert_eq!(each(&session, "/differences"), [0, 0], "{name}: {:#}", session["samples"]);
        let change = &session["variants"][1]["changes"][0];
        assert_eq!(change["change"], name.as_str());
        assert!(change["affected_steps"].as_u64() > Some(0), "{change:#}");
    }
    assert!(unused.is_empty(), "the program has something for each: {unused:?}");
}

#[test]
fn a_replay_that_is_killed_changes_nothing_and_leaves_nothing() {
    let scratch = Scratch::new("replay-killed");
    let (dir, trace) = recorded_changes(&scratch);
    let before = everything(&dir);
    // A lock of its own: another replay of this user may take minutes.
    let lock = Scratch::new("replay-killed-lock");
    for after in [30, 90, 200] {
        let mut command = Command::new(hotset());
        command.arg("replay").arg(&trace).args(["-q", "--rounds", "100000", "--dir"]);
        command.arg(scratch.dir()).env("XDG_RUNTIME_DIR", lock.dir()).stdout(Stdio::null());
        let mut child = command.spawn().expect("hotset");
        until("a directory", || (!left_behind(scratch.dir()).is_empty()).then_some(()));
        std::thread::sleep(Duration::from_millis(after));
        child.kill().expect("killed");
        child.wait().expect("wait");
        until("the copies are gone", || left_behind(scratch.dir()).is_empty().then_some(()));
        assert_eq!(everything(&dir), before);
    }
}

#[test]
fn ctrl_c_reports_the_rounds_so_far() {
    let scratch = Scratch::new("replay-interrupted");
    let (dir, trace) = recorded_changes(&scratch);
    let before = everything(&dir);
    let mut command = Command::new(hotset());
    command.arg("replay").arg(&trace).args(["--rounds", "100000", "--dir"]).arg(scratch.dir());
    let lock = Scratch::new("replay-interrupted-lock");
    command.env("XDG_RUNTIME_DIR", lock.dir()).stdout(Stdio::piped()).stderr(Stdio::null());
    let child = with_default_signals(&mut command).spawn().expect("hotset");
    let pid = rustix::process::Pid::from_raw(child.id() as i32).expect("a PID");
    // Its copies are made anew for each round, however long that takes here.
    let mut made = BTreeSet::new();
    until_within(Duration::from_secs(60), "rounds", || {
        let copies = left_behind(scratch.dir()).into_iter().map(|dir| dir.join("copies"));
        let files = copies.filter_map(|copies| fs::read_dir(copies).ok()).flatten().flatten();
        made.extend(files.filter_map(|file| file.metadata().ok()?.created().ok()).min());
        (made.len() >= 5).then_some(())
    });
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let output = child.wait_with_output().expect("wait");
    assert_eq!(code(&output), 130);
    let said = stdout(&output);
    assert!(said.contains("ended before the last round") && said.contains("as recorded"), "{said}");
    assert!(left_behind(scratch.dir()).is_empty());
    assert_eq!(everything(&dir), before);
}
