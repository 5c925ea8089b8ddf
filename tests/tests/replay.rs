//! `hotset replay`: the requests of real programs again, against what the kernel says, and nothing of theirs changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use hotset_tests::scratch::text;
use hotset_tests::traced::record;
use hotset_tests::{
    LimitedGroup, MIB, Mounted, PAGE, Scratch, code, evict_verified, hotset, read_json, stderr,
    stdout, until, with_default_signals,
};
use serde_json::Value;

/// Does to a tree what programs do to trees, and fails where anything is not as it expects.
const CHANGES: &str = r#"
import mmap, os, sys
os.chdir(sys.argv[1])
def read(name): return open(name, "rb").read()
read("in/read"); read("in/link")
open("in/appended", "ab").write(b"more" * 1000)
with open("in/patched", "r+b") as f:
    f.seek(5000); f.write(b"x" * 10000); f.flush(); os.fsync(f.fileno())
    f.truncate(70000)
with open("in/mapped", "r+b") as f:
    m = mmap.mmap(f.fileno(), 0); m[4096:4100] = b"four"; m.flush(); m.close()
open("new", "wb").write(b"n" * 300000)
os.rename("new", "in/renamed")
os.rename("in/old", "in/older")
os.remove("in/removed")
os.link("in/read", "in/linked")
os.symlink("read", "in/symbolic")
os.mkdir("made"); open("made/below", "wb").write(b"b"); os.remove("made/below"); os.rmdir("made")
os.rmdir("in/empty")
for missing in range(10):
    try: os.stat("in/missing%d" % missing)
    except FileNotFoundError: pass
os.truncate("in/cut", 100)
read("in/renamed")
for again in range(20):
    with open("in/read", "rb", buffering=0) as f: f.seek(again * 512); f.read(256); f.read(256)
direct = os.open("in/aligned", os.O_RDONLY | os.O_DIRECT)
memory = mmap.mmap(-1, 8192)
for block in (0, 1, 0, 2, 1): os.preadv(direct, [memory], block * 8192)
plain = os.open("in/aligned", os.O_RDONLY)
os.read(plain, 8192); os.read(plain, 8192)
log = os.open("log", os.O_WRONLY | os.O_CREAT)
for record in range(12): os.write(log, b"record" * 10); os.fsync(log)
with open("in/read", "rb") as f:
    m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); m[0]; m[30000]; m.close()
"#;

/// The tree before the program: files of it are not those of the tree after.
fn tree(scratch: &Scratch) -> PathBuf {
    let dir = scratch.path("tree");
    fs::create_dir_all(dir.join("in/empty")).expect("directories");
    for (name, bytes) in [
        ("read", 50_000),
        ("appended", 1_000),
        ("patched", 100_000),
        ("mapped", 20_000),
        ("old", 10),
        ("removed", 9_000),
        ("cut", 8_000),
        ("aligned", 65_536),
    ] {
        fs::write(dir.join("in").join(name), vec![7; bytes]).expect("a file");
    }
    std::os::unix::fs::symlink("read", dir.join("in/link")).expect("a link");
    dir
}

/// All that stat(2) says of a tree, and sums of all bytes, a line a name; without one time of access changing.
const EVERYTHING: &str = r#"
import os, stat, sys, zlib
def look(path):
    s = os.lstat(path)
    says = [path, oct(s.st_mode), s.st_ino, s.st_size, s.st_blocks, s.st_nlink, s.st_uid, s.st_gid, s.st_atime_ns, s.st_mtime_ns, s.st_ctime_ns]
    names = []
    if stat.S_ISDIR(s.st_mode) or stat.S_ISREG(s.st_mode):
        fd = os.open(path, os.O_RDONLY | os.O_NOATIME)
        if stat.S_ISDIR(s.st_mode): names = sorted(os.listdir(fd))
        else: says.append(zlib.crc32(os.read(fd, 1 << 30)))
        os.close(fd)
    print(*says)
    for name in names: look(path + "/" + name)
look(sys.argv[1])
"#;

fn everything(dir: &Path) -> String {
    let words = python(EVERYTHING, &[text(dir)]);
    let output = Command::new(words[0]).args(&words[1..]).output().expect("python3");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    stdout(&output)
}

