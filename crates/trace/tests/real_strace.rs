//! strace of real programs, held against its own summary (`-C`) and against the files that they
//! read.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests run programs and read what they wrote"
)]

mod common;
mod scratch;

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use hotset_facts::trace::{Operation, OperationClass, RecordFlags, TraceRecord};

use common::Imported;
use scratch::Scratch;

/// Runs a command under strace in a folder; gives the import, the text, and calls by name as strace
/// counted them.
fn traced(
    folder: &Path,
    options: &[&str],
    command: &[&str],
) -> (Imported, String, BTreeMap<String, u64>) {
    let output = folder.join("out.strace");
    let status = Command::new("strace")
        .args(["-C", "-f", "-ttt"])
        .args(options)
        .arg("-o")
        .arg(&output)
        .args(command)
        .current_dir(folder)
        .stdout(std::process::Stdio::null())
        .status()
        .expect("strace: install the package strace");
    assert!(status.success(), "{command:?}: {status}");
    let text = String::from_utf8(std::fs::read(&output).expect("its output")).expect("UTF-8");
    let (lines, table) = text.split_at(text.find("% time ").expect("strace -C prints a table"));
    let counts = table.lines().skip(2).map_while(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let calls = words.get(3).and_then(|calls| calls.parse().ok())?;
        Some(((*words.last()?).to_owned(), calls))
    });
    let counts = counts.filter(|(name, _)| name != "total").collect();
    let imported = common::import("strace", lines.as_bytes()).expect("strace's lines");
    assert_eq!(imported.summary.refused, 0, "{:?}", imported.summary.first_refused);
    (imported, lines.to_owned(), counts)
}

/// Every call that strace counted is a record, or was left out by its name.
fn check_counts(imported: &Imported, counts: &BTreeMap<String, u64>) {
    let mut made: BTreeMap<&str, u64> = BTreeMap::new();
    for (record, _) in imported.records() {
        *made.entry(record.operation.as_str()).or_default() += 1;
    }
    let mut compared = 0;
    for (name, calls) in counts {
        let operation = Operation::ALL.iter().find(|operation| operation.as_str() == name);
        // Calls about memory are records where the memory is a file's; calls with two files are two
        // records.
        let is_memory = matches!(name.as_str(), "mmap" | "munmap" | "madvise" | "msync");
        let is_pair = matches!(name.as_str(), "sendfile" | "splice" | "copy_file_range");
        if operation.is_none() || is_memory || is_pair {
            continue;
        }
        let left = format!("{name} on a pipe, socket, terminal or device");
        let left = imported.summary.left_out.iter().find(|out| out.what == left);
        let found =
            made.get(name.as_str()).copied().unwrap_or(0) + left.map_or(0, |left| left.count);
        assert_eq!(found, *calls, "{name}");
        compared += 1;
    }
    assert!(compared >= 4, "compared {compared} of {counts:?}");
}

/// Bytes that reads or writes of files returned, by the text alone: the number behind the last `= `
/// of lines that are whole.
fn bytes_in_text(text: &str, names: &[&str]) -> i64 {
    let lines =
        text.lines().filter(|line| !line.contains("resumed>") && !line.contains("<unfinished"));
    let bytes = lines.filter_map(|line| {
        // strace pads small IDs with spaces.
        let (_, rest) = line.split_once(' ')?;
        let (_, call) = rest.trim_start().split_once(' ')?;
        let (name, rest) = call.split_once('(')?;
        let number = rest.split_once("</").map(|(number, _)| number)?;
        let is_file = number.bytes().all(|byte| byte.is_ascii_digit())
            && !rest.starts_with(&format!("{number}</dev/"));
        let result = rest.rsplit_once(" = ").filter(|_| names.contains(&name) && is_file)?.1;
        result.split(' ').next()?.parse::<i64>().ok().filter(|bytes| *bytes > 0)
    });
    bytes.sum()
}

fn bytes_in_records(imported: &Imported, class: OperationClass) -> i64 {
    let records =
        imported.records().map(|(record, _)| record).filter(|record| record.class == class);
    records.filter_map(|record| record.result).filter(|bytes| *bytes > 0).sum()
}

/// Records of a class on a path, in the order of time.
fn on<'a>(imported: &'a Imported, class: OperationClass, path: &Path) -> Vec<&'a TraceRecord> {
    let is_on = |(record, batch): &(&TraceRecord, &hotset_facts::trace::TraceBatch)| {
        let found = record.path.and_then(|index| batch.path(index));
        record.class == class && found == Some(path.as_os_str().as_bytes())
    };
    let mut records: Vec<_> = imported.records().filter(is_on).map(|(record, _)| record).collect();
    records.sort_by_key(|record| record.start_ns);
    records
}

const READS: [&str; 4] = ["read", "pread64", "readv", "preadv"];
const WRITES: [&str; 3] = ["write", "pwrite64", "writev"];

