//! `hotset stat --json` while something happens.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::SystemTime;

use serde_json::Value;

use crate::{hotset, number, with_default_signals};

/// A running `hotset stat --json`, whose lines are kept.
pub struct Watching {
    child: Child,
    output: BufReader<ChildStdout>,
    said: ChildStderr,
    lines: Vec<Value>,
}

impl Watching {
    /// Starts it, and waits for its first line: from then on nothing is missed.
    pub fn start(words: &[&str]) -> Self {
        let mut command = Command::new(hotset());
        command.args(["stat", "--json"]).args(words);
        with_default_signals(&mut command);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("hotset");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let said = child.stderr.take().expect("a pipe");
        let mut watching = Self { child, output, said, lines: Vec::new() };
        if !watching.read_line() {
            let (status, said) = watching.wait();
            panic!("{words:?}: no line; {status}: {said}");
        }
        watching
    }

    /// Its PID.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Reads one more line; false at the end.
    pub fn read_line(&mut self) -> bool {
        let mut line = String::new();
        if self.output.read_line(&mut line).expect("read") == 0 {
            return false;
        }
        self.lines.push(serde_json::from_str(&line).expect("a line of JSON"));
        true
    }

    /// Reads on until a line ends after this moment, and so holds all that was done before.
    pub fn until_now(&mut self) {
        let now = SystemTime::now();
        let ended = |line: &Value| {
            let at = line["time"].as_str().expect("a time");
            let at: jiff::Timestamp = at.parse().expect("RFC 3339");
            SystemTime::from(at) > now
        };
        while !self.lines.last().is_some_and(ended) {
            assert!(self.read_line(), "it ended early");
        }
    }

    /// Reads to its own end; its lines and words.
    pub fn finish(mut self) -> (Vec<Value>, String) {
        while self.read_line() {}
        let (status, said) = self.wait();
        assert!(status.success(), "{status}: {said}");
        (self.lines, said)
    }

    /// A signal, and then as [`Self::finish`].
    pub fn end_by(self, signal: i32) -> (Vec<Value>, String) {
        self.send(signal);
        self.finish()
    }

    /// A signal.
    pub fn send(&self, signal: i32) {
        // SAFETY: has no preconditions; the child was not waited for, so the number is still its own.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, signal) }, 0);
    }

    fn wait(&mut self) -> (ExitStatus, String) {
        let mut said = String::new();
        self.said.read_to_string(&mut said).expect("read");
        (self.child.wait().expect("wait"), said)
    }
}

/// The sum of a key over lines, none of which may lack it or be a lower bound.
pub fn sum(lines: &[Value], key: &str) -> u64 {
    let pointer = format!("/{key}");
    lines
        .iter()
        .map(|line| {
            assert_eq!(line["at_least"], false, "{line}");
            number(line, &pointer)
        })
        .sum()
}
