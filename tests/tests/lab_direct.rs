//! `hotset lab direct` in a small size: who used the cache and who did not, never times.

use std::path::Path;
use std::process::Command;

use hotset_tests::cells::{all_are, cell, each, fact};
use hotset_tests::filesystems::{FileSystem, Kind, ensure_tracefs};
use hotset_tests::scratch::text;
use hotset_tests::{MIB, PAGE, Scratch, hotset, stderr, undisturbed_on};
use serde_json::Value;

fn session(scratch: &Scratch, words: &[&str]) -> Value {
    let mut command = Command::new(hotset());
    command.args(["lab", "direct", "-q", "--quick", "--seed", "5", "--json", "-"]);
    command.args(["--dir", text(scratch.dir())]).args(words);
    let done = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(done.status.success(), "{}", stderr(&done));
    serde_json::from_slice(&done.stdout).expect("JSON")
}

#[test]
fn the_program_past_the_cache_is_told_from_its_twin() {
    ensure_tracefs();
    let fs = FileSystem::new(Kind::Ext4);
    let scratch = Scratch::below(fs.root(), "lab-direct");
    undisturbed_on(fs.root(), &hotset(), || program_and_twin_are_told_apart(&scratch));
}

fn program_and_twin_are_told_apart(scratch: &Scratch) {
    let (file, block) = (16 * MIB, 4 * MIB);
    let words = ["--size", "16M", "--block", "4M", "--count", "3", "--rounds", "2"];
    let session = session(scratch, &words);
    for which in ["first", "later"] {
        let direct = cell(&session, &format!("direct/app/direct/{which}"));
        let read = each(direct, "device_read_bytes");
        assert!(read.iter().all(|&read| read >= block), "{which}: {read:?}");
    }
    let first = each(cell(&session, "direct/app/cached/first"), "device_read_bytes");
    assert!(first.iter().all(|&read| read >= block), "{first:?}");
    all_are(cell(&session, "direct/app/cached/later"), "device_read_bytes", 0);
    // Each read finds what the one before it left.
    all_are(cell(&session, "direct/app/cached/first"), "reached_before.cached_pages", 0);
    all_are(cell(&session, "direct/app/cached/later"), "reached_before.cached_pages", block / PAGE);
    all_are(cell(&session, "direct/app/direct/later"), "reached_before.cached_pages", 0);
    all_are(cell(&session, "direct/dd/cached/cold"), "reached_before.cached_pages", 0);
    all_are(cell(&session, "direct/dd/cached/cold"), "device_read_bytes", file);
    all_are(cell(&session, "direct/dd/cached/warm"), "reached_before.cached_pages", file / PAGE);
    all_are(cell(&session, "direct/dd/cached/warm"), "device_read_bytes", 0);
    the_sensor_says_the_same(&session, file, block);
    let left = std::fs::read_dir(scratch.dir()).expect("a directory").count();
    assert_eq!(left, 0, "something is left");
}

fn the_sensor_says_the_same(session: &Value, file: u64, block: u64) {
    let number = |name: &str| fact(session, name).as_u64().expect("a number");
    assert_eq!(number("app direct: bytes read directly"), 2 * block);
    assert_eq!(number("app direct: pages requested"), 0);
    assert_eq!(number("app cached: bytes read directly"), 0);
    assert_eq!(number("app cached: pages requested"), 2 * block / PAGE);
    assert_eq!(fact(session, "app direct: open flags"), "O_RDONLY|O_DIRECT");
    assert_eq!(fact(session, "app cached: open flags"), "O_RDONLY");
    let pages = file / PAGE;
    assert_eq!(number("dd cold: pages requested"), pages);
    assert_eq!(number("dd cold: misses") + number("dd cold: read-ahead hits"), pages);
    assert_eq!((number("dd cold: cached before"), number("dd cold: cached after")), (0, pages));
    // At least one folio for each 2 MiB, and no more than a folio a page and what a small program brings along.
    let folios = number("dd cold: folios added");
    assert!((file / (2 * MIB)..=pages + 2000).contains(&folios), "{folios}");
    assert_eq!(number("dd warm: misses") + number("dd warm: read-ahead hits"), 0);
    assert!(number("dd warm: folios added") < folios, "warm as many as cold");
}

