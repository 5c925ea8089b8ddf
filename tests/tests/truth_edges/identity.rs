//! Which file it was: an inode number may be used again.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

use hotset_tests::filesystems::{FileSystem, Kind, kinds};
use hotset_tests::scratch::text;
use hotset_tests::{HotsetRun, PAGE, Scratch, number, profile_of, run_hotset, until};
use serde_json::Value;

const FILES: u64 = 64;

/// Makes so many files one after the other in a directory of its own, until the file system gives one of them a number that another
/// had (beside others who make files, these may have it), and answers their rows.
fn spill(extra: &[&str], compat: bool) -> (Scratch, Vec<Value>) {
    until("a number comes again", || spill_once(extra, compat))
}

fn spill_once(extra: &[&str], compat: bool) -> Option<(Scratch, Vec<Value>)> {
    let scratch = Scratch::new("spill");
    let directory = scratch.path("here");
    std::fs::create_dir(&directory).expect("mkdir");
    let count = FILES.to_string();
    let words = ["spill", "--file", text(&directory), "--count", &count, "--block", "65536"];
    let options = if compat { &["-q", "--compat-sensor"][..] } else { &["-q"] };
    let HotsetRun { profile, truth, .. } = run_hotset(&scratch, options, &[&words, extra].concat());
    hotset_tests::assert_invariants(&profile);
    let numbers = number(&truth, "/distinct_inodes");
    let files = profile["files"].as_array().expect("files");
    let ours = |row: &&Value| path_of(row).is_some_and(|path| path.starts_with(&directory));
    let rows = files.iter().filter(ours).cloned().collect();
    (numbers < FILES).then_some((scratch, rows))
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
    let script = "printf first >$0; rm $0; exec 3>$0; printf second >&3";
    // Whoever else makes a file between the two may have the number.
    let rows = until("a number comes again", || {
        let scratch = Scratch::new("successor");
        let path = scratch.path("f");
        let profile = profile_of(&scratch, &["sh", "-c", script, text(&path)]);
        let files = profile["files"].as_array().expect("files");
        let ours = |row: &&Value| path_of(row) == Some(&path);
        let rows: Vec<Value> = files.iter().filter(ours).cloned().collect();
        assert_eq!(rows.len(), 2, "{rows:#?}");
        (rows[0]["ino"] == rows[1]["ino"]).then_some(rows)
    });
    for row in &rows {
        let second = number(row, "/write/bytes") == 6;
        assert_eq!(row["cached_after"].as_u64(), second.then_some(1), "{row}");
        assert_eq!(row["size_bytes"].as_u64(), second.then_some(6), "{row}");
    }
}

/// Each subvolume numbers its files from 257 on, and a snapshot has the numbers and the generations of what it was made of.
#[test]
fn files_of_two_subvolumes_with_one_number_are_two() {
    if !kinds().contains(&Kind::Btrfs) {
        return;
    }
    let (scratch, btrfs) = (Scratch::new("subvolumes"), FileSystem::new(Kind::Btrfs));
    let make = |words: &[&str]| {
        let status = Command::new("btrfs").args(["-q", "subvolume"]).args(words).status();
        assert!(status.expect("btrfs, of btrfs-progs").success(), "{words:?}");
    };
    let [first, second, third] = ["first", "second", "third"].map(|name| btrfs.path(name));
    for (directory, pages) in [(&first, 3), (&second, 5)] {
        make(&["create", text(directory)]);
        std::fs::write(directory.join("f"), vec![7; pages * PAGE as usize]).expect("write");
    }
    make(&["snapshot", text(&first), text(&third)]);
    let paths = [&first, &second, &third].map(|directory| directory.join("f"));
    let stats = paths.each_ref().map(|path| rustix::fs::stat(path).expect("stat"));
    assert!(stats.iter().all(|stat| stat.st_ino == stats[0].st_ino), "one number: {stats:?}");
    for compat in [false, true] {
        let options = if compat { &["--compat-sensor"][..] } else { &[] };
        let profile = hotset_tests::undisturbed(&paths, || {
            let json = scratch.path("profile.json");
            let mut hotset = Command::new(hotset_tests::hotset());
            hotset.args(["run", "-q", "--json", text(&json)]).args(options);
            hotset.args(["--", "cat"]).args(&paths);
            assert!(hotset.output().expect("hotset").status.success());
            let profile = hotset_tests::read_json(&json);
            hotset_tests::assert_invariants(&profile);
            for (path, pages) in paths.iter().zip([3, 5, 3]) {
                // By the device that stat(2) tells.
                let row = hotset_tests::row_at(&profile, path);
                assert_eq!(path_of(row), Some(path.as_path()));
                assert_eq!(number(row, "/read/pages"), pages, "{row}");
                assert_eq!(number(row, "/cached_after"), pages, "{row}");
            }
            profile
        });
        let known = profile["environment"]["filesystems"].as_array().expect("filesystems");
        for path in &paths {
            let dev = &hotset_tests::row_at(&profile, path)["dev"];
            let shown =
                known.iter().find(|known| known["dev"] == *dev).expect("where it is mounted");
            assert_eq!(shown["mount"], text(btrfs.root()), "{shown}");
        }
    }
}
