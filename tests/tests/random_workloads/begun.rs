//! A mixture that waits until it is observed, and stays until all is counted.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use hotset_tests::books::Books;

/// It runs, and has not begun.
pub(crate) struct Begun {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Begun {
    /// Starts `mix` with these words.
    pub(crate) fn start(command: &mut Command) -> Self {
        command.arg("--wait").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("mix");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, input, output }
    }

    /// Its PID.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Has it begin, and waits for what it did.
    pub(crate) fn books(&mut self) -> Vec<Books> {
        self.go();
        let mut line = String::new();
        self.output.read_line(&mut line).expect("read");
        serde_json::from_str(&line).expect("books")
    }

    /// Has it end.
    pub(crate) fn finish(mut self) {
        self.go();
        let status = self.child.wait().expect("wait");
        assert!(status.success(), "mix: {status}");
    }

    fn go(&mut self) {
        self.input.write_all(b"\n").expect("write");
    }
}
