//! `hotset trace import` of what other tools did not write, or not to its end: an error with the file and the line, and no half
//! of a trace.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Output;

use hotset_facts::random::Random;
use hotset_facts::trace::Operation;
use hotset_tests::conversions::{EXPORTS, assert_refused, export, import, listed, trace};
use hotset_tests::scratch::text;
use hotset_tests::traced::Trace;
use hotset_tests::{Mounted, Scratch, code, stderr};

const FORMATS: [&str; 5] = ["strace", "fio", "csv", "oracle", "blkparse"];

const STRACE: &str = "7 1700000000.100000 openat(AT_FDCWD</>, \"/a\", O_RDONLY) = 3</a> <0.000010>\n\
                      7 1700000000.200000 read(3</a>, \"x\"..., 4096) = 4096 <0.000010>\n\
                      7 1700000000.300000 pread64(3</a>, \"x\"..., 4096, 8192) = 4096 <0.000010>\n";

/// A directory with an input, and where its trace goes.
struct Input {
    scratch: Scratch,
    file: PathBuf,
    out: PathBuf,
}

impl Input {
    fn new(content: &[u8]) -> Self {
        let scratch = Scratch::new("trace-import");
        let (file, out) = (scratch.path("input"), scratch.path("out.parquet"));
        fs::write(&file, content).expect("write");
        Self { scratch, file, out }
    }

    fn import(&self, format: &str, more: &[&str]) -> Output {
        import(format, &self.file, &self.out, more)
    }

    /// It is refused with a message that names the file, and nothing is written.
    fn assert_refused(&self, format: &str, words: &[&str]) {
        let words = [&[text(&self.file)], words].concat();
        assert_refused(&self.import(format, &[]), 1, &words);
        assert_eq!(listed(self.scratch.dir()), ["input"], "{format} {words:?}");
    }

    /// It becomes a trace, and these words are said.
    fn read(&self, format: &str, more: &[&str], words: &[&str]) -> Trace {
        let output = self.import(format, &[&["--force"], more].concat());
        let said = stderr(&output);
        assert_eq!(code(&output), 0, "{format}: {said}");
        for word in words {
            assert!(said.contains(word), "{word}: {said}");
        }
        Trace::read(&self.out)
    }
}

#[test]
fn nothing_at_all_is_no_recording() {
    let empty = Input::new(b"");
    for format in FORMATS {
        empty.assert_refused(format, &["the input is empty; expected"]);
    }
    assert_refused(&trace(["import", text(&empty.file), "-o", text(&empty.out)]), 1, &["is empty"]);
    for format in FORMATS {
        let directory = import(format, empty.scratch.dir(), &empty.out, &[]);
        assert_refused(&directory, 1, &[text(empty.scratch.dir()), "is a directory"]);
    }
}

#[test]
fn garbage_is_refused_by_every_importer() {
    let mut random = Random::new(17);
    let mut bytes: Vec<u8> = (0..200_000).map(|_| random.below(256) as u8).collect();
    // The first request of an oracle would be right once in a while.
    bytes[12..16].fill(0);
    let garbage = Input::new(&bytes);
    for format in FORMATS.into_iter().filter(|format| *format != "oracle") {
        garbage.assert_refused(format, &["line 1", "xpected"]);
    }
    garbage.assert_refused("oracle", &["record 1: byte 0: size 0: expected"]);
    let unnamed = trace(["import", text(&garbage.file), "-o", text(&garbage.out)]);
    assert_refused(&unnamed, 1, &[text(&garbage.file), "is not recognized", "--from"]);
    let text = Input::new(&b"8,0 what is this\n".repeat(200));
    for format in ["strace", "blkparse"] {
        text.assert_refused(format, &["line 1: ", "Expected"]);
    }
}

#[test]
fn a_recording_that_is_cut_is_read_up_to_there() {
    let strace = Input::new(&STRACE.as_bytes()[..STRACE.len() - 30]);
    let cut = format!("{}:3: ", text(&strace.file));
    let read = strace.read("strace", &[], &[&cut, "has no newline behind it"]);
    assert_eq!(read.records.len(), 2);
    assert_eq!(read.records[1].path.as_deref(), Some(&b"/a"[..]));

    let request = |object: u64| {
        let fields = [&[0; 4][..], &object.to_le_bytes(), &[0, 16, 0, 0], &[255; 8]];
        fields.concat()
    };
    let oracle = Input::new(&[&request(1)[..], &request(2), &[0; 7]].concat());
    let cut = format!("{}:3: byte 48: 7 bytes; expected 24", text(&oracle.file));
    assert_eq!(oracle.read("oracle", &[], &[&cut]).records.len(), 2);
}