fn check_bytes(imported: &Imported, text: &str) {
    let reads = bytes_in_records(imported, OperationClass::Read);
    assert_eq!(reads, bytes_in_text(text, &READS));
    assert!(reads > 0);
    assert_eq!(bytes_in_records(imported, OperationClass::Write), bytes_in_text(text, &WRITES));
}

#[test]
fn cat_reads_a_file_from_end_to_end() {
    let scratch = Scratch::new("cat");
    let path = scratch.0.join("a \"file\" (of) = 7é\n<x>");
    let content: Vec<u8> =
        (0..700_001_u32).map(|at| u8::try_from(at % 251).expect("small")).collect();
    std::fs::write(&path, &content).expect("written");
    let words = ["cat", path.to_str().expect("UTF-8")];
    let (imported, text, counts) = traced(&scratch.0, &["-T", "-y"], &words);
    check_counts(&imported, &counts);
    check_bytes(&imported, &text);
    let reads = on(&imported, OperationClass::Read, &path);
    let mut position = 0;
    for read in &reads {
        assert_eq!(read.offset, Some(position));
        position += u64::try_from(read.result.expect("a result")).expect("no error");
    }
    assert_eq!(position, content.len() as u64);
    assert!(
        imported
            .records()
            .all(|(record, _)| record.duration_ns.is_some() && record.pages.is_none())
    );
    let program = imported.lists.processes.last().expect("a process");
    assert_eq!((program.comm.as_str(), program.argv.len()), ("cat", 2));
}

#[test]
fn without_y_and_t_what_is_missing_is_told() {
    let scratch = Scratch::new("plain");
    let path = scratch.0.join("data");
    std::fs::write(&path, [7; 5000]).expect("written");
    let words = ["cat", path.to_str().expect("UTF-8")];
    let (imported, _, counts) = traced(&scratch.0, &[], &words);
    check_counts(&imported, &counts);
    let reads = on(&imported, OperationClass::Read, &path);
    assert_eq!(reads.iter().filter_map(|read| read.result).sum::<i64>(), 5000);
    assert_eq!(reads.first().map(|read| (read.offset, read.duration_ns)), Some((Some(0), None)));
    let lacks = imported.head.lacks.join("\n");
    assert!(lacks.contains("without -T") && lacks.contains("without -y"), "{lacks}");
}

#[test]
fn python_with_threads_children_and_shared_positions() {
    let scratch = Scratch::new("python");
    let program = "
import os, threading
fd = os.open('data', os.O_RDWR | os.O_CREAT | os.O_TRUNC)
os.write(fd, b'0123456789' * 1000)
os.lseek(fd, 0, os.SEEK_SET)
for _ in range(5):
    os.read(fd, 100)
if os.fork() == 0:
    for _ in range(5): os.read(fd, 100)
    os._exit(0)
os.wait()
t = threading.Thread(target=lambda: os.read(fd, 100)); t.start(); t.join()
other = os.dup(fd)
os.readv(other, [bytearray(50), bytearray(50)])
os.pread(fd, 10, 7000)
os.write(other, b'x' * 100)
os.close(fd)
os.read(other, 100)
os.fsync(other)
";
    std::fs::write(scratch.0.join("program.py"), program).expect("written");
    let words = ["python3", "-I", "program.py"];
    let (imported, _, counts) = traced(&scratch.0, &["-T", "-y"], &words);
    check_counts(&imported, &counts);
    let path = scratch.0.join("data");
    let reads = on(&imported, OperationClass::Read, &path);
    let offsets: Vec<_> = reads.iter().filter_map(|read| read.offset).collect();
    let mut expected: Vec<u64> = (0..12).map(|read| read * 100).collect();
    expected.extend([7000, 1300]);
    assert_eq!(offsets, expected);
    let writes = on(&imported, OperationClass::Write, &path);
    let writes: Vec<_> = writes.iter().map(|write| (write.offset, write.result)).collect();
    assert_eq!(writes, [(Some(0), Some(10_000)), (Some(1200), Some(100))]);
    let mut users: Vec<_> = reads.iter().filter_map(|read| read.process).collect();
    users.dedup();
    assert_eq!(users.len(), 3, "the parent, the child, and the parent with its thread");
    let mut threads: Vec<_> = reads.iter().filter_map(|read| read.tid).collect();
    threads.sort_unstable();
    threads.dedup();
    assert_eq!(threads.len(), 3);
    assert_eq!(on(&imported, OperationClass::Sync, &path).len(), 1);
}

