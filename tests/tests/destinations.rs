//! Where `hotset run` and others write their results, and what they leave alone.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use hotset_tests::scratch::text;
use hotset_tests::{Mounted, Scratch, as_nobody, code, hotset, stderr, until};
use serde_json::Value;

fn run(words: &[&str]) -> Output {
    Command::new(hotset()).arg("run").args(words).output().expect("hotset")
}

#[test]
fn a_report_that_can_not_be_written_is_refused_before_the_command_starts() {
    let scratch = Scratch::new("destination");
    let ran = scratch.path("ran");
    let file = scratch.file("file", 10);
    let [missing, below_a_file] = [scratch.path("missing/out.json"), file.join("out.json")]
        .map(|path| text(&path).to_owned());
    for path in [&missing, &below_a_file, text(scratch.dir())] {
        let output = run(&["--json", path, "--", "touch", text(&ran)]);
        assert_eq!(code(&output), 125, "{}", stderr(&output));
        assert!(stderr(&output).contains(path), "{}", stderr(&output));
        assert!(!ran.exists(), "the command ran");
    }
}

/// `run --json ./tool ls` has forgotten the file, and would replace the program.
#[test]
fn a_program_is_not_overwritten() {
    let scratch = Scratch::new("overwrite");
    let path = scratch.path("out");
    for (contents, mode, is_refused) in [
        ("#!/bin/sh\n", 0o755, true),
        ("echo", 0o700, true),
        ("\x7fELF", 0o711, true),
        ("#!/bin/sh\n", 0o644, false),
        // On FAT every file may be executed.
        ("{}", 0o777, false),
        ("<!doctype html>", 0o777, false),
        ("", 0o777, false),
    ] {
        std::fs::write(&path, contents).expect("write");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("chmod");
        for words in
            [&["run", "--no-bpf", "-q", "--json"][..], &["bench", "-r", "1", "--export-csv"]]
        {
            std::fs::write(&path, contents).expect("write");
            let output =
                Command::new(hotset()).args(words).arg(&path).args(["--", "true"]).output();
            let output = output.expect("hotset");
            let left = std::fs::read_to_string(&path).expect("read");
            assert_eq!(left == contents, is_refused, "{contents} {mode:o}: {}", stderr(&output));
            assert_eq!(code(&output), if is_refused { 125 } else { 0 }, "{}", stderr(&output));
            assert_eq!(stderr(&output).contains("is an executable file"), is_refused, "{contents}");
        }
    }
}

#[test]
fn a_profile_on_standard_output_is_one_object_behind_the_commands_own() {
    for words in [&["--json", "-", "-q", "--", "true"][..], &["--json=-", "-q", "true"]] {
        let output = run(words);
        let profile: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(profile["schema"], "hotset.profile/1");
        assert_eq!(profile["command"]["argv"][0], "true");
    }
}

#[test]
fn a_device_can_be_written_to_by_whom_its_directory_refuses() {
    let scratch = Scratch::new("nobody-device");
    for (path, wanted) in [("/dev/null", 7), ("/dev/new", 125), ("/dev/kmsg", 125)] {
        let mut command = as_nobody(scratch.dir());
        command.args(["run", "-q", "--json", path, "--", "sh", "-c", "exit 7"]);
        let output = command.env("HOME", "/nonexistent").output().expect("setpriv");
        assert_eq!(code(&output), wanted, "{path}: {}", stderr(&output));
        assert_eq!(stderr(&output).contains("can't be written to: Permission"), wanted == 125);
    }
}