#[test]
fn actions_that_are_not_known_are_told_by_line() {
    let log = "fio version 3 iolog\n1 f0 add\n2 f0 open\n3 f0 read 0 4096\n4 f0 levitate 0 1\n5 f0 read 1\n\
               6 f0 trim 0 4096\n7 f0 write 4096 x\n8 f0 close\n";
    let fio = Input::new(log.as_bytes());
    let file = text(&fio.file);
    let words =
        ["5: action \"levitate\"", "6: action \"read\" with 1 numbers", "8: expected an offset"];
    let words: Vec<String> = words.iter().map(|word| format!("{file}:{word}")).collect();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.extend(["3 lines could not be read", "1 left out: trim"]);
    assert_eq!(fio.read("fio", &[], &words).records.len(), 3);
    let version = Input::new(b"fio version 9 iolog\n1 f0 add\n");
    version.assert_refused("fio", &["line 1", "fio version 3 iolog"]);
}

#[test]
fn rows_that_are_wrong_are_told_by_line() {
    let missing = Input::new(b"time,what\n1,read\n");
    missing.assert_refused("csv", &["line 1: no column start_ns", "time,what"]);
    let wrong =
        Input::new(b"start_ns,op,offset\n1,read,0\nx,read,0\n2,read,-1\n3,reed,0\n4,read\n");
    let file = text(&wrong.file);
    let places: Vec<String> = (3..=6).map(|line| format!("{file}:{line}: ")).collect();
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    assert_eq!(wrong.read("csv", &[], &places).records.len(), 1);
    // One right row would be a trace; none is something else.
    Input::new(b"start_ns,op\nx,read\ny,read\n").assert_refused("csv", &["line 2", "start_ns"]);
}

#[test]
fn a_recording_without_requests_is_an_empty_trace() {
    let input = Input::new(b"start_ns,op,offset\n");
    let read = input.read("csv", &[], &["0 records", "the trace is empty", text(&input.file)]);
    assert!(read.records.is_empty());
    let info = trace(["info", text(&input.out)]);
    assert_eq!(code(&info), 0, "{}", stderr(&info));
    for format in EXPORTS {
        let exported = export(&input.out, format, &input.scratch.path(format), &[]);
        assert_eq!(code(&exported), 0, "{format}: {}", stderr(&exported));
    }
    let exits = Input::new(b"7 1700000000.100000 +++ exited with 0 +++\n");
    assert!(exits.read("strace", &[], &["the trace is empty"]).records.is_empty());
}

#[test]
fn columns_of_other_tools_are_named_by_options() {
    let rows = "128166372003061629,src1,0,Read,383496192,32768,1331\n\
                128166372016382155,src1,1,Write,2822144,65536,2326\n";
    let msr = Input::new(rows.as_bytes());
    let columns =
        ["--no-header", "--time", "1", "--time-unit", "100ns", "--file", "3", "--op", "4"];
    let read = msr.read("csv", &[&columns[..], &["--offset", "5", "--size", "6"]].concat(), &[]);
    let [first, second] = &read.records[..] else { panic!("{:?}", read.records) };
    assert_eq!((first.record.start_ns, second.record.start_ns), (0, 1_332_052_600));
    assert_eq!(
        (first.record.operation, second.record.operation),
        (Operation::Read, Operation::Write)
    );
    assert_eq!((first.record.offset, second.record.asked_bytes), (Some(383_496_192), Some(65_536)));
    assert_eq!(second.path.as_deref(), Some(&b"1"[..]));

    let named = Input::new(b"when;where\n1.5;7\n2.5;8\nlater;9\n");
    let options = ["--time", "when", "--offset", "where", "--delimiter", ";"];
    let refused = format!("{}:4: time \"later\"", text(&named.file));
    let read = named.read("csv", &options, &[&refused]);
    assert_eq!(
        read.records.iter().map(|read| read.record.start_ns).collect::<Vec<_>>(),
        [0, 1_000_000_000]
    );
    let missing = named.import("csv", &["--force", "--time", "who", "--delimiter", ";"]);
    assert_refused(&missing, 1, &[text(&named.file), "no column who"]);
}