/// Makes the times of access so old that whatever reads changes them, on a file system that is mounted with relatime.
fn long_unread(dir: &Path) {
    let all = "find \"$1\" -depth -exec touch -h -a -d '10 days ago' {} +";
    let done = Command::new("sh").args(["-c", all, "sh"]).arg(dir).status().expect("sh");
    assert!(done.success());
}

/// The tree as it was before the program, and a recording of the program.
fn recorded_changes(scratch: &Scratch) -> (PathBuf, PathBuf) {
    let dir = tree(scratch);
    let recorded = record(scratch, &[], &python(CHANGES, &[text(&dir)]));
    fs::remove_dir_all(&dir).expect("removed");
    tree(scratch);
    long_unread(&dir);
    (dir, recorded.path)
}

/// A Python program as words. Not by a script that finds one, which starts a hundred programs.
fn python<'a>(program: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["/usr/bin/python3", "-S", "-c", program], more].concat()
}

fn replay(trace: &Path, words: &[&str]) -> Output {
    Command::new(hotset()).arg("replay").arg(trace).args(words).output().expect("hotset")
}

/// The JSON of a replay that succeeds.
fn session(scratch: &Scratch, trace: &Path, words: &[&str]) -> Value {
    let json = scratch.path("replay.json");
    let output = replay(trace, &[&["-q", "--json", text(&json)], words].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    read_json(&json)
}

/// A number of each sample, in their order.
fn each(session: &Value, pointer: &str) -> Vec<u64> {
    let samples = session["samples"].as_array().expect("samples");
    samples
        .iter()
        .map(|sample| sample.pointer(pointer).and_then(Value::as_u64).expect("a number"))
        .collect()
}

/// Directories that replays work in.
fn left_behind(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("list").flatten().map(|entry| entry.path());
    entries.filter(|path| text(path).contains("hotset-lab-")).collect()
}

/// What this test relies on: that reading would be seen.
#[test]
fn a_time_of_access_that_changes_is_seen() {
    let scratch = Scratch::new("replay-seen");
    let dir = tree(&scratch);
    long_unread(&dir);
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
    for after in [30, 90, 200] {
        let mut command = Command::new(hotset());
        command.arg("replay").arg(&trace).args(["-q", "--rounds", "100000", "--dir"]);
        command.arg(scratch.dir()).stdout(Stdio::null());
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
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let child = with_default_signals(&mut command).spawn().expect("hotset");
    let pid = rustix::process::Pid::from_raw(child.id() as i32).expect("a PID");
    let is_there = |dir: &PathBuf| dir.join("copies").exists();
    until("copies", || left_behind(scratch.dir()).iter().any(is_there).then_some(()));
    std::thread::sleep(Duration::from_millis(500));
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let output = child.wait_with_output().expect("wait");
    assert_eq!(code(&output), 130);
    let said = stdout(&output);
    assert!(said.contains("ended before the last round") && said.contains("as recorded"), "{said}");
    assert!(left_behind(scratch.dir()).is_empty());
    assert_eq!(everything(&dir), before);
}

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
    evict_verified(&file);
    let recorded = record(&scratch, &[], &python(RANDOM, &[text(&file), "500"]));
    let states = ["--state", "recorded", "--state", "cold", "--state", "warm"];
    let session = session(&scratch, &recorded.path, &[&["--rounds", "3"], &states[..]].concat());
    // The program and its libraries are mapped by others, and stay in the cache.
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
    let said = stdout(&output);
    assert!(said.contains("data: 1.00 MiB now, 8.00 MiB when recorded"), "{said}");
    assert!(said.contains("Not known: results differ from the recording"), "{said}");
    assert!(said.contains("0 of 1"), "{said}");
    fs::remove_file(&file).expect("removed");
    let said = stdout(&replay(&recorded.path, &["--rounds", "1"]));
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
    let session =
        self::session(&scratch, &recorded.path, &["--rounds", "1", "--root", text(&root)]);
    let unfit = session["files"]["unfit"].as_array().expect("a list");
    let missing = unfit.iter().find(|unfit| unfit["path"] == text(&file));
    assert!(missing.is_some_and(|file| file["since_recorded"] == "missing"), "{unfit:#?}");
}
