//! `hotset replay` from other states, with files that changed, of recordings from elsewhere, and where there is too little of something.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use hotset_tests::programs::loaded_by;
use hotset_tests::replays::{each, everything, python, recorded_changes, replay, session};
use hotset_tests::scratch::text;
use hotset_tests::traced::record;
use hotset_tests::{
    LimitedGroup, MIB, Mounted, PAGE, Scratch, code, evict_verified, hotset, stderr, stdout,
    undisturbed, unwrapped, workload,
};
use serde_json::Value;

/// Reads so many pages, one by one and each once, without read-ahead: what the device reads is known to the byte.
const RANDOM: &str = r#"
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
for page in range(int(sys.argv[2])): os.pread(fd, 4096, page * 7 % 2048 * 4096)
"#;

#[test]
fn a_cold_replay_reads_what_was_recorded_and_a_warm_one_nothing() {
    let scratch = Scratch::new("replay-states");
    let file = scratch.file("data", 8 * MIB);
    // A program that nobody else runs: what others have mapped can't be evicted, and is not read again.
    let program = scratch.program("workload", &workload());
    fs::File::open(&program).and_then(|copy| copy.sync_all()).expect("synced");
    let watched = [vec![file.clone()], loaded_by(&program), loaded_by(&hotset())].concat();
    undisturbed(&watched, || assert_states(&scratch, &file, &program));
}

/// A recording of a cold file is replayed from each state.
fn assert_states(scratch: &Scratch, file: &Path, program: &Path) {
    evict_verified(file);
    let words = ["random", "--advise-random", "--count", "500", "--file", text(file)];
    let recorded = record(scratch, &[], &[&[text(program)], &words[..]].concat());
    let states = ["--state", "recorded", "--state", "cold", "--state", "warm"];
    let session = session(scratch, &recorded.path, &[&["--rounds", "3"], &states[..]].concat());
    let by_state = |state: &str| -> Vec<u64> {
        let samples = session["samples"].as_array().expect("samples").iter();
        let of = samples.filter(|sample| sample["state"] == state);
        of.map(|sample| sample["device_read_bytes"].as_u64().expect("a number")).collect()
    };
    let from_device = recorded.trace.sum(|traced| traced.record.device_read_bytes.unwrap_or(0));
    assert!(from_device >= 500 * PAGE, "{from_device}");
    assert_eq!(by_state("recorded"), [from_device; 3]);
    assert!(by_state("cold").iter().all(|bytes| *bytes >= from_device), "{:#}", session["samples"]);
    // Pages that were read are in the cache when others evict nothing.
    assert!(by_state("warm").contains(&0), "{:#}", session["samples"]);
    assert_eq!(each(&session, "/differences"), [0; 9]);
    assert_eq!(session["fidelity"]["device_read_ratio"], 1.0);
}

