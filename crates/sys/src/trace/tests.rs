//! What a traced command opened, against what is known or what strace(1) says.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use super::*;
use crate::test_support::ScratchFile;

fn trace(words: &[&str]) -> Result<Traced, TraceError> {
    let argv: Vec<OsString> = words.iter().map(OsString::from).collect();
    let launch = Launch::new(Path::new(words[0]), &argv, [None, None, None]);
    files_opened(launch.expect("ready"), &mut || false)
}

fn traced(words: &[&str]) -> Traced {
    let traced = trace(words).expect("traced");
    assert_eq!(traced.exit, ExitStatus::Code(0), "{traced:?}");
    traced
}

fn find<'a>(traced: &'a Traced, path: &Path) -> Option<&'a TracedFile> {
    let real = path.canonicalize().expect("the file");
    traced.files.iter().find(|file| file.path == real)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn each_process_of_a_pipeline_is_seen_with_how_it_opened() {
    let (input, output) = (ScratchFile::with(b"b\na\n"), ScratchFile::with(b""));
    let line = "cat < \"$0\" | sort > \"$1\"";
    let traced = traced(&["/bin/sh", "-c", line, text(&input.path), text(&output.path)]);
    let read = find(&traced, &input.path).expect("the input");
    assert_eq!((read.read, read.written, read.mapped), (true, false, false));
    let written = find(&traced, &output.path).expect("the output");
    assert_eq!((written.read, written.written), (false, true));
    for program in ["/bin/sh", "/bin/cat", "/usr/bin/sort"] {
        let program = find(&traced, Path::new(program)).expect(program);
        assert!(program.read && program.mapped && !program.written, "{program:?}");
    }
    assert_eq!(std::fs::read(&output.path).expect("output"), b"a\nb\n");
    assert_eq!(traced.still_running, 0);
}

#[test]
fn a_python_import_opens_what_strace_says() {
    let words = ["/usr/bin/python3", "-c", "import json, argparse, concurrent.futures"];
    // Once for the compiled modules that it may write.
    traced(&words);
    let ours: BTreeSet<PathBuf> = traced(&words).files.into_iter().map(|file| file.path).collect();
    let log = ScratchFile::with(b"");
    let ran = Command::new("strace")
        .args(["-f", "-qq", "-y", "-e", "trace=open,openat,execve", "-o", text(&log.path)])
        .args(words)
        .status();
    assert!(ran.expect("this test needs strace").success());
    let told = std::fs::read_to_string(&log.path).expect("log");
    let theirs: BTreeSet<PathBuf> = told
        .lines()
        // `… = 3</usr/lib/x>`: what stands behind the descriptor.
        .filter_map(|line| line.rsplit_once("= ")?.1.split_once('<')?.1.strip_suffix('>'))
        .map(PathBuf::from)
        .filter(|path| path.is_file())
        .collect();
    assert!(theirs.len() > 20, "{theirs:?}");
    let missing: Vec<_> = theirs.difference(&ours).collect();
    assert!(missing.is_empty(), "strace saw {missing:?} too");
    let executed = ["/usr/bin/python3", "/lib64/ld-linux-x86-64.so.2"];
    let executed: BTreeSet<PathBuf> =
        executed.iter().filter_map(|path| Path::new(path).canonicalize().ok()).collect();
    let more: Vec<_> =
        ours.iter().filter(|path| !theirs.contains(*path) && !executed.contains(*path)).collect();
    assert!(more.is_empty(), "strace did not see {more:?}");
}

