//! Which file it was: an inode number may be used again.

use std::collections::HashSet;
use std::path::Path;

use hotset_tests::scratch::text;
use hotset_tests::{HotsetRun, Scratch, number, profile_of, run_hotset};
use serde_json::Value;

const FILES: u64 = 64;

/// Makes so many files one after the other in a directory of its own, and answers their rows.
fn spill(extra: &[&str], compat: bool) -> (Scratch, Vec<Value>) {
    let scratch = Scratch::new("spill");
    let directory = scratch.path("here");
    std::fs::create_dir(&directory).expect("mkdir");
    let count = FILES.to_string();
    let words = ["spill", "--file", text(&directory), "--count", &count, "--block", "65536"];
    let options = if compat { &["-q", "--compat-sensor"][..] } else { &["-q"] };
    let HotsetRun { profile, truth, .. } = run_hotset(&scratch, options, &[&words, extra].concat());
    hotset_tests::assert_invariants(&profile);
    let numbers = number(&truth, "/distinct_inodes");
    assert!(numbers < FILES, "this file system gave no number twice: {truth}");
    let files = profile["files"].as_array().expect("files");
    let ours = |row: &&Value| path_of(row).is_some_and(|path| path.starts_with(&directory));
    (scratch, files.iter().filter(ours).cloned().collect())
}

fn path_of(row: &Value) -> Option<&Path> {
    row["path"].as_str().map(Path::new)
}

fn assert_apart(rows: &[Value]) {
    assert_eq!(rows.len() as u64, FILES, "{rows:#?}");
    let paths: HashSet<_> = rows.iter().map(path_of).collect();
    assert_eq!(paths.len() as u64, FILES, "each under its own name: {paths:?}");
    let key = |row: &Value| format!("{} {} {}", row["dev"], row["ino"], row["generation"]);
    let keys: HashSet<_> = rows.iter().map(key).collect();
    assert_eq!(keys.len() as u64, FILES, "{keys:?}");
}

#[test]
fn a_number_that_is_used_again_is_another_file() {
    for compat in [false, true] {
        let (_scratch, rows) = spill(&["--direct"], compat);
        assert_apart(&rows);
        for row in &rows {
            for (count, wanted) in [
                ("/direct/read_calls", 1),
                ("/direct/read_bytes", 65_536),
                ("/direct/reread_bytes", 0),
                ("/direct/write_calls", 1),
                ("/direct/write_bytes", 65_536),
                ("/opens", 1),
            ] {
                assert_eq!(number(row, count), wanted, "{count}: {row}");
            }
            assert!(row["cached_after"].is_null(), "it is gone, and its number another's: {row}");
        }
    }
}

#[test]
fn a_file_that_replaces_another_is_not_that_one() {
    for compat in [false, true] {
        let (_scratch, rows) = spill(&["--replace"], compat);
        assert_apart(&rows);
        for row in &rows {
            for (count, wanted) in [
                ("/read/pages", 16),
                ("/read/misses", 0),
                ("/write/pages", 16),
                ("/write/new_pages", 16),
                ("/write/dirtied_pages", 16),
            ] {
                assert_eq!(number(row, count), wanted, "{count}: {row}");
            }
        }
    }
}

#[test]
fn what_is_cached_afterwards_is_asked_of_the_file_that_was_met() {
    let scratch = Scratch::new("successor");
    let path = scratch.path("f");
    let script = "printf first >$0; rm $0; exec 3>$0; printf second >&3";
    let profile = profile_of(&scratch, &["sh", "-c", script, text(&path)]);
    let files = profile["files"].as_array().expect("files");
    let rows: Vec<&Value> = files.iter().filter(|row| path_of(row) == Some(&path)).collect();
    assert_eq!(rows.len(), 2, "{rows:#?}");
    assert_eq!(rows[0]["ino"], rows[1]["ino"], "no number came again: {rows:#?}");
    for row in rows {
        let second = number(row, "/write/bytes") == 6;
        assert_eq!(row["cached_after"].as_u64(), second.then_some(1), "{row}");
        assert_eq!(row["size_bytes"].as_u64(), second.then_some(6), "{row}");
    }
}
