//! One run of one command.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use hotset_sys::child::Running;
use hotset_sys::launch::{Launch, Timed};
use rustix::fs::MemfdFlags;
use rustix::io::Errno;

pub use hotset_sys::launch::{Invocation, Surroundings};

/// What is kept of a failed command's last words, in bytes.
const TAIL_BYTES: u64 = 8 << 10;

/// Where a command reads from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Input {
    /// Nothing: /dev/null.
    #[default]
    Null,
    /// A file, from its start in each run.
    File(PathBuf),
}

/// Where a command writes to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Output {
    /// Nowhere: /dev/null. Some programs (grep, tar) notice, and do less.
    #[default]
    Null,
    /// Where hotset does.
    Inherit,
    /// A file, emptied before each run.
    File(PathBuf),
    /// A file in memory, of which the end is kept for the message about a failure. Nothing but the command's own writes
    /// is in its time: no pipe, no reader.
    Tail,
}

/// The standard streams of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Streams {
    /// Standard input.
    pub input: Input,
    /// Standard output.
    pub output: Output,
    /// Standard error.
    pub errors: Output,
}

impl Default for Streams {
    /// Nothing in, nothing out, and the end of what it complains about.
    fn default() -> Self {
        Self { input: Input::Null, output: Output::Null, errors: Output::Tail }
    }
}

/// A command that is ready to run.
#[derive(Debug)]
pub struct Command {
    launch: Launch,
    input: Option<File>,
    outputs: Vec<File>,
    tail: Tail,
}

impl Command {
    /// Opens the streams and makes all ready.
    ///
    /// # Errors
    /// Names the file that can't be opened.
    pub fn new(invocation: &Invocation, streams: &Streams) -> io::Result<Self> {
        let tail = [&streams.output, &streams.errors].contains(&&Output::Tail);
        let tail = tail
            .then(|| rustix::fs::memfd_create("output", MemfdFlags::CLOEXEC))
            .transpose()?
            .map(File::from);
        let input = match &streams.input {
            Input::Null => None,
            Input::File(path) => Some(File::open(path).map_err(|error| named(path, &error))?),
        };
        let stdin = match &input {
            Some(file) => file.try_clone()?.into(),
            None => null()?,
        };
        let mut outputs = Vec::new();
        let mut open = |output: &Output| -> io::Result<Option<OwnedFd>> {
            Ok(match (output, &tail) {
                (Output::Inherit, _) => None,
                (Output::Tail, Some(tail)) => Some(tail.try_clone()?.into()),
                (Output::Null | Output::Tail, _) => Some(null()?),
                (Output::File(path), _) => {
                    let file = File::create(path).map_err(|error| named(path, &error))?;
                    outputs.push(file.try_clone()?);
                    Some(file.into())
                }
            })
        };
        let stdio = [Some(stdin), open(&streams.output)?, open(&streams.errors)?];
        let launch = Launch::new(&invocation.program, &invocation.argv, stdio)?;
        Ok(Self { launch, input, outputs, tail: Tail(tail) })
    }

    /// The same in another directory, with other variables.
    ///
    /// # Errors
    /// EINVAL where a word holds a NUL, or a variable's name an equals sign.
    pub fn within(self, surroundings: &Surroundings) -> io::Result<Self> {
        Ok(Self { launch: self.launch.within(surroundings)?, ..self })
    }

    /// Runs it once, to its end.
    ///
    /// # Errors
    /// As execve(2) gives them.
    pub fn run(&mut self) -> io::Result<Timed> {
        self.rewind()?;
        self.run_rewound()
    }