#[test]
fn a_full_disk_costs_the_report_and_the_commands_own_code_goes_first() {
    let scratch = Scratch::new("full");
    let dir = scratch.path("disk");
    std::fs::create_dir(&dir).expect("mkdir");
    let _mounted = Mounted::new(&["-t", "tmpfs", "-o", "size=64k", "none", text(&dir)]);
    let path = dir.join("p.json");
    std::fs::write(&path, "old").expect("write");
    fill(&dir.join("filler"));
    for (ends, wanted) in [("exit 7", 7), ("exit 0", 125)] {
        let output = run(&["--json", text(&path), "-q", "--", "sh", "-c", ends]);
        assert_eq!(code(&output), wanted);
        assert!(stderr(&output).contains(text(&path)), "{}", stderr(&output));
    }
    // The old report is whole, and there is no half of the new one.
    assert_eq!(std::fs::read(&path).expect("read"), b"old");
    let names: Vec<_> = std::fs::read_dir(&dir).expect("list").flatten().collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

/// A recording that a full disk ends has whole lines only, and none is left that has no line at all.
#[test]
fn a_recording_on_a_full_disk_is_whole_as_far_as_it_goes() {
    let scratch = Scratch::new("full-recording");
    let dir = scratch.path("disk");
    std::fs::create_dir(&dir).expect("mkdir");
    let _mounted = Mounted::new(&["-t", "tmpfs", "-o", "size=4m", "none", text(&dir)]);
    let path = dir.join("night.jsonl");
    let words = ["top", "--batch", "600", "--record", text(&path), "0.1"];
    let mut recording = Command::new(hotset());
    recording.args(words).stdout(Stdio::null()).stderr(Stdio::piped());
    let recording = recording.spawn().expect("hotset");
    // An interval of a busy host is much longer than one of an idle host: the disk is full once there are some.
    until("two intervals", || {
        let recorded = std::fs::read(&path).ok()?;
        (recorded.iter().filter(|byte| **byte == b'\n').count() > 2).then_some(())
    });
    fill(&dir.join("filler"));
    let output = recording.wait_with_output().expect("hotset");
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let why = format!("{}: No space left on device\n", text(&path));
    assert!(stderr(&output).ends_with(&why), "{}", stderr(&output));
    let recorded = std::fs::read_to_string(&path).expect("read");
    assert!(recorded.ends_with("}\n"), "{recorded}");
    assert!(recorded.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    let replayed = with_output(&["top", "--batch", "0", "--replay", text(&path)], Stdio::null());
    assert_eq!(code(&replayed), 0, "{}", stderr(&replayed));

    std::fs::remove_file(&path).expect("remove");
    fill(&dir.join("more"));
    assert_eq!(code(&with_output(&words, Stdio::null())), 1);
    assert!(!path.exists());
}

fn with_output(words: &[&str], stdout: impl Into<Stdio>) -> Output {
    let child = Command::new(hotset()).args(words).stdout(stdout).stderr(Stdio::piped()).spawn();
    child.and_then(|child| child.wait_with_output()).expect("hotset")
}

#[test]
fn what_standard_output_does_not_take_is_a_failure_that_names_it() {
    let scratch = Scratch::new("full-stdout");
    let file = scratch.file("file", 4096);
    let bench = scratch.path("bench.json");
    let words = ["bench", "-q", "-r", "1", "--export-json", text(&bench), "--", "true"];
    assert_eq!(code(&with_output(&words, Stdio::null())), 0);
    for (words, wanted) in [
        (&["--help"][..], 1),
        (&["--version"], 1),
        (&["help", "lab"], 1),
        (&["bench", "-h"], 1),
        (&["stat", "0.1", "1"], 1),
        (&["stat", "--json", "0.1", "1"], 1),
        (&["ls", text(&file)], 1),
        (&["save", "-", text(&file)], 1),
        (&["report", text(&bench), "-o", "-"], 1),
        (&["run", "-q", "--json", "-", "--", "true"], 125),
        (&["bench", "-q", "-r", "1", "--json", "--", "true"], 125),
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
        let output = with_output(words, full);
        assert_eq!(code(&output), wanted, "{words:?}: {}", stderr(&output));
        let why = "standard output: No space left on device\n";
        assert!(stderr(&output).ends_with(why), "{words:?}: {}", stderr(&output));
    }
}

#[test]
fn a_file_on_a_full_disk_is_named_with_the_reason() {
    let lab = "lab direct --size 1M --block 1M --count 2 --sleep 1ms --rounds 1 --no-bpf -q --json";
    for (line, wanted) in [
        ("bench -q -r 1 --no-noise-floor --export-json /dev/full -- true", 125),
        ("run -q --json=/dev/full -- true", 125),
        (&format!("{lab} /dev/full"), 1),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let output = with_output(&words, Stdio::null());
        assert_eq!(code(&output), wanted, "{line}: {}", stderr(&output));
        let why = "/dev/full: No space left on device\n";
        assert!(stderr(&output).ends_with(why), "{line}: {}", stderr(&output));
    }
}

#[test]
fn help_that_nobody_reads_is_no_failure() {
    for words in [["bench", "--help"], ["lab", "--version"]] {
        let (reader, writer) = std::io::pipe().expect("pipe");
        drop(reader);
        let output = with_output(&words, writer);
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{words:?}");
    }
}

/// Writes until nothing fits any more.
fn fill(path: &Path) {
    use std::io::Write;
    let mut file = std::fs::File::create(path).expect("create");
    let mut error = None;
    while error.is_none() {
        error = file.write(&[1; 4096]).err();
    }
    assert_eq!(error.and_then(|error| error.raw_os_error()), Some(libc::ENOSPC));
}
