//! `hotset ls --system` against what the kernel says otherwise: cachestat(2), /proc/meminfo, and what a test itself made.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::fd::{AsFd, FromRawFd as _};
use std::path::Path;
use std::process::{Command, Output};

use hotset_sys::cache;
use hotset_tests::held::Mapped;
use hotset_tests::scratch::text;
use hotset_tests::{Mounted, Scratch, as_nobody, hotset, stderr, until, until_ok, warm_verified};
use hotset_validate::violations;
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;
const SCHEMA: &str = include_str!("../../schema/system-cache-1.schema.json");

fn run(options: &[&str]) -> Output {
    let mut command = Command::new(hotset());
    command.args(["ls", "--system"]).args(options);
    let output = command.output().expect("hotset");
    assert!(output.status.success(), "{options:?}: {}", stderr(&output));
    output
}

fn look(options: &[&str]) -> Value {
    let output = run(&[options, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The row of an open file.
fn row_of(list: &Value, fd: impl AsFd) -> Option<&Value> {
    let id = hotset_sys::file_id(&rustix::fs::fstat(fd).expect("fstat"));
    let rows = list["files"].as_array().expect("files");
    rows.iter().find(|row| row["ino"] == id.ino && row["dev"] == id.dev.to_string())
}

fn file_system_of<'a>(list: &'a Value, mount: &Path) -> Option<&'a Value> {
    let all = list["file_systems"].as_array().expect("file systems");
    all.iter().find(|fs| fs["mount"] == text(mount))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))
}

/// An anonymous file with so many pages written.
fn memfd(name: &std::ffi::CStr, bytes: &[u8]) -> File {
    // SAFETY: the name ends with a zero, and the call touches no other memory.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    assert!(fd >= 0, "memfd_create: {}", std::io::Error::last_os_error());
    // SAFETY: a new descriptor that nothing else owns.
    let mut file = unsafe { File::from_raw_fd(fd) };
    file.write_all(bytes).expect("write");
    file
}

/// Of a file whose pages stay, for somebody maps them: a look at everything takes longer than a busy host leaves others alone.
fn exactly_as_cachestat_says(options: &[&str], source: &str) {
    let scratch = Scratch::new("system-known");
    let path = scratch.file("known", 64 * MIB);
    let file = File::open(&path).expect("open");
    until("the file is cached before and after", || {
        warm_verified(&path);
        let _mapped = Mapped::whole(&path);
        let before = cache::residency(&file).expect("residency");
        let list = look(&[&["--top", "5000"], options].concat());
        let after = cache::residency(&file).expect("residency");
        assert_eq!(list["source"], source);
        if (before.cached_pages, after.cached_pages) != (before.pages, before.pages) {
            return None;
        }
        let row = row_of(&list, &file).expect("64 MiB are among the 5,000 largest");
        assert_eq!(row["path"], text(&path));
        assert_eq!((&row["size_bytes"], &row["deleted"]), (&json!(64 * MIB), &json!(false)));
        assert_eq!(row["cached_pages"], before.cached_pages);
        Some(())
    });
}

#[test]
fn a_known_file_has_exactly_the_pages_that_cachestat_says() {
    exactly_as_cachestat_says(&[], "inode_list");
}

#[test]
fn a_walk_finds_the_same() {
    exactly_as_cachestat_says(&["--walk"], "walk");
}

#[test]
fn half_a_file_is_half_a_file() {
    let scratch = Scratch::new("system-half");
    let path = scratch.path("sparse");
    let file = File::create(&path).expect("create");
    file.set_len(64 * MIB).expect("set_len");
    (&file).write_all(&vec![7; 8 * MIB as usize]).expect("write");
    let list = look(&["--top", "5000"]);
    let row = row_of(&list, &file).expect("a row");
    let pages = 8 * MIB / hotset_sys::page_size();
    assert_eq!((number(&row["cached_pages"]), &row["file_share"]), (pages, &json!(0.125)));
    assert!(row["state"]["dirty_pages"].is_u64(), "{row}");
}