#[test]
fn sqlite_syncs_its_journal() {
    let scratch = Scratch::new("sqlite");
    let statements =
        "create table t(a); insert into t values(1); insert into t values(2); select * from t;";
    let words = ["sqlite3", "base.db", statements];
    let (imported, text, counts) = traced(&scratch.0, &["-T", "-y"], &words);
    check_counts(&imported, &counts);
    check_bytes(&imported, &text);
    let base = scratch.0.join("base.db");
    let size = std::fs::metadata(&base).expect("the database").len();
    let writes = on(&imported, OperationClass::Write, &base);
    let ends = writes.iter().filter_map(|write| Some(write.offset? + write.asked_bytes?));
    assert_eq!(ends.max(), Some(size));
    assert!(!on(&imported, OperationClass::Sync, &base).is_empty());
}

#[test]
fn git_and_its_children() {
    let scratch = Scratch::new("git");
    let script = "git init -q . && echo a > a && git add a && \
                  git -c user.name=a -c user.email=a@b commit -q -m a && git log > log && rm -r a";
    let (imported, _, counts) = traced(&scratch.0, &["-T", "-y"], &["sh", "-c", script]);
    check_counts(&imported, &counts);
    let names: Vec<&str> =
        imported.lists.processes.iter().map(|process| process.comm.as_str()).collect();
    assert!(names.contains(&"sh") && names.contains(&"git") && names.contains(&"rm"), "{names:?}");
    let log = on(&imported, OperationClass::Write, &scratch.0.join("log"));
    let written: i64 = log.iter().filter_map(|write| write.result).sum();
    assert_eq!(
        written,
        i64::try_from(std::fs::metadata(scratch.0.join("log")).expect("a log").len())
            .expect("small")
    );
}

/// The text without its lseek(fd, 0, SEEK_CUR), which only asks, and what each of these answered:
/// nanoseconds since the first line, and the position.
fn without_questions(text: &str) -> (String, Vec<(u64, u64)>) {
    let (mut rest, mut answers, mut first) = (String::new(), Vec::new(), None);
    for line in text.lines() {
        let time = line.split_whitespace().nth(1).expect("a time").replace('.', "");
        let time_ns = time.parse::<u64>().expect("microseconds") * 1000;
        let first_ns = *first.get_or_insert(time_ns);
        let answer = line.split_once("/data>, 0, SEEK_CUR) = ").map(|(_, answer)| answer);
        match answer.and_then(|answer| answer.split(' ').next()?.parse().ok()) {
            Some(position) => answers.push((time_ns - first_ns, position)),
            None => rest.extend([line, "\n"]),
        }
    }
    (rest, answers)
}

#[test]
fn positions_are_the_kernels() {
    let scratch = Scratch::new("positions");
    let program = "
import os
fd = os.open('data', os.O_RDWR | os.O_CREAT | os.O_TRUNC)
def ask(): os.lseek(fd, 0, os.SEEK_CUR)
os.write(fd, b'x' * 5000); ask()
os.lseek(fd, 100, os.SEEK_SET)
other = os.dup(fd)
for i in range(20):
    os.read(fd, 7 * i); ask()
    child = os.fork()
    if child == 0:
        os.read(other, 11); ask()
        os.write(fd, b'abc'); ask()
        os._exit(0)
    os.waitpid(child, 0); ask()
    os.readv(other, [bytearray(3), bytearray(4)]); ask()
    os.pwrite(fd, b'y', 4000); ask()
    out = os.open('out%d' % i, os.O_WRONLY | os.O_CREAT)
    os.sendfile(out, fd, None, 50); ask()
    os.copy_file_range(fd, out, 30); ask()
    os.copy_file_range(fd, out, 30, offset_src=9); ask()
    os.lseek(fd, -40, os.SEEK_CUR)
os.lseek(fd, -10, os.SEEK_END)
os.read(fd, 100); ask()
os.read(fd, 100); ask()
";
    std::fs::write(scratch.0.join("program.py"), program).expect("written");
    let words = ["python3", "-I", "program.py"];
    let (_, text, _) = traced(&scratch.0, &["-T", "-y"], &words);
    let (text, answers) = without_questions(&text);
    // A question that the other process's call interrupts is on two lines, and stays in the text.
    let asked = 1 + 20 * 9 + 2;
    assert!((asked - 20..=asked).contains(&answers.len()), "{} of {asked}", answers.len());
    let imported = common::import("strace", text.as_bytes()).expect("strace's lines");
    let path = scratch.0.join("data");
    let mut moves: Vec<_> = [OperationClass::Read, OperationClass::Write]
        .into_iter()
        .flat_map(|class| on(&imported, class, &path))
        .filter(|record| record.flags.has(RecordFlags::POSITION))
        .collect();
    moves.sort_by_key(|record| record.start_ns);
    for (time_ns, position) in answers {
        let before = moves.iter().take_while(|record| record.start_ns < time_ns).last();
        let before = before.expect("a read or write before");
        let moved = before.result.expect("a result").unsigned_abs();
        assert_eq!(before.offset.map(|offset| offset + moved), Some(position), "{before:?}");
    }
}