#[test]
fn what_threads_open_is_seen_and_so_is_what_a_vforked_child_executes() {
    let files: Vec<ScratchFile> = (0..40).map(|_| ScratchFile::with(b"x")).collect();
    let names: Vec<&str> = files.iter().map(|file| text(&file.path)).collect();
    let program = "import sys, threading, subprocess\n\
        threads = [threading.Thread(target=lambda name=name: open(name).read()) for name in sys.argv[1:]]\n\
        [thread.start() for thread in threads]\n\
        [thread.join() for thread in threads]\n\
        subprocess.run(['/usr/bin/env', 'true'], check=True)\n";
    let words: Vec<&str> = ["/usr/bin/python3", "-c", program].into_iter().chain(names).collect();
    let traced = traced(&words);
    for file in &files {
        assert!(find(&traced, &file.path).is_some_and(|file| file.read && !file.mapped));
    }
    assert!(find(&traced, Path::new("/usr/bin/env")).is_some_and(|file| file.mapped));
    assert!(find(&traced, Path::new("/bin/true")).is_some());
}

#[test]
fn a_script_and_its_interpreter_are_both_seen() {
    use std::os::unix::fs::PermissionsExt;
    let mut script = ScratchFile::with(b"#!/bin/true\nnever read by true\n");
    script.file.set_permissions(std::fs::Permissions::from_mode(0o755)).expect("chmod");
    // A file that is open for writing can't be executed.
    script.file = std::fs::File::open(&script.path).expect("open");
    let traced = traced(&[text(&script.path)]);
    let found = find(&traced, &script.path).expect("the script");
    assert!(found.read && !found.mapped);
    assert!(find(&traced, Path::new("/bin/true")).is_some_and(|file| file.mapped));
}

#[test]
fn a_mapped_file_is_told_from_one_that_is_read() {
    let file = ScratchFile::with(b"mapped");
    let program = "import mmap, sys\nwith open(sys.argv[1], 'rb') as f: \
        mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)[0]\n";
    let traced = traced(&["/usr/bin/python3", "-c", program, text(&file.path)]);
    assert!(find(&traced, &file.path).is_some_and(|file| file.mapped && !file.written));
}

#[test]
fn the_file_on_standard_input_counts() {
    let input = ScratchFile::with(b"x");
    let stdin = std::fs::File::open(&input.path).expect("open");
    let stdout = std::fs::File::create("/dev/null").expect("open");
    let streams = [Some(stdin.into()), Some(stdout.into()), None];
    let launch = Launch::new(Path::new("/bin/cat"), &["cat".into()], streams);
    let traced = files_opened(launch.expect("ready"), &mut || false).expect("traced");
    assert!(find(&traced, &input.path).is_some_and(|file| file.read));
}

#[test]
fn signals_stops_and_failures_are_the_commands_own() {
    let by_signal = trace(&["/bin/sh", "-c", "kill -TERM $$"]).expect("traced");
    assert_eq!(by_signal.exit, ExitStatus::Signal(libc::SIGTERM));
    let handled = trace(&["/bin/sh", "-c", "trap 'exit 5' USR1; kill -USR1 $$; exit 6"]);
    assert_eq!(handled.expect("traced").exit, ExitStatus::Code(5));
    // Woken again and again, because a tracer's own stops look the same from outside.
    let stopped = "sh -c 'kill -STOP $$; exit 7' & child=$!; \
        for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; kill -CONT $child 2>/dev/null; done; wait $child";
    assert_eq!(trace(&["/bin/sh", "-c", stopped]).expect("traced").exit, ExitStatus::Code(7));
    let missing = trace(&["/nonexistent/program"]).expect_err("missing");
    assert!(matches!(missing, TraceError::Execute(_)), "{missing}");
}

#[test]
fn what_is_left_behind_is_counted_and_goes_on() {
    let mark = ScratchFile::with(b"");
    let name = text(&mark.path).to_owned();
    let line = "(sleep 0.3; echo on > \"$0\") & exit 0";
    let traced = traced(&["/bin/sh", "-c", line, &name]);
    assert!(traced.still_running >= 1, "{traced:?}");
    for _ in 0..500 {
        if std::fs::read(&name).expect("mark") == b"on\n" {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("the process left behind could not write its file");
}