#[test]
fn a_deleted_file_is_named_with_those_who_hold_it() {
    let scratch = Scratch::new("system-deleted");
    let path = scratch.path("gone soon");
    let mut file = File::create_new(&path).expect("create");
    file.write_all(&vec![1; 32 * MIB as usize]).expect("write");
    fs::remove_file(&path).expect("remove");
    let list = look(&["--top", "5000"]);
    let row = row_of(&list, &file).expect("a row");
    assert_eq!((&row["deleted"], &row["reachable"]), (&json!(true), &json!(false)));
    assert_eq!(row["path"], text(&path));
    let own = std::process::id();
    let holders = row["holders"].as_array().expect("holders");
    assert!(holders.iter().any(|holder| holder["pid"] == own), "{row}");
    assert!(number(&list["totals"]["parts"]["deleted"]) >= 32 * MIB);
    let screen = run(&["--top", "5000"]);
    let screen = String::from_utf8_lossy(&screen.stdout);
    assert!(
        screen.contains("gone soon (deleted)") && screen.contains("Without a name"),
        "{screen}"
    );
}

#[test]
fn a_file_whose_name_was_put_elsewhere_is_not_taken_for_the_one_there_now() {
    let scratch = Scratch::new("system-covered");
    let below = scratch.path("mnt");
    fs::create_dir(&below).expect("mkdir");
    let mut file = File::create(below.join("name")).expect("create");
    file.write_all(&vec![1; 16 * MIB as usize]).expect("write");
    let _mounted = Mounted::new(&["-t", "tmpfs", "none", text(&below)]);
    fs::write(below.join("name"), b"another").expect("write");
    let list = look(&["--top", "5000"]);
    let row = row_of(&list, &file).expect("a row");
    assert_eq!((&row["reachable"], &row["deleted"]), (&json!(false), &json!(false)));
    assert!(row["state"].is_null(), "{row}");
}

#[test]
fn tmpfs_and_memfd_are_shared_memory() {
    let scratch = Scratch::new("system-tmpfs");
    let at = scratch.path("tmpfs");
    fs::create_dir(&at).expect("mkdir");
    let _mounted = Mounted::new(&["-t", "tmpfs", "none", text(&at)]);
    fs::write(at.join("file"), vec![1; 16 * MIB as usize]).expect("write");
    let held = memfd(c"hotset-test", &vec![1; 8 * MIB as usize]);
    let list = look(&["--top", "5000"]);
    let fs = file_system_of(&list, &at).expect("the mount");
    assert_eq!((&fs["kind"], &fs["type"]), (&json!("shared_memory"), &json!("tmpfs")));
    assert_eq!(number(&fs["pages"]["regular"]), 16 * MIB / hotset_sys::page_size());
    let row = row_of(&list, &held).expect("a memfd has a row");
    assert_eq!(row["path"], "/memfd:hotset-test");
    // Shared memory of others, such as that of the test below, comes and goes between the two counts.
    until_ok("the sum is what the kernel says", || {
        let totals = &look(&["--top", "10"])["totals"];
        let shared = number(&totals["parts"]["shared_memory"]);
        let shmem = number(&totals["shmem_bytes"]);
        let is_same = shared.abs_diff(shmem) <= 2 * MIB;
        is_same.then_some(()).ok_or_else(|| format!("{shared} of {shmem} bytes of Shmem"))
    });
}

#[test]
fn a_file_system_that_nothing_names_any_more_is_still_counted() {
    let scratch = Scratch::new("system-lazy");
    let at = scratch.path("tmpfs");
    fs::create_dir(&at).expect("mkdir");
    let mounted = Mounted::new(&["-t", "tmpfs", "none", text(&at)]);
    let mut file = File::create(at.join("left")).expect("create");
    file.write_all(&vec![1; 16 * MIB as usize]).expect("write");
    let lazily = Command::new("umount").args(["-l", text(&at)]).status().expect("umount");
    assert!(lazily.success());
    std::mem::forget(mounted);
    let list = look(&["--top", "5000"]);
    let row = row_of(&list, &file).expect("a row");
    assert_eq!((&row["path"], &row["reachable"]), (&json!("/left"), &json!(false)));
    assert_eq!(file_system_of(&list, &at), None);
}

