//! A job below a memory limit: the sensor's tables must not take the room that its cache needs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use hotset_tests::scratch::text;
use hotset_tests::{
    LimitedGroup, MIB, Scratch, evict_verified, hotset, number, read_json, row_at, run_hotset,
    stderr, stdout, undisturbed, warm_verified, workload,
};
use serde_json::Value;

/// What hotset's own process may take in the group: its heap and stack, and pages of the binary that nobody had cached.
const OWN_BYTES: u64 = 24 * MIB;

/// What each of a job's readings had the device read, by its own account, the groups that it ran in, how often its group reached
/// the limit, and the group's peak.
#[derive(Debug)]
struct Ran {
    device_bytes: Vec<u64>,
    groups: String,
    reached: u64,
    peak_bytes: u64,
}

/// Reads the file three times in a group with a limit, `before` in front of the job.
fn ran(scratch: &Scratch, file: &Path, limit_bytes: u64, before: &[OsString]) -> Ran {
    let truths: Vec<PathBuf> = (0..3).map(|index| scratch.path(&format!("{index}.json"))).collect();
    let script = "cat /proc/self/cgroup; w=$1 f=$2; shift 2; for t; do \"$w\" seq --file \"$f\" --truth \"$t\" || exit; done";
    let mut words = before.to_vec();
    words.extend(["sh", "-c", script, "sh", text(&workload()), text(file)].map(OsString::from));
    words.extend(truths.iter().map(OsString::from));
    let group = LimitedGroup::new(scratch, limit_bytes);
    let output = group.output(Command::new(&words[0]).args(&words[1..]));
    assert!(output.status.success(), "{words:?}: {}: {}", output.status, stderr(&output));
    let device = |truth: &PathBuf| number(&read_json(truth), "/block_read_bytes");
    Ran {
        device_bytes: truths.iter().map(device).collect(),
        groups: stdout(&output),
        reached: group.reached(),
        peak_bytes: group.peak_bytes(),
    }
}

/// A job whose file fits below the limit does not reach it, under hotset neither: what somebody else may evict meanwhile has
/// nothing to do with the limit, which counts itself how often it was reached.
fn assert_undisturbed(limit_bytes: u64, file_bytes: u64) {
    let scratch = Scratch::new("limited");
    let file = scratch.file("data", file_bytes);
    let profile = scratch.path("profile.json");
    // What it and its shell need is cached before, and charged elsewhere.
    run_hotset(&scratch, &["-q"], &["seq", "--file", text(&file)]);
    let mut run: Vec<OsString> = [hotset().as_os_str()].map(OsString::from).into();
    run.extend(["run", "-q", "--json", text(&profile), "--"].map(OsString::from));
    undisturbed(&[&file], || {
        evict_verified(&file);
        let alone = ran(&scratch, &file, limit_bytes, &[]);
        evict_verified(&file);
        let watched = ran(&scratch, &file, limit_bytes, &run);
        assert_eq!((alone.reached, watched.reached), (0, 0), "{alone:?} {watched:?}");
        assert_eq!((alone.device_bytes[0], watched.device_bytes[0]), (file_bytes, file_bytes));
        assert_eq!(alone.groups, watched.groups, "the command stays in its groups");
        assert!(watched.peak_bytes < alone.peak_bytes + OWN_BYTES, "{alone:?} {watched:?}");
        let told = read_json(&profile);
        let seen = number(row_at(&told, &file), "/device/read_bytes");
        assert_eq!(seen, watched.device_bytes.iter().sum::<u64>(), "{watched:?}");
        assert!(!names_tables(&told), "{}", told["sensor"]);
    });
}

/// Whether hotset says that its tables count against the limit.
fn names_tables(profile: &Value) -> bool {
    let gaps = profile["sensor"]["not_measured"].as_array().expect("a list");
    gaps.iter().any(|gap| gap["what"] == "evictions by the memory limit alone")
}

fn finds_thrash(profile: &Value) -> bool {
    let findings = profile["findings"].as_array().expect("a list");
    findings.iter().any(|finding| finding["id"] == "cache-thrash")
}

#[test]
fn a_job_that_fits_below_its_limit_fits_under_hotset_too() {
    assert_undisturbed(256 * MIB, 170 * MIB);
}

#[test]
fn a_limit_smaller_than_the_tables_kills_nobody() {
    assert_undisturbed(64 * MIB, 30 * MIB);
}

/// Every other command that loads the sensor, in a group that could not hold its tables.
#[test]
fn whatever_loads_the_sensor_leaves_a_small_group_its_memory() {
    let scratch = Scratch::new("limited-all");
    let own = std::process::id().to_string();
    // Nobody else runs it, so its pages are charged to who writes it, and stay.
    let program = scratch.program("hotset", &hotset());
    let commands: [&[&str]; 5] = [
        &["stat", "0.1", "1"],
        &["top", "--batch", "10", "-n", "1", "0.1"],
        &["attach", "-q", "--pid", &own, "--duration", "0.1s"],
        &["ls", "--system"],
        &["doctor"],
    ];
    for words in commands {
        warm_verified(&program);
        let group = LimitedGroup::new(&scratch, 64 * MIB);
        let output = group.output(Command::new(&program).args(words));
        assert!(output.status.success(), "{words:?}: {}: {}", output.status, stderr(&output));
        assert!(group.peak_bytes() < OWN_BYTES, "{words:?}: {}", group.peak_bytes());
        assert!(!stderr(&output).contains("memory limit"), "{words:?}: {}", stderr(&output));
    }
}

/// Where it may not leave its group, hotset says so before the command begins, and does not take for the program's what may be its
/// own doing.
#[test]
fn tables_that_must_stay_below_the_limit_are_told_first() {
    let scratch = Scratch::new("limited-here");
    let (file, profile) = (scratch.file("data", 170 * MIB), scratch.path("profile.json"));
    evict_verified(&file);
    let group = LimitedGroup::new(&scratch, 256 * MIB);
    let script = "mount -o remount,bind,ro \"$0\" && exec \"$@\"";
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "sh", "-c", script]).arg(group.mount()).arg(hotset());
    unshare.args(["run", "--json", text(&profile), "-q", "--", "sh", "-c"]);
    unshare.args(["echo begun >&2; cat \"$0\" \"$0\" \"$0\" >/dev/null", text(&file)]);
    let output = group.output(&mut unshare);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stderr(&output);
    let (told, begun) = (said.find("of the memory limit of 256 MiB"), said.find("begun"));
    assert!(told.is_some() && told < begun, "{said}");
    assert!(group.reached() > 0, "the tables took what the file needed");
    let profile = read_json(&profile);
    assert!(names_tables(&profile), "{}", profile["sensor"]);
    assert!(!finds_thrash(&profile));
}
