//! `hotset size` of what runs: a container that reads its own evicted cache again and again, which nothing kills.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use hotset_tests::group::LimitedGroup;
use hotset_tests::scratch::text;
use hotset_tests::{MIB, Scratch, code, hotset, stderr, until};
use serde_json::Value;

/// Reads a file from its beginning to its end again and again, and says when it begins anew (Unix time in ns). Page by page, a device
/// that others keep busy might have read it less than twice in all the seconds of this test.
const LOOP: &str = "
import os, sys, time
file = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
while True:
    print(time.time_ns(), flush=True)
    for at in range(0, os.fstat(file).st_size, 65536): os.pread(file, 65536, at)
";
const DATA_BYTES: u64 = 64 * MIB;

/// A program that runs until it is dropped.
struct Running {
    child: Child,
    rounds: Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(group: &LimitedGroup, data: &std::path::Path) -> Self {
        let mut command = Command::new("/usr/bin/python3");
        command.args(["-S", "-c", LOOP, text(data)]).stdout(Stdio::piped());
        let mut child = group.spawn(&mut command);
        let rounds = BufReader::new(child.stdout.take().expect("standard output")).lines();
        Self { child, rounds }
    }

    /// Waits until it has begun so many rounds from now on; what it has said before is of no interest.
    fn wait_rounds(&mut self, rounds: usize) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos();
        let began = self.rounds.by_ref().map(|line| line.expect("a line").parse().expect("a time"));
        let later = began.filter(|began: &u128| *began > now);
        assert_eq!(later.take(rounds).count(), rounds, "it runs");
    }

    /// Bytes that the device read for it, as the kernel says.
    fn read_bytes(&self) -> u64 {
        let io = std::fs::read_to_string(format!("/proc/{}/io", self.child.id())).expect("io");
        let line = io.lines().find_map(|line| line.strip_prefix("read_bytes: "));
        line.expect("read_bytes").parse().expect("a number")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn watched(words: &[&str]) -> std::process::Output {
    Command::new(hotset()).arg("size").args(words).output().expect("hotset")
}

/// What `top` says of a group in the last of so many intervals of a second.
fn named_by_top(scratch: &Scratch, group: &LimitedGroup, seconds: u64) -> Value {
    let recording = scratch.path("top.jsonl");
    let seconds = seconds.to_string();
    let words = ["top", "--curves", "--view", "cgroups", "--batch", &seconds, "--record"];
    let output = Command::new(hotset()).args(words).arg(&recording).arg("1").output();
    let output = output.expect("hotset");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    // Whoever reads the text sees it, too.
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("REFAULTS") && shown.contains("NEED"), "{shown}");
    let lines = std::fs::read_to_string(recording).expect("a recording");
    let last: Value = serde_json::from_str(lines.lines().last().expect("a line")).expect("JSON");
    let name = group.dir().file_name().expect("a name").to_string_lossy().into_owned();
    let groups = last["cgroups"].as_array().unwrap_or_else(|| panic!("{last:#}"));
    let is_it = |one: &&Value| one["path"].as_str().is_some_and(|path| path.ends_with(&name));
    groups.iter().find(is_it).unwrap_or_else(|| panic!("no {name}: {groups:#?}")).clone()
}

#[test]
fn the_limit_that_is_told_ends_the_reading() {
    let scratch = Scratch::new("size-watched");
    scratch.file("data", DATA_BYTES);
    let data = scratch.path("data");
    hotset_tests::evict_verified(&data);
    let group = LimitedGroup::new(&scratch, 56 * MIB);
    let mut running = Running::start(&group, &data);
    running.wait_rounds(2);
    let began = Instant::now();
    running.wait_rounds(1);
    // So long that all pages are read twice, also from a device that others keep busy.
    let seconds = 8 + 4 * began.elapsed().as_secs();
    let before = running.read_bytes();
    let (group_dir, length) = (text(group.dir()), format!("{seconds}s"));
    // Standard output of the program has room for all rounds meanwhile.
    let output = watched(&["--cgroup", group_dir, "-d", &length, "-q", "--json", "-"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let read = running.read_bytes() - before;
    assert!(read > 2 * DATA_BYTES, "it does not read again and again: {told:#}");
    let named = named_by_top(&scratch, &group, seconds);
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{told:#}\n{named:#}"));
    let of_top = |key: &str| named[key].as_u64().unwrap_or_else(|| panic!("{key}: {named:#}"));
    assert!(of_top("cache_bytes") < 56 * MIB && of_top("limit_bytes") == 56 * MIB, "{named:#}");
    assert!((DATA_BYTES..=DATA_BYTES / 8 * 9).contains(&of_top("need_bytes")), "{named:#}");
    // Almost all that it misses was evicted a round before.
    let misses = number(&named["io"]["read_misses"]);
    assert!(misses > 0 && of_top("refaulted_pages") > misses / 2, "{named:#}");
    // It thrashes where it is, and needs room for the whole file.
    assert!(number(&told["thrash"]["limit_bytes"]) >= 56 * MIB, "{told:#}");
    let limit = number(&told["limit"]["bytes"]);
    let room = DATA_BYTES..DATA_BYTES + DATA_BYTES / 4 + 16 * MIB;
    assert!(room.contains(&limit), "{limit}: {told:#}");

    group.set_limit(limit);
    // Of which one is whole.
    running.wait_rounds(2);
    let reached = group.reached();
    // The host may evict what is idle, and what lies beside it in memory.
    until("it reads almost nothing at the limit that was told", || {
        let before = running.read_bytes();
        running.wait_rounds(10);
        (running.read_bytes() - before < DATA_BYTES / 20).then_some(())
    });
    assert_eq!(group.reached(), reached, "{limit} bytes are too few");
}

#[test]
fn who_is_not_there_and_what_asks_for_nothing_are_named() {
    let output = watched(&["--pid", "999999999", "-d", "1s"]);
    assert!(code(&output) != 0 && stderr(&output).contains("999999999"), "{}", stderr(&output));
    let sleeping = Killed(Command::new("sleep").arg("1000").spawn().expect("sleep"));
    let pid = sleeping.0.id().to_string();
    let output = watched(&["--pid", &pid, "-d", "300ms"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(said.contains("No page of a file was requested while it was watched"), "{said}");
    for (words, why) in [
        (&["--pid", &pid, "trace.parquet"][..], "cannot be used with"),
        (&["--pid", &pid, "--kernel", "6.1"], "cannot be used with"),
        (&["trace.parquet", "-d", "1s"], "required"),
    ] {
        let output = watched(words);
        assert_eq!(code(&output), 2, "{words:?}");
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    }
}

/// A program that ends when it is dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