    /// Takes the streams back to their starts, which the time of a run has no part in.
    pub(crate) fn rewind(&mut self) -> io::Result<()> {
        if let Some(input) = &self.input {
            match rustix::fs::seek(input, rustix::fs::SeekFrom::Start(0)) {
                // A pipe has no start.
                Ok(_) | Err(Errno::SPIPE) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        for file in self.outputs.iter().chain(&self.tail.0) {
            if rustix::fs::tell(file).is_ok_and(|written| written > 0) {
                rustix::fs::ftruncate(file, 0)?;
                rustix::fs::seek(file, rustix::fs::SeekFrom::Start(0))?;
            }
        }
        Ok(())
    }

    /// The run itself, after [`Self::rewind`].
    pub(crate) fn run_rewound(&mut self) -> io::Result<Timed> {
        self.launch.time()
    }

    /// Starts it, from the starts of its streams; the caller waits for it.
    ///
    /// # Errors
    /// As execve(2) gives them.
    pub fn start(&mut self) -> io::Result<Running> {
        self.rewind()?;
        let started = Instant::now();
        Ok(Running { pid: self.launch.start()?, started })
    }

    /// For a tracer, which starts it in its own way; and what will have been written to streams that are kept.
    pub fn into_launch(self) -> (Launch, Tail) {
        (self.launch, self.tail)
    }

    /// The end of what the last run wrote to streams that are kept.
    pub fn tail(&self) -> Vec<u8> {
        self.tail.bytes()
    }
}

/// What a command wrote to streams of which the end is kept.
#[derive(Debug)]
pub struct Tail(Option<File>);

impl Tail {
    /// The end of it.
    pub fn bytes(&self) -> Vec<u8> {
        let Some(tail) = &self.0 else { return Vec::new() };
        let size = tail.metadata().map_or(0, |metadata| metadata.len());
        let from = size.saturating_sub(TAIL_BYTES);
        let mut bytes = vec![0; (size - from) as usize];
        let read = tail.read_at(&mut bytes, from).unwrap_or(0);
        bytes.truncate(read);
        bytes
    }
}

fn null() -> io::Result<OwnedFd> {
    Ok(File::options().read(true).write(true).open("/dev/null")?.into())
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use hotset_facts::ExitStatus;

    use super::*;
    use crate::shell::Shell;
    use crate::test_support::Scratch;

    fn shell(line: &str, streams: &Streams) -> Command {
        Command::new(&Shell::of_hooks().run(line.as_ref()), streams).expect("ready")
    }

    #[test]
    fn the_end_of_what_was_written_is_kept_and_only_of_the_last_run() {
        let streams = Streams { output: Output::Tail, ..Streams::default() };
        let mut command = shell("echo out; echo err >&2; exit 3", &streams);
        for _ in 0..2 {
            assert_eq!(command.run().expect("run").exit, ExitStatus::Code(3));
            assert_eq!(command.tail(), b"out\nerr\n");
        }
        let mut command = shell("yes | head -c 100000; echo end", &streams);
        command.run().expect("run");
        let tail = command.tail();
        assert_eq!((tail.len() as u64, tail.ends_with(b"end\n")), (TAIL_BYTES, true));
    }

    #[test]
    fn input_starts_anew_and_output_is_emptied_for_each_run() {
        let scratch = Scratch::new();
        let (from, to) = (scratch.file("in", b"words\n"), scratch.path("out"));
        let streams = Streams {
            input: Input::File(from),
            output: Output::File(to.clone()),
            ..Streams::default()
        };
        let mut command = shell("cat", &streams);
        for _ in 0..3 {
            command.run().expect("run");
            assert_eq!(std::fs::read(&to).expect("output"), b"words\n");
        }
        let missing = Streams { input: Input::File("/nonexistent".into()), ..Streams::default() };
        let error = Command::new(&Shell::of_hooks().run("".as_ref()), &missing);
        assert!(error.expect_err("missing").to_string().contains("/nonexistent"));
    }

    #[test]
    fn a_script_that_names_no_interpreter_is_the_shells() {
        let scratch = hotset_tests::Scratch::new("no-interpreter");
        let path = scratch.script("script", "exit $1\n");
        let invocation = Invocation { program: path, argv: vec!["script".into(), "4".into()] };
        let mut command = Command::new(&invocation, &Streams::default()).expect("ready");
        for _ in 0..2 {
            assert_eq!(command.run().expect("run").exit, ExitStatus::Code(4));
        }
    }
}
