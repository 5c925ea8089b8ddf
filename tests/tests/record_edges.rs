//! `hotset record` where something is in its way: no room, odd names, many files, signals.

use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use hotset_facts::trace::{Operation, OperationClass};
use hotset_tests::scratch::text;
use hotset_tests::traced::{Trace, record};
use hotset_tests::{
    LimitedGroup, MIB, Mounted, Scratch, code, hotset, stderr, with_default_signals,
};

/// `hotset record -o TRACE WORDS…`, whatever comes of it.
fn try_record(trace: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(hotset());
    command.args(["record", "-o"]).arg(trace).args(words).output().expect("hotset")
}

fn list(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("list").flatten();
    entries.map(|entry| entry.path()).collect()
}

/// A Python program as words.
fn python<'a>(program: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    // Not by a script that finds one, which starts a hundred programs.
    [&["/usr/bin/python3", "-S", "-c", program], more].concat()
}

#[test]
fn what_can_not_be_written_is_refused_before_the_command_starts() {
    let scratch = Scratch::new("record-unwritable");
    let ran = scratch.path("ran");
    let dir = scratch.path("read-only");
    std::fs::create_dir(&dir).expect("mkdir");
    let _mounted = Mounted::new(&["-t", "tmpfs", "-o", "ro", "none", text(&dir)]);
    for (trace, why) in [
        (dir.join("t.parquet"), "Read-only file system"),
        (scratch.path("none/t.parquet"), "No such file or directory"),
        (PathBuf::from("/proc/t.parquet"), "/proc"),
    ] {
        let output = try_record(&trace, &["--", "touch", text(&ran)]);
        assert_eq!(code(&output), 125, "{}", stderr(&output));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
        assert!(!ran.exists(), "{}", trace.display());
    }
}

#[test]
fn a_command_that_is_not_there_leaves_no_file() {
    let scratch = Scratch::new("record-no-command");
    let output = try_record(&scratch.path("t.parquet"), &["--", "/nowhere/program"]);
    assert_eq!(code(&output), 127, "{}", stderr(&output));
    let output = try_record(&scratch.path("t.parquet"), &["--", "/etc/passwd"]);
    assert_eq!(code(&output), 126, "{}", stderr(&output));
    let left = list(scratch.dir());
    assert!(left.is_empty(), "{left:?}");
}

/// The command's own status, also where the trace could not be kept.
#[test]
fn the_command_keeps_its_status() {
    let scratch = Scratch::new("record-status");
    let output = try_record(&scratch.path("t.parquet"), &["--", "sh", "-c", "exit 7"]);
    assert_eq!(code(&output), 7, "{}", stderr(&output));
}

#[test]
fn each_of_many_files_has_its_path() {
    let scratch = Scratch::new("record-many");
    let dir = scratch.path("d");
    let program = "import os, sys\n\
         os.mkdir(sys.argv[1])\n\
         for i in range(20000):\n\
         \x20with open(f'{sys.argv[1]}/{i:05}', 'wb', 0) as f: f.write(b'x')\n";
    let recorded = record(&scratch, &["--buffer", "64M"], &python(program, &[text(&dir)]));
    let mut paths: Vec<&[u8]> = recorded
        .trace
        .records
        .iter()
        .filter(|one| one.record.operation == Operation::Write)
        .filter_map(|one| one.path.as_deref())
        .filter(|path| path.starts_with(dir.as_os_str().as_bytes()))
        .collect();
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(paths.len(), 20_000);
    assert_eq!(recorded.trace.totals.lost, 0);
}

/// The longest that the kernel takes, and bytes that are no UTF-8.
#[test]
fn odd_paths_are_kept_exactly() {
    let scratch = Scratch::new("record-paths");
    let program = "import os, sys\n\
         path = sys.argv[1] + '/./' * 2000\n\
         path = path[:4095 - 4] + '/a/b'\n\
         print(len(path))\n\
         try: open(path)\n\
         except OSError: pass\n\
         with open(os.fsencode(sys.argv[1]) + b'/\\xff\\xfe\\n', 'wb', 0) as f: f.write(b'x')\n";
    let recorded = record(&scratch, &["-q"], &python(program, &[text(scratch.dir())]));
    assert_eq!(recorded.output.stdout, b"4095\n");
    let longest = recorded.trace.records.iter().filter_map(|one| one.path.as_deref());
    let longest = longest.max_by_key(|path| path.len()).expect("a path");
    assert!(longest.len() == 4095 && longest.ends_with(b"/a/b"), "{}", longest.len());
    let mut odd = text(scratch.dir()).as_bytes().to_vec();
    odd.extend_from_slice(b"/\xff\xfe\n");
    let of_odd: Vec<_> = recorded.trace.of(Path::new(std::ffi::OsStr::from_bytes(&odd))).collect();
    let writes = of_odd.iter().filter(|one| one.record.operation == Operation::Write);
    assert_eq!(writes.count(), 1, "{of_odd:?}");
    assert!(of_odd.iter().any(|one| one.record.operation == Operation::Openat));
}

