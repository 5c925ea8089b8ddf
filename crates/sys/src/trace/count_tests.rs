//! What a traced command looked up, against what is known or what strace(1) says, and what can't be told.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use super::*;
use crate::test_support::ScratchFile;

fn launch(words: &[&str]) -> Launch {
    let argv: Vec<OsString> = words.iter().map(OsString::from).collect();
    Launch::new(Path::new(words[0]), &argv, [None, None, None]).expect("ready")
}

fn counted(words: &[&str]) -> (Traced, TraceCounts) {
    let traced = lookups_counted(launch(words), &mut || false).expect("traced");
    let counts = traced.counts.clone().expect("counts");
    (traced, counts)
}

fn sums(counts: &TraceCounts) -> (u64, u64) {
    let processes = counts.processes.iter();
    processes
        .fold((0, 0), |(calls, failed), one| (calls + one.lookups, failed + one.failed_lookups))
}

fn python(program: &str) -> Vec<&str> {
    vec!["/usr/bin/python3", "-S", "-c", program]
}

/// How often strace sees lookups of a command, and how often they fail.
fn by_strace(words: &[&str]) -> (u64, u64) {
    const CALLS: &str = "trace=open,creat,openat,openat2,stat,lstat,newfstatat,statx,access,faccessat,faccessat2,\
                         readlink,readlinkat,execve,execveat";
    let log = ScratchFile::with(b"");
    let ran = Command::new("strace")
        .args(["-f", "-qq", "-e", "signal=none", "-e", CALLS, "-o"])
        .arg(&log.path)
        .args(words)
        .status();
    assert!(ran.expect("this test needs strace").success());
    let told = std::fs::read_to_string(&log.path).expect("log");
    // A call during which another task was told of has two lines, of which the second one has what came of it.
    let lines = told.lines().filter(|line| line.contains(" = "));
    let lookups: Vec<&str> = lines
        // The C library's fstat; its path is in the first of two lines.
        .filter(|line| !line.contains("AT_EMPTY_PATH"))
        .filter(|line| {
            !line.contains("exec") || line.contains(" ENOENT ") || line.contains(" ENOTDIR ")
        })
        .collect();
    let failed =
        lookups.iter().filter(|line| line.contains(" ENOENT ") || line.contains(" ENOTDIR "));
    (lookups.len() as u64, failed.count() as u64)
}

#[test]
fn a_python_import_and_a_pipeline_look_up_what_strace_says() {
    let import = python("import json, argparse");
    let pipeline =
        ["/bin/sh", "-c", "ls /usr/lib | sort | head -3; nothing-like-this; cat /nowhere/x; true"];
    for words in [import.as_slice(), &pipeline] {
        // Once for the compiled modules that it may write.
        counted(words);
        let (_, counts) = counted(words);
        let sums = sums(&counts);
        assert_eq!(sums, by_strace(words), "{words:?}");
        let named: u64 = counts.failed_paths.iter().map(|path| path.calls).sum();
        assert_eq!(named, sums.1, "{counts:?}");
        assert!(sums.0 > 10 && sums.1 > 0 && counts.gaps.is_empty(), "{counts:?}");
    }
}

#[test]
fn a_lookup_more_is_one_more_and_its_path_is_absolute() {
    let scratch = std::env::temp_dir().canonicalize().expect("a directory");
    let at = scratch.to_str().expect("UTF-8");
    let program = "import os, sys\nos.chdir(sys.argv[1])\nd = os.open('.', os.O_RDONLY)\n\
        for n in range(int(sys.argv[2])):\n \
         [os.access(p, 0, dir_fd=d) for p in ('no/such', '/no/such/thing')]\n";
    let run = |times| counted(&[python(program).as_slice(), &[at, times]].concat()).1;
    let (none, many) = (run("0"), run("50"));
    let (before, after) = (sums(&none), sums(&many));
    assert_eq!((after.0 - before.0, after.1 - before.1), (100, 100));
    for path in [scratch.join("no/such"), PathBuf::from("/no/such/thing")] {
        let found = many.failed_paths.iter().find(|failed| failed.path == path);
        assert_eq!(found.map(|failed| failed.calls), Some(50), "{path:?}: {many:?}");
    }
}

#[test]
fn each_process_has_its_own_and_threads_are_parts_of_one() {
    let file = ScratchFile::with(b"x");
    let name = file.path.to_str().expect("UTF-8");
    let program = "import os, sys, threading, subprocess\n\
        def ask(times): [os.access('/nowhere', 0) for _ in range(times)]\n\
        threads = [threading.Thread(target=ask, args=(10,)) for _ in range(4)]\n\
        [thread.start() for thread in threads]\n[thread.join() for thread in threads]\n\
        [open(sys.argv[1]).close() for _ in range(3)]\n\
        if os.fork() == 0: ask(7); open(sys.argv[1]); os._exit(4)\n\
        os.wait()\nsubprocess.run(['/bin/sh', '-c', 'exit 3'])\n";
    let (traced, counts) = counted(&[python(program).as_slice(), &[name]].concat());
    assert_eq!(counts.processes.len(), 3, "{counts:?}");
    let [main, forked, shell] = counts.processes.as_slice() else { panic!("{counts:?}") };
    assert!(main.failed_lookups >= 40 && main.faults.is_some(), "{main:?}");
    assert_eq!((forked.lookups, forked.failed_lookups), (8, 7), "{forked:?}");
    assert_eq!((forked.ppid, forked.exit), (main.pid, Some(ExitStatus::Code(4))));
    assert_eq!(forked.argv, Vec::<OsString>::new());
    assert_eq!(shell.argv, ["/bin/sh", "-c", "exit 3"]);
    assert_eq!((shell.comm.as_str(), shell.exit), ("sh", Some(ExitStatus::Code(3))));
    let opened = traced.files.iter().find(|one| one.path == file.path.canonicalize().expect("it"));
    assert_eq!(opened.map(|one| (one.opens, one.processes)), Some((4, 2)), "{traced:?}");
}

