//! `hotset lab access` in a small size: bytes, calls, pages, states and device bytes, never times.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use hotset_tests::cells::{all_are, cell, cells, each};
use hotset_tests::filesystems::{FileSystem, Kind};
use hotset_tests::scratch::text;
use hotset_tests::{MIB, PAGE, Scratch, hotset, stderr, undisturbed_on, with_default_signals};
use serde_json::Value;

fn lab(words: &[&str]) -> Command {
    let mut command = Command::new(hotset());
    command.args(["lab", "access", "-q"]).args(words);
    with_default_signals(&mut command);
    command
}

fn output(words: &[&str]) -> Output {
    let mut command = lab(words);
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn session(directory: &Path, words: &[&str]) -> Value {
    let done = output(&[&["--dir", text(directory), "--json", "-"], words].concat());
    assert!(done.status.success(), "{}", stderr(&done));
    serde_json::from_slice(&done.stdout).expect("JSON")
}

fn left_in(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn tests_in_one_go_begin_with_what_the_one_before_left_and_data_are_kept_where_asked() {
    let fs = FileSystem::new(Kind::Ext4);
    let scratch = Scratch::below(fs.root(), "lab-access-chain");
    undisturbed_on(fs.root(), &hotset(), || tests_in_one_go(&scratch));
}

fn tests_in_one_go(scratch: &Scratch) {
    let size = 4 * MIB;
    let kept = scratch.path("kept");
    let _ = std::fs::remove_dir_all(&kept);
    let words = ["--quick", "--orders", "chain", "--methods", "read,mmap", "--block", "4096"];
    let more = ["--size", "4M", "--rounds", "2", "--no-bpf", "--keep", text(&kept), "--json", "-"];
    let all = [&words[..], &more].concat();
    let done = output(&all);
    assert!(done.status.success(), "{}", stderr(&done));
    let session: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    for method in ["read", "mmap"] {
        for (order, cached, read) in
            [("sequential", 0, size), ("reverse", size, 0), ("random", size, 0)]
        {
            let cell = cell(&session, &format!("access/{method}/{order}/4096/chain"));
            all_are(cell, "operations", size / 4096);
            all_are(cell, "bytes", size);
            all_are(cell, "reached_before.cached_pages", cached / PAGE);
            let device = each(cell, "device_read_bytes");
            assert!(
                device.iter().all(|&bytes| bytes >= read && (read > 0 || bytes == 0)),
                "{cell}"
            );
        }
    }
    assert_eq!(left_in(&kept), [kept.join("access")]);
    let file = kept.join("access/cold").metadata().expect("the generated file");
    assert_eq!(file.len(), size);
    let again = output(&all);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("does not exist yet"), "{}", stderr(&again));
}

#[test]
fn every_cell_starts_in_its_state_and_does_what_it_says() {
    let fs = FileSystem::new(Kind::Ext4);
    let scratch = Scratch::below(fs.root(), "lab-access");
    undisturbed_on(fs.root(), &hotset(), || every_cell_is_right(&scratch));
}

fn every_cell_is_right(scratch: &Scratch) {
    let size = 8 * MIB;
    let session = session(
        scratch.dir(),
        &[
            ["--quick", "--size", "8M", "--rounds", "3", "--seed", "7", "--no-bpf"].as_slice(),
            &["--methods", METHODS],
        ]
        .concat(),
    );
    assert_eq!(
        (&session["schema"], &session["experiment"]),
        (&"hotset.lab/1".into(), &"access".into())
    );
    let pages = size / PAGE;
    for cell in cells(&session) {
        all_are(cell, "reached_before.pages", pages);
        let operations = each(cell, "operations");
        let block = cell["factors"]["block_bytes"].as_u64().expect("a block");
        let bytes = each(cell, "bytes");
        assert!(
            operations.iter().zip(&bytes).all(|(count, bytes)| count * block == *bytes),
            "{cell}"
        );
        let method = cell["factors"]["method"].as_str().expect("a method");
        match cell["factors"]["state"].as_str() {
            Some("cold") => {
                all_are(cell, "reached_before.cached_pages", 0);
                let read = each(cell, "device_read_bytes");
                assert!(read.iter().all(|&read| read > 0), "{cell}");
            }
            Some("warm") => {
                all_are(cell, "reached_before.cached_pages", pages);
                all_are(cell, "device_read_bytes", 0);
                all_are(cell, "major_faults", 0);
            }
            Some("after-sequential") => {
                all_are(cell, "reached_before.cached_pages", pages);
                all_are(cell, "device_read_bytes", 0);
            }
            other => panic!("{other:?}"),
        }
        let calls = each(cell, "syscalls");
        match method {
            "read" | "pread" | "direct" => assert_eq!(calls, operations, "{cell}"),
            "mmap" | "mmap-random" => assert!(calls.iter().all(|&calls| calls == 0), "{cell}"),
            _ => {}
        }
        if method.starts_with("direct") {
            assert_eq!(each(cell, "device_read_bytes"), bytes, "{cell}");
        }
    }
    all_kinds_of_cells_are_there(&session);
    the_device_reads_what_each_way_of_reading_needs(&session, size);
    assert!(left_in(scratch.dir()).is_empty());
}

/// Those of which this test knows what they must have read, more than the quick size has.
const METHODS: &str =
    "fread,read,pread,pread-nowait,mmap,mmap-random,io_uring-32-fixed,direct,direct-io_uring-32";

/// So many cells of each state and method were looked at.
fn all_kinds_of_cells_are_there(session: &Value) {
    let mut looked_at: BTreeMap<&str, usize> = BTreeMap::new();
    for cell in cells(session) {
        for factor in ["state", "method"] {
            *looked_at.entry(cell["factors"][factor].as_str().expect(factor)).or_default() += 1;
        }
    }
    let states = [("after-sequential", 3), ("cold", 38), ("warm", 40)];
    let direct = [("direct", 1), ("direct-io_uring-32", 1)];
    let mapped = [("mmap", 13), ("mmap-random", 10)];
    let copied = [
        ("fread", 11),
        ("io_uring-32-fixed", 10),
        ("pread", 14),
        ("pread-nowait", 10),
        ("read", 11),
    ];
    let wanted = states.into_iter().chain(direct).chain(mapped).chain(copied);
    assert_eq!(looked_at, wanted.collect());
}

fn the_device_reads_what_each_way_of_reading_needs(session: &Value, size: u64) {
    // At random, little is read around a block; where its neighbour was read before, the kernel takes it for a sequence.
    let random = cell(session, "access/pread/random/4096/cold");
    let read = each(random, "device_read_bytes");
    let within = |(&read, bytes): (&u64, u64)| (bytes..size).contains(&read);
    assert!(read.iter().zip(each(random, "bytes")).all(within), "{random}");
    all_are(cell(session, "access/pread/sequential/4096/cold"), "device_read_bytes", size);
    // A fault reads around itself unless it is told not to.
    let mapped = each(cell(session, "access/mmap/random/4096/cold"), "device_read_bytes");
    let advised = each(cell(session, "access/mmap-random/random/4096/cold"), "device_read_bytes");
    assert!(mapped.iter().min() > advised.iter().max(), "{mapped:?} {advised:?}");
    // A fault maps 16 pages of small folios at most.
    let small = each(cell(session, "access/mmap/sequential/4096/warm/small"), "minor_faults");
    let large = each(cell(session, "access/mmap/sequential/4096/warm/large"), "minor_faults");
    assert!(small.iter().all(|&faults| faults >= size / PAGE / 16), "{small:?}");
    assert!(large.iter().max() <= small.iter().max(), "{large:?} {small:?}");
    let twins = cells(session).iter().filter(|cell| cell["factors"]["twin"] == "a/a").count();
    assert_eq!(twins, 2);
}

#[test]
fn the_sensor_counts_the_calls_that_each_method_makes() {
    let scratch = Scratch::new("lab-access-calls");
    let methods = "pread,read,mmap,io_uring-32,fread-unbuffered,fread-64k";
    let session = session(
        scratch.dir(),
        &["--methods", methods, "--block", "4K", "--size", "2M", "--rounds", "1"],
    );
    let calls = |method: &str, order: &str| {
        let cell = cell(&session, &format!("access/{method}/{order}/4096/warm/large"));
        assert_eq!(cell["syscalls_by"], "sensor", "{cell}");
        each(cell, "syscalls")[0]
    };
    let blocks = 2 * MIB / 4096;
    for order in ["sequential", "reverse", "random"] {
        for method in ["pread", "read", "io_uring-32", "fread-unbuffered"] {
            assert_eq!(calls(method, order), blocks, "{method} {order}");
        }
        assert_eq!(calls("mmap", order), 0);
    }
    // A buffer of 64 KiB that the library really uses.
    assert_eq!(calls("fread-64k", "sequential"), 2 * MIB / (64 << 10));
}

#[test]
fn files_in_memory_are_never_cold_nor_read_directly() {
    let directory = PathBuf::from(format!("/dev/shm/hotset-lab-test-{}", std::process::id()));
    std::fs::create_dir(&directory).expect("a directory on tmpfs");
    let done = output(&[
        "--dir",
        text(&directory),
        "--quick",
        "--size",
        "1M",
        "--rounds",
        "1",
        "--json",
        "-",
    ]);
    let left = left_in(&directory);
    std::fs::remove_dir_all(&directory).expect("remove");
    assert!(done.status.success(), "{}", stderr(&done));
    let session: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert!(cells(&session).iter().all(|cell| cell["factors"]["state"] == "warm"));
    assert!(!cells(&session).is_empty());
    let skipped = session["skipped"].to_string();
    assert!(skipped.contains("method direct") && skipped.contains("state cold"), "{skipped}");
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn without_room_nothing_is_begun() {
    let scratch = Scratch::new("lab-access-room");
    let done = output(&["--dir", text(scratch.dir()), "--size", "900T"]);
    assert_eq!(done.status.code(), Some(2));
    let said = stderr(&done);
    assert!(said.contains("not enough space") && said.contains("PiB needed"), "{said}");
    assert!(left_in(scratch.dir()).is_empty());
    let nowhere = output(&["--dir", "/proc/nowhere"]);
    assert_eq!(nowhere.status.code(), Some(1));
    assert!(stderr(&nowhere).contains("/proc/nowhere"), "{}", stderr(&nowhere));
}

#[test]
fn a_wrong_option_is_refused_by_name() {
    for (words, named) in [
        (["--methods", "telepathy"], "io_uring-32-fixed"),
        (["--sizes", "1K"], "lab reread"),
        (["--block", "0"], "--block 0"),
    ] {
        let done = output(&words);
        assert_eq!(done.status.code(), Some(2), "{words:?}");
        assert!(stderr(&done).contains(named), "{}", stderr(&done));
    }
}

/// A lab that measures or is about to, and where its lock is: another lab of this user may take minutes.
fn started(scratch: &Scratch) -> (Child, Scratch) {
    let mut command = lab(&["--dir", text(scratch.dir()), "--size", "32M", "--no-bpf"]);
    let lock = Scratch::new("lab-access-lock");
    command.env("XDG_RUNTIME_DIR", lock.dir());
    let child = command.stdout(Stdio::null()).spawn().expect("started");
    let has_files = |left: &[PathBuf]| left.iter().any(|scratch| scratch.join("warm").exists());
    until_left_in(scratch.dir(), "its files", has_files);
    (child, lock)
}

/// Within a minute what is in the directory is so.
fn until_left_in(directory: &Path, what: &str, is_so: impl Fn(&[PathBuf]) -> bool) {
    let began = Instant::now();
    loop {
        let left = left_in(directory);
        if is_so(&left) {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "a minute without {what}: {left:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(child: &Child, signal: i32) {
    let pid = i32::try_from(child.id()).expect("a process id");
    // SAFETY: takes two numbers.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
}

#[test]
fn ctrl_c_and_sigterm_leave_nothing_behind() {
    for (sent, code) in [(libc::SIGINT, 130), (libc::SIGTERM, 143)] {
        let scratch = Scratch::new("lab-access-stop");
        let (mut child, _lock) = started(&scratch);
        signal(&child, sent);
        assert_eq!(child.wait().expect("wait").code(), Some(code));
        assert!(left_in(scratch.dir()).is_empty());
    }
}

#[test]
fn not_even_being_killed_leaves_files_behind() {
    let scratch = Scratch::new("lab-access-kill");
    let (mut child, _lock) = started(&scratch);
    signal(&child, libc::SIGKILL);
    child.wait().expect("wait");
    until_left_in(scratch.dir(), "an empty directory", <[PathBuf]>::is_empty);
}