#[test]
fn options_of_columns_that_do_not_apply_are_refused() {
    let input = Input::new(STRACE.as_bytes());
    for (format, options, words) in [
        ("strace", &["--time", "1"][..], &["--time", "--from csv", "strace"][..]),
        ("fio", &["--delimiter", ";"], &["--delimiter", "--from csv"]),
        ("csv", &["--size", "3"], &["--size", "--time COLUMN"]),
        ("csv", &["--no-header"], &["--no-header", "--time COLUMN"]),
        ("csv", &["--no-header", "--time", "start"], &["--no-header", "start", "number"]),
        ("csv", &["--time", "0"], &["--time", "1 to 4096"]),
        ("csv", &["--time", "1", "--time-unit", "h"], &["--time-unit", "100ns"]),
        ("csv", &["--time", "1", "--delimiter", "ab"], &["--delimiter", "one ASCII character"]),
    ] {
        assert_refused(&input.import(format, options), 2, words);
    }
    let unnamed = ["import", "--time", "1", text(&input.file), "-o", text(&input.out)];
    assert_refused(&trace(unnamed), 2, &["--time", "needs --from csv"]);
    assert_eq!(listed(input.scratch.dir()), ["input"]);
}

#[test]
fn a_trace_that_is_there_is_replaced_only_by_force() {
    let input = Input::new(STRACE.as_bytes());
    fs::write(&input.out, "old").expect("write");
    assert_refused(&input.import("strace", &[]), 1, &[text(&input.out), "another name", "--force"]);
    // What fails leaves what was there.
    let failed = input.import("fio", &["--force"]);
    assert_refused(&failed, 1, &[text(&input.file), "line 1"]);
    assert_eq!(fs::read(&input.out).expect("read"), b"old");
    assert_eq!(input.read("strace", &[], &[]).records.len(), 3);
    for (out, exit, word) in [
        ("-", 2, "expected a file name"),
        ("/dev/null", 1, "expected the name of a regular file"),
        ("/no/such/directory/t", 1, "No such file"),
        (text(input.scratch.dir()), 1, "is a directory"),
    ] {
        let refused = import("strace", &input.file, out.as_ref(), &["--force"]);
        assert_refused(&refused, exit, &[out, word]);
    }
}

#[test]
fn a_full_disk_leaves_no_trace() {
    let mut rows = "start_ns,op,path\n".to_owned();
    for number in 0..20_000 {
        let _ = writeln!(rows, "{number},openat,/{:016x}", Random::at(number));
    }
    let input = Input::new(rows.as_bytes());
    let disk = input.scratch.path("disk");
    fs::create_dir(&disk).expect("mkdir");
    let _mounted = Mounted::new(&["-t", "tmpfs", "-o", "size=64k", "none", text(&disk)]);
    let out = disk.join("t.parquet");
    let full = import("csv", &input.file, &out, &[]);
    assert_refused(&full, 1, &[text(&out), "No space left on device"]);
    assert!(listed(&disk).is_empty(), "{:?}", listed(&disk));
}

/// 100,000 of them, one of 4,096 bytes, one that is no UTF-8.
#[test]
fn paths_of_every_kind_come_back() {
    let mut rows = b"start_ns,op,path,path_bytes\n".to_vec();
    let long = format!("/{}", "x".repeat(4095));
    for number in 0..100_000 {
        rows.extend_from_slice(format!("{number},openat,/many/{number},\n").as_bytes());
    }
    rows.extend_from_slice(format!("100000,openat,{long},\n100001,openat,,2ffffe0a\n").as_bytes());
    let input = Input::new(&rows);
    let read = input.read("csv", &[], &["100,002 records"]);
    assert_eq!(read.records[77_777].path.as_deref(), Some(&b"/many/77777"[..]));
    assert_eq!(read.records[100_000].path.as_deref(), Some(long.as_bytes()));
    assert_eq!(read.records[100_001].path.as_deref(), Some(&b"/\xff\xfe\n"[..]));
    let again = Input::new(&export(&input.out, "csv", "-".as_ref(), &[]).stdout);
    let paths =
        |trace: &Trace| trace.records.iter().map(|read| read.path.clone()).collect::<Vec<_>>();
    assert!(paths(&again.read("csv", &[], &[])) == paths(&read));

    let strace = STRACE.replace("/a", "/\\377\\n");
    let odd = Input::new(strace.as_bytes());
    assert_eq!(odd.read("strace", &[], &[]).records[0].path.as_deref(), Some(&b"/\xff\n"[..]));
    // The names of the files themselves, too.
    let name = odd.scratch.dir().join(OsStr::from_bytes(b"in\xffput"));
    fs::rename(&odd.file, &name).expect("renamed");
    let out = odd.scratch.dir().join(OsStr::from_bytes(b"out\xff.parquet"));
    let output = import("strace", &name, &out, &[]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(Trace::read(&out).records.len(), 3);
}