#[test]
fn a_file_that_was_deleted_and_its_number_used_again_is_another_one() {
    let program = "import os, sys\nfor n in range(20):\n \
        p = sys.argv[1] + str(n)\n open(p, 'w').close()\n open(p).close()\n os.unlink(p)\n";
    let at = ScratchFile::with(b"");
    let name = format!("{}-again", at.path.display());
    let (traced, _) = counted(&[python(program).as_slice(), &[&name]].concat());
    let ours = traced.files.iter().filter(|file| file.path.to_string_lossy().starts_with(&name));
    let mut opens: HashMap<PathBuf, u64> = HashMap::new();
    ours.for_each(|file| *opens.entry(file.path.clone()).or_default() += file.opens);
    assert_eq!(opens.len(), 20, "{opens:?}");
    assert!(opens.values().all(|&opens| opens == 2), "{opens:?}");
}

#[test]
fn what_has_no_pages_is_no_file_and_what_is_cached_is_asked_before() {
    let file = ScratchFile::with(&[7; 20_000]);
    let name = file.path.to_str().expect("UTF-8");
    let (traced, _) = counted(&["/bin/cat", name, "/proc/self/stat"]);
    assert!(!traced.files.iter().any(|file| file.path.starts_with("/proc")), "{traced:?}");
    let found = traced.files.iter().find(|one| one.path == file.path.canonicalize().expect("it"));
    let found = found.expect("the file");
    assert_eq!((found.opens, found.size_bytes), (1, 20_000));
    // It was just written.
    assert_eq!(found.cached_before, Observed::Value(5));
}

#[test]
fn what_is_over_is_killed_with_all_that_it_started() {
    let mark = ScratchFile::with(b"");
    let name = mark.path.to_str().expect("UTF-8");
    // A daemon: no child of the command any more, in a session of its own.
    let line = "(setsid sh -c 'echo $$ > \"$0\"; sleep 1000' \"$0\" &) ; sleep 1000";
    let began = || std::fs::read_to_string(&mark.path).is_ok_and(|text| text.ends_with('\n'));
    let traced = lookups_counted(launch(&["/bin/sh", "-c", line, name]), &mut { began });
    let traced = traced.expect("traced");
    assert_eq!((traced.exit, traced.was_killed), (ExitStatus::Signal(libc::SIGKILL), true));
    assert_eq!(traced.still_running, 0);
    let pid = std::fs::read_to_string(&mark.path).expect("a PID");
    let stat = crate::proc::stat::of(pid.trim().parse().expect("a number")).expect("readable");
    assert!(stat.is_none_or(|stat| !stat.is_alive()), "the daemon still runs");
}

#[test]
fn what_can_not_be_seen_or_done_is_named() {
    let call = "import ctypes, os\nlibc = ctypes.CDLL(None)\n";
    // Two pages are enough for the parameters of a ring.
    let ring = format!("{call}libc.syscall(425, 8, ctypes.create_string_buffer(8192))\n");
    let untraced = format!(
        "{call}if libc.syscall(56, 0x00800000 | 17, 0, 0, 0, 0) == 0: os._exit(0)\nos.wait()\n"
    );
    // access(NULL) by int 0x80, where the kernel has it.
    let narrow = format!(
        "{call}import mmap, signal\nm = mmap.mmap(-1, 4096, prot=7)\n\
         m.write(bytes.fromhex('53b82100000031dbcd805bc3'))\n\
         ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()\n"
    );
    for (program, gap) in [
        (&ring, TraceGap::IoUring),
        (&untraced, TraceGap::Untraced),
        (&narrow, TraceGap::CompatCalls),
    ] {
        let (traced, counts) = counted(&python(program));
        let lacks = match gap {
            TraceGap::IoUring => std::fs::read("/proc/sys/kernel/io_uring_disabled")
                .is_ok_and(|text| !text.starts_with(b"0")),
            TraceGap::CompatCalls => matches!(traced.exit, ExitStatus::Signal(_)),
            _ => false,
        };
        assert!(lacks || counts.gaps.contains(&gap), "{gap:?}: {traced:?}");
        assert!(gap.hides_calls());
    }
    let (_, counts) = counted(&["/bin/sh", "-c", "strace -o /dev/null true 2>/dev/null; true"]);
    assert_eq!(counts.gaps.into_iter().collect::<Vec<_>>(), [TraceGap::NoTracer]);
}
