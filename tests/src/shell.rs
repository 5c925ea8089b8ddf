//! A shell that stays while others look at it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A shell that runs each line it is told, and says when it is done.
pub struct Shell {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Shell {
    /// From a command that reads lines and is a shell.
    pub fn start(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut shell = Self { child, input, output };
        shell.run(":");
        shell
    }

    /// A shell of its own.
    #[expect(clippy::new_without_default, reason = "it starts a process")]
    pub fn new() -> Self {
        let mut command = Command::new("sh");
        command.arg("-s");
        Self::start(command)
    }

    /// Its PID.
    pub fn pid(&self) -> u64 {
        self.child.id().into()
    }

    /// Runs a line to its end.
    pub fn run(&mut self, line: &str) {
        self.begin(&format!("{line}; echo done"));
        self.answer();
    }

    /// Waits for the line `done`.
    pub fn answer(&mut self) {
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("read");
        assert_eq!(answer, "done\n");
    }

    /// Begins a line and doesn't wait for it.
    pub fn begin(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("write");
    }

    /// Ends the shell.
    pub fn end(self) {
        let Self { mut child, input, .. } = self;
        drop(input);
        assert!(child.wait().expect("wait").success());
    }
}
