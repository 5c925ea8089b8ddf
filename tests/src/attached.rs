//! `hotset attach` while something happens.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::Value;

use crate::{Scratch, assert_invariants, hotset, read_json, with_default_signals};

/// A running `hotset attach --json` that has said that it observes.
pub struct Attached {
    child: Child,
    said: BufReader<ChildStderr>,
    path: PathBuf,
}

impl Attached {
    /// Starts it, and waits until it observes; its profile gets this name.
    pub fn start(scratch: &Scratch, name: &str, words: &[&str]) -> Self {
        let path = scratch.path(name);
        let mut command = Command::new(hotset());
        command.arg("attach").args(words).arg("--json").arg(&path);
        with_default_signals(&mut command);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("hotset");
        let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        said.read_line(&mut line).expect("read");
        assert!(line.contains("observing"), "{words:?}: {line}");
        Self { child, said, path }
    }

    /// Its PID.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its own end; its profile and its words.
    pub fn finish(mut self) -> (Value, String) {
        let mut said = String::new();
        self.said.read_to_string(&mut said).expect("read");
        let status = self.child.wait().expect("wait");
        assert!(status.success(), "{status}: {said}");
        let profile = read_json(&self.path);
        assert_invariants(&profile);
        (profile, said)
    }

    /// Ctrl-C.
    pub fn interrupt(self) -> Value {
        // SAFETY: has no preconditions; the child was not waited for, so the number is still its own.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, libc::SIGINT) }, 0);
        self.finish().0
    }
}