/// Each program that a process became is another entry, with its own words.
#[test]
fn a_process_that_becomes_another_program_many_times_is_told_apart() {
    let scratch = Scratch::new("record-execs");
    let line = "[ $1 = 1000 ] || exec sh -c \"$0\" \"$0\" $(($1 + 1))";
    // In the directories that cargo names, each program looks for its libraries a hundred times: more records than a busy host reads.
    let sh = ["env", "-u", "LD_LIBRARY_PATH", "sh", "-c", line, line, "1"];
    let recorded = record(&scratch, &["--buffer", "64M"], &sh);
    let trace = &recorded.trace;
    let mut turns: Vec<u32> = trace
        .lists
        .processes
        .iter()
        .filter_map(|process| process.argv.get(4)?.to_str()?.parse().ok())
        .collect();
    turns.dedup();
    assert_eq!(turns, (1..=1000).collect::<Vec<u32>>());
    let pids: std::collections::BTreeSet<u32> =
        trace.lists.processes.iter().map(|process| process.pid).collect();
    assert_eq!(pids.len(), 1);
    let execs = trace.records.iter().filter(|one| one.is_done(OperationClass::Exec)).count();
    assert!(execs >= 1000, "{execs}");
}

#[test]
fn a_recording_of_nothing_is_a_trace() {
    let scratch = Scratch::new("record-nothing");
    let mut idle = Command::new("sleep").arg("60").spawn().expect("sleep");
    std::thread::sleep(Duration::from_millis(200));
    let (trace, pid) = (scratch.path("t.parquet"), idle.id().to_string());
    let output = try_record(&trace, &["--pid", &pid, "--duration", "0.2"]);
    idle.kill().and_then(|()| idle.wait()).expect("killed");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let read = Trace::read(&trace);
    assert_eq!((read.records.len(), read.totals.records, read.totals.lost), (0, 0, 0));
    let info = Command::new(hotset()).args(["trace", "info", text(&trace)]).output();
    let info = info.expect("hotset");
    assert_eq!(code(&info), 0, "{}", stderr(&info));
}

/// Records the whole host, once it says so, until it is told to end.
fn begun(trace: &Path) -> Child {
    let mut command = Command::new(hotset());
    command.args(["record", "-o", text(trace), "--system"]);
    let child = with_default_signals(&mut command).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("hotset");
    let mut said = [0; 24];
    child.stderr.as_mut().expect("a pipe").read_exact(&mut said).expect("that it records");
    // On a host where nothing else happens, this is all that there is to record.
    for _ in 0..30 {
        std::fs::read(text(trace).replace(".parquet", ".nothing")).expect_err("no such file");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

#[test]
fn a_signal_ends_a_recording_with_a_whole_trace() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let scratch = Scratch::new("record-signal");
        let trace = scratch.path("t.parquet");
        let child = begun(&trace);
        // SAFETY: kill(2) takes numbers only.
        assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
        let output = child.wait_with_output().expect("hotset");
        assert_eq!((output.status.code(), output.status.signal()), (Some(0), None), "{signal}");
        assert_eq!(list(scratch.dir()), std::slice::from_ref(&trace), "{}", stderr(&output));
        assert!(Trace::read(&trace).totals.records > 0);
    }
}

/// The sensor's rings are hotset's, and not the command's group's.
#[test]
fn rings_are_not_charged_to_a_group_with_a_limit() {
    let scratch = Scratch::new("record-limited");
    let group = LimitedGroup::new(&scratch, 64 * MIB);
    let mut command = Command::new(hotset());
    command.args([
        "record",
        "--buffer",
        "64M",
        "-o",
        text(&scratch.path("t.parquet")),
        "--",
        "true",
    ]);
    let output = group.output(&mut command);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(group.peak_bytes() < 40 * MIB, "{}", group.peak_bytes());
    assert_eq!(group.reached(), 0);
}