/// Both sides move while they are read: what changed between two readings of /proc/meminfo is allowed on top.
#[test]
fn what_it_explains_is_cached_within_one_percent() {
    let scratch = Scratch::new("system-sum");
    warm_verified(&scratch.file("some", 64 * MIB));
    until("the sum is within 1 % of Cached", || {
        let list = look(&[]);
        assert_eq!(list["complete"], true, "{list}");
        let totals = &list["totals"];
        let cached = number(&totals["cached_bytes"]);
        let explained = number(&totals["explained_bytes"]);
        let parts = totals["parts"].as_object().expect("parts");
        assert_eq!(explained, parts.values().map(number).sum::<u64>());
        let slack = cached / 100 + number(&totals["drift_bytes"]);
        (explained.abs_diff(cached) <= slack).then_some(())
    });
    until("block devices are within 2 % of Buffers", || {
        let list = look(&["--top", "10"]);
        let devices = number(&list["totals"]["block_device_bytes"]);
        let buffers = number(&list["totals"]["buffers_bytes"]);
        (devices.abs_diff(buffers) <= buffers / 50 + MIB).then_some(())
    });
}

#[test]
fn rows_and_what_is_not_listed_add_up_to_the_file_systems() {
    let list = look(&["--top", "7"]);
    let page = hotset_sys::page_size();
    let files = list["files"].as_array().expect("files");
    assert_eq!(files.len(), 7);
    let listed: u64 = files.iter().map(|row| number(&row["cached_pages"]) * page).sum();
    let all: u64 = list["file_systems"]
        .as_array()
        .expect("file systems")
        .iter()
        .flat_map(|fs| fs["pages"].as_object().expect("pages").values())
        .map(|pages| number(pages) * page)
        .sum();
    assert_eq!(listed + number(&list["unlisted"]["cached_bytes"]), all);
}

#[test]
fn a_minimum_size_leaves_out_rows_and_not_sums() {
    let list = look(&["--min-size", "1M", "--top", "1000"]);
    let files = list["files"].as_array().expect("files");
    assert!(files.iter().all(|row| number(&row["size_bytes"]) >= MIB));
    assert!(number(&list["totals"]["explained_bytes"]) > 0);
}

#[test]
fn without_root_it_walks_and_says_why() {
    let scratch = Scratch::new("system-nobody");
    let mut command = as_nobody(scratch.dir());
    let output =
        command.args(["ls", "--system", "--json", "--top", "3"]).output().expect("unshare");
    assert!(output.status.success(), "{}", stderr(&output));
    let list: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&list["source"], &list["complete"]), (&json!("walk"), &json!(false)));
    let why = list["fallback_reason"].as_str().expect("a reason");
    assert!(why.contains("root"), "{why}");
    assert!(number(&list["unknown_files"]) > 0);
}

#[test]
fn what_it_writes_follows_the_schema() {
    for options in [&[][..], &["--top", "0"], &["--sort", "name", "--reverse"]] {
        let list = look(options);
        assert_eq!(violations(SCHEMA, &list), [""; 0], "{options:?}");
    }
    let csv = run(&["--csv", "--top", "5"]);
    assert_eq!(String::from_utf8_lossy(&csv.stdout).lines().count(), 6);
}

#[test]
fn what_makes_no_sense_with_it_is_refused() {
    for words in [&["--system", "/tmp"][..], &["--system", "--pid", "1"], &["--walk", "/tmp"]] {
        let output = Command::new(hotset()).arg("ls").args(words).output().expect("hotset");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
    }
}