#[test]
fn memory_has_no_direct_reads_and_the_column_is_unsupported() {
    let mut command = Command::new(hotset());
    command.args(["lab", "direct", "--quick", "--rounds", "1", "--dir", "/dev/shm"]);
    let done = command.args(["--size", "4M", "--block", "1M"]).output().expect("hotset");
    let text = format!("{}{}", String::from_utf8_lossy(&done.stdout), stderr(&done));
    assert!(text.contains("/dev/shm") && !text.contains("panicked"), "{text}");
    assert!(done.status.success(), "{text}");
    for told in ["the program with O_DIRECT: unsupported", "state cold: files on tmpfs are only"] {
        assert!(text.contains(told), "no {told} in {text}");
    }
}

#[test]
fn a_file_of_the_users_is_read_and_stays_as_it_is() {
    let scratch = Scratch::new("lab-direct-own");
    let path = scratch.file("own", 4 * MIB);
    let before = std::fs::read(&path).expect("the file");
    let words = ["--size", "1M", "--block", "4M", "--count", "2", "--rounds", "1", "--no-bpf"];
    let session = session(&scratch, &[&words[..], &["--device", text(&path)]].concat());
    assert_eq!(fact(&session, "the program reads"), text(&path));
    all_are(
        cell(&session, "direct/app/cached/later"),
        "reached_before.cached_pages",
        4 * MIB / PAGE,
    );
    assert_eq!(std::fs::read(&path).expect("the file"), before);
}

/// A block device that is detached with this value.
struct Loop(String);

impl Loop {
    /// Reads its file past the cache: what is cached of the file would be none of the device's.
    fn attach(image: &Path) -> Self {
        let words = ["--find", "--show", "--read-only", "--direct-io=on"];
        let output = Command::new("losetup").args(words).arg(image).output().expect("losetup");
        assert!(output.status.success(), "losetup: {}; this test needs root", stderr(&output));
        Self(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

#[test]
fn a_block_device_is_only_read_and_the_part_that_is_read_has_its_state() {
    ensure_tracefs();
    let fs = FileSystem::new(Kind::Ext4);
    let scratch = Scratch::below(fs.root(), "lab-direct-device");
    let image = scratch.file("image", 8 * MIB);
    let device = Loop::attach(&image);
    undisturbed_on(fs.root(), &hotset(), || device_is_read(&scratch, &device.0));
}

fn device_is_read(scratch: &Scratch, device: &str) {
    let block = 4 * MIB;
    let words = ["--size", "1M", "--block", "4M", "--count", "3", "--rounds", "2"];
    let session = session(scratch, &[&words[..], &["--device", device]].concat());
    assert_eq!(fact(&session, "the program reads"), device);
    for (mode, cached) in [("cached", block / PAGE), ("direct", 0)] {
        let [first, later] =
            ["first", "later"].map(|which| cell(&session, &format!("direct/app/{mode}/{which}")));
        // Only what is read is looked at, not the whole device.
        for part in [first, later] {
            all_are(part, "reached_before.pages", block / PAGE);
        }
        all_are(first, "reached_before.cached_pages", 0);
        all_are(later, "reached_before.cached_pages", cached);
        assert!(each(first, "device_read_bytes").iter().all(|&read| read >= block));
    }
    all_are(cell(&session, "direct/app/cached/later"), "device_read_bytes", 0);
    let number = |name: &str| fact(&session, name).as_u64().expect("a number");
    assert_eq!(number("app direct: bytes read directly"), 2 * block);
    assert_eq!(number("app direct: cached before"), block / PAGE);
    assert_eq!(number("app cached: pages requested"), 2 * block / PAGE);
    assert_eq!(fact(&session, "app direct: open flags"), "O_RDONLY|O_DIRECT");
}
