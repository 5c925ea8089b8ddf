//! Path lookups of intervals, against a process that makes a known number of them and nothing else.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use hotset_facts::LiveLookups;
use hotset_observe::Scope;
use hotset_observe::live::{LiveOptions, LiveSession};
use hotset_tests::scratch::text;
use hotset_tests::{Group, PAGE, Scratch, Shell, workload};

use crate::sample;

/// In each round, each kind of call that looks a path up: of a file that is there, of one that is not, and of one below a file. Calls that look
/// nothing up stand at its end.
const SCRIPT: &str = "import os, sys\n\
    there, missing = sys.argv[1:]\n\
    inside = os.open(os.path.dirname(there), os.O_PATH)\n\
    held = os.open(there, os.O_RDONLY)\n\
    names = (os.path.basename(there), os.path.basename(missing))\n\
    def tried(call, *args, **named):\n\
    \x20   try: return call(*args, **named)\n\
    \x20   except OSError: return None\n\
    def once():\n\
    \x20   for path, name in ((there, names[0]), (missing, names[1]), (there + '/below', names[0] + '/below')):\n\
    \x20       tried(os.stat, path); tried(os.lstat, path); tried(os.access, path, os.R_OK)\n\
    \x20       tried(os.readlink, path); tried(os.stat, name, dir_fd=inside)\n\
    \x20       fd = tried(os.open, path, os.O_RDONLY)\n\
    \x20       if fd is not None: os.close(fd)\n\
    \x20       fd = tried(os.open, name, os.O_RDONLY, dir_fd=inside)\n\
    \x20       if fd is not None: os.close(fd)\n\
    \x20   tried(os.execv, missing, ['x'])\n\
    \x20   os.fstat(held); os.pread(held, 1, 0); os.getppid()\n\
    print('ready', flush=True)\n\
    for line in sys.stdin:\n\
    \x20   for _ in range(int(line)): once()\n\
    \x20   print('done', flush=True)\n";
/// Of one round: three paths by seven calls, and exec of what is not there.
const CALLS: u64 = 22;
/// What is not there, and what is below a file.
const FAILED: u64 = 15;

struct Caller {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Caller {
    fn start(scratch: &Scratch) -> Self {
        let there = scratch.file("there", PAGE);
        let mut child = Command::new("python3")
            .args(["-c", SCRIPT, text(&there), text(&scratch.path("missing"))])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut caller = Self { child, answers };
        caller.answer("ready");
        caller
    }

    fn answer(&mut self, wanted: &str) {
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("an answer");
        assert_eq!(answer.trim(), wanted);
    }

    fn rounds(&mut self, count: u64) {
        writeln!(self.child.stdin.as_mut().expect("a pipe"), "{count}").expect("told");
        self.answer("done");
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        // A failing test should report its own failure and not this one.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn session(group: &Group, compat: bool) -> LiveSession {
    let scope = Scope::Cgroup(group.dir().to_owned());
    let options = LiveOptions { scope, compat, lookups: true, ..LiveOptions::default() };
    LiveSession::start(options).expect("the sensor loads (as root)")
}

fn looked_up(session: &mut LiveSession) -> Vec<LiveLookups> {
    sample(session).lookups.expect("lookups were asked for")
}

/// All groups together: how many, and how many failed.
fn sum(lookups: &[LiveLookups]) -> (u64, u64) {
    let calls = lookups.iter().map(|group| group.calls).sum();
    (calls, lookups.iter().map(|group| group.failed).sum())
}

fn intervals_have_the_lookups_that_were_made(compat: bool) {
    let scratch = Scratch::new("live-lookups");
    let group = Group::new(&scratch);
    let mut caller = Caller::start(&scratch);
    group.add_below(caller.child.id().into());
    let mut session = session(&group, compat);
    looked_up(&mut session);
    for rounds in [1, 200, 0, 7] {
        caller.rounds(rounds);
        let seen = looked_up(&mut session);
        assert_eq!(sum(&seen), (rounds * CALLS, rounds * FAILED), "{seen:?}");
        assert_eq!(seen.len(), usize::from(rounds > 0), "{seen:?}");
        assert!(seen.iter().all(|group| group.cgroup.is_some()), "{seen:?}");
    }
    drop(caller);
    // Nothing is shown twice, also when it has ended.
    assert_eq!(sum(&looked_up(&mut session)), (0, 0));
    assert_eq!(sum(&looked_up(&mut session)), (0, 0));
}

#[test]
fn lookups_of_each_kind_are_in_their_interval() {
    intervals_have_the_lookups_that_were_made(false);
    intervals_have_the_lookups_that_were_made(true);
}

/// Starting the program makes others, the same each time; it ends within the interval.
fn requests_of_uring_count(compat: bool) {
    let scratch = Scratch::new("live-uring-lookups");
    let (group, file) = (Group::new(&scratch), scratch.file("f", PAGE));
    let mut shell = Shell::new();
    group.add_below(shell.pid());
    let mut session = session(&group, compat);
    let mut counted = |count: u64| {
        looked_up(&mut session);
        let (program, file) = (workload(), text(&file));
        shell.run(&format!("{} uring-lookups --file {file} --count {count}", text(&program)));
        let seen = sample(&mut session);
        assert_eq!(seen.losses.requests, 0, "{:?}", seen.losses);
        sum(&seen.lookups.expect("lookups were asked for"))
    };
    let (few, many) = (counted(10), counted(35));
    assert_eq!((many.0 - few.0, many.1 - few.1), (100, 50), "{few:?} {many:?}");
    shell.end();
}

#[test]
fn lookups_by_io_uring_are_in_their_interval() {
    requests_of_uring_count(false);
    requests_of_uring_count(true);
}

#[test]
fn lookups_are_not_measured_where_nobody_asks() {
    let scratch = Scratch::new("live-no-lookups");
    let group = Group::new(&scratch);
    let scope = Scope::Cgroup(group.dir().to_owned());
    let options = LiveOptions { scope, ..LiveOptions::default() };
    let mut session = LiveSession::start(options).expect("the sensor loads (as root)");
    assert_eq!(sample(&mut session).lookups, None);
}