#[test]
fn a_file_that_changed_is_named_and_nothing_is_claimed() {
    let scratch = Scratch::new("replay-changed");
    let file = scratch.file("data", 8 * MIB);
    let recorded = record(&scratch, &[], &python(RANDOM, &[text(&file), "2048"]));
    fs::File::options().write(true).open(&file).and_then(|file| file.set_len(MIB)).expect("cut");
    let output = replay(&recorded.path, &["--rounds", "1"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let said = unwrapped(&stdout(&output));
    assert!(said.contains("data: 1.00 MiB now, 8.00 MiB when recorded"), "{said}");
    assert!(said.contains("Not known: results differ from the recording"), "{said}");
    assert!(said.contains("0 of 1"), "{said}");
    fs::remove_file(&file).expect("removed");
    let said = unwrapped(&stdout(&replay(&recorded.path, &["--rounds", "1"])));
    assert!(said.contains("data: does not exist any more"), "{said}");
}

#[test]
fn a_mapped_file_that_was_cut_ends_the_replay_and_not_hotset() {
    let scratch = Scratch::new("replay-mapped");
    let file = scratch.file("data", MIB);
    let program = "import mmap,sys\nf=open(sys.argv[1],'rb')\nm=mmap.mmap(f.fileno(),0,prot=mmap.PROT_READ)\nprint(m[MIB-1])";
    let program = program.replace("MIB", &MIB.to_string());
    let recorded = record(&scratch, &[], &python(&program, &[text(&file)]));
    fs::File::options().write(true).open(&file).and_then(|file| file.set_len(PAGE)).expect("cut");
    let output = replay(&recorded.path, &["--rounds", "1"]);
    assert_eq!(code(&output), 1);
    let said = stderr(&output);
    assert!(
        said.contains("trace.parquet: a mapped file is shorter than when it was recorded"),
        "{said}"
    );
}

#[test]
fn somebody_elses_recording_needs_trust() {
    let scratch = Scratch::new("replay-trust");
    let file = scratch.file("data", MIB);
    let recorded = record(&scratch, &[], &python(RANDOM, &[text(&file), "10"]));
    std::os::unix::fs::chown(&recorded.path, Some(12_345), None).expect("chown");
    let output = replay(&recorded.path, &["--rounds", "1"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("belongs to user 12345"), "{}", stderr(&output));
    assert_eq!(code(&replay(&recorded.path, &["--rounds", "1", "--trust"])), 0);
}

#[test]
fn copies_that_find_no_room_are_refused_before_anything_is_written() {
    let scratch = Scratch::new("replay-no-room");
    let small = scratch.path("small");
    fs::create_dir(&small).expect("a directory");
    let _mounted = Mounted::new(&["-t", "tmpfs", "-o", "size=80M", "none", text(&small)]);
    let file = scratch.file("data", 32 * MIB);
    let program = "import sys\nf=open(sys.argv[1],'r+b')\nb=f.read()\nf.seek(0)\nf.write(b)";
    let recorded = record(&scratch, &[], &python(program, &[text(&file)]));
    let output = replay(&recorded.path, &["--rounds", "1", "--dir", text(&small)]);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("not enough space"), "{}", stderr(&output));
    assert_eq!(fs::read_dir(&small).expect("list").count(), 0);
}

#[test]
fn a_replay_has_the_memory_that_the_recording_had() {
    let scratch = Scratch::new("replay-limit");
    let file = scratch.file("data", 48 * MIB);
    let trace = scratch.path("limited.parquet");
    let limit = 200 * MIB;
    let group = LimitedGroup::new(&scratch, limit);
    let mut command = Command::new(hotset());
    command.args(["record", "-q", "-o"]).arg(&trace).arg("--").args(["cat", text(&file)]);
    command.stdout(Stdio::null());
    let output = group.output(&mut command);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let session = session(&scratch, &trace, &["--rounds", "1"]);
    assert_eq!(session["memory_limit_bytes"], limit);
    let group = fs::read_dir(group.mount()).expect("list").flatten();
    let left: Vec<_> = group
        .map(|entry| entry.file_name())
        .filter(|name| name.to_string_lossy().starts_with("hotset-limited-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let output = replay(&trace, &["-q", "--rounds", "1", "--no-limit", "--json", "-"]);
    let session: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(session["memory_limit_bytes"], Value::Null);
}

#[test]
fn a_recording_of_elsewhere_is_replayed_on_files_that_are_made() {
    let scratch = Scratch::new("replay-scratch");
    let (dir, trace) = recorded_changes(&scratch);
    fs::remove_dir_all(&dir).expect("as if it were on another host");
    let made = scratch.path("made");
    fs::create_dir(&made).expect("a directory");
    let states = ["--state", "cold", "--state", "warm"];
    let words = [&["--rounds", "2", "--scratch", text(&made)], &states[..]].concat();
    let session = session(&scratch, &trace, &words);
    assert_eq!(each(&session, "/differences"), [0; 4], "{:#}", session["samples"]);
    let files = &session["files"];
    assert_eq!(files["originals"], 0, "{files:#}");
    assert!(files["made_up"].as_u64() > Some(5), "{files:#}");
    assert_eq!(session["files"]["unfit"], Value::Array(Vec::new()));
    let read = each(&session, "/device_read_bytes");
    assert!(read.iter().any(|bytes| *bytes > 0), "made files are on the disk: {read:?}");
    assert_eq!(fs::read_dir(&made).expect("list").count(), 0);
}

#[test]
fn paths_are_looked_up_below_a_root_and_nothing_leads_out_of_it() {
    let scratch = Scratch::new("replay-root");
    let file = scratch.file("data", MIB);
    let recorded = record(&scratch, &[], &python(RANDOM, &[text(&file), "100"]));
    // Root, without the libraries of the program: these are missing in it, and named.
    let root = scratch.path("root");
    let below = root.join(file.strip_prefix("/").expect("absolute"));
    fs::create_dir_all(below.parent().expect("a directory")).expect("directories");
    fs::copy(&file, &below).expect("a copy");
    fs::remove_file(&file).expect("removed");
    let before = everything(&root);
    let session = session(&scratch, &recorded.path, &["--rounds", "1", "--root", text(&root)]);
    assert_eq!(everything(&root), before);
    let unfit = session["files"]["unfit"].as_array().expect("a list");
    let names: Vec<&str> = unfit.iter().filter_map(|file| file["path"].as_str()).collect();
    assert!(
        names.iter().any(|name| name.ends_with("python3.11") || name.contains("libc.so")),
        "{names:?}"
    );
    assert!(!names.contains(&text(&file)), "it is there, below the root");
    // An absolute link that leads out of the root leads nowhere.
    fs::rename(&below, scratch.path("outside")).expect("moved");
    std::os::unix::fs::symlink(scratch.path("outside"), &below).expect("a link");
    // The same root by a relative path: above the root of the host is that root.
    let relative = format!("{}{}", "../".repeat(32), text(&root).trim_start_matches('/'));
    let session = self::session(&scratch, &recorded.path, &["--rounds", "1", "--root", &relative]);
    assert_eq!(session["files"]["unfit"].as_array().map(Vec::len), Some(names.len() + 1));
    let unfit = session["files"]["unfit"].as_array().expect("a list");
    let missing = unfit.iter().find(|unfit| unfit["path"] == text(&file));
    assert!(missing.is_some_and(|file| file["since_recorded"] == "missing"), "{unfit:#?}");
}
