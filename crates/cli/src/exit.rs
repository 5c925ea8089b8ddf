//! How hotset ends: its exit codes, as env(1) and timeout(1) have them for a command that they run, and its errors.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use hotset_facts::ExitStatus;

/// How hotset ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All done.
    Success,
    /// hotset failed.
    Failure,
    /// Bad usage.
    Usage,
    /// A benchmark or an experiment is slower than it may be.
    Slower,
    /// hotset itself failed where its code stands for a command's.
    Own,
    /// The command can't be executed.
    NotExecutable,
    /// There is no such command.
    NotFound,
    /// The command's own end, passed on.
    Command(ExitStatus),
}

impl Exit {
    /// What env(1) gives where a program can't be executed.
    pub(crate) fn of_start(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound,
            _ => Self::NotExecutable,
        }
    }

    /// The number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::Slower => 123,
            Self::Own => 125,
            Self::NotExecutable => 126,
            Self::NotFound => 127,
            Self::Command(ExitStatus::Code(code)) => u8::try_from(code & 0xff).unwrap_or(u8::MAX),
            Self::Command(ExitStatus::Signal(signal)) => {
                128_u8.saturating_add(u8::try_from(signal).unwrap_or(0))
            }
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// Why a command ends before it is done: what the user is told, once, where the command was called from; and the exit code.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) exit: Exit,
    pub(crate) message: String,
}

impl Stop {
    /// With an exit code and a message.
    pub(crate) fn new(exit: Exit, message: impl Display) -> Self {
        Self { exit, message: message.to_string() }
    }

    /// Something that should have been typed differently.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Something that was typed to be run and can't be: with the exit code that env(1) would give.
    pub(crate) fn not_runnable(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::InvalidInput => Self::usage(error),
            _ => Self::new(Exit::of_start(&error), error),
        }
    }

    /// Something that hotset could not do, where its exit code stands for a command's.
    pub(crate) fn own(message: impl Display) -> Self {
        Self::new(Exit::Own, message)
    }

    /// The same where the exit code is never a command's, so that there is no need to tell them apart.
    pub(crate) fn of_hotset(self) -> Self {
        let exit = if self.exit == Exit::Own { Exit::Failure } else { self.exit };
        Self { exit, ..self }
    }
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Self {
        Self::new(Exit::Failure, format_args!("{error:#}"))
    }
}

/// Gives an error the exit code that it ends hotset with.
pub(crate) trait OrExit<T> {
    /// The value, or the error's words with this exit code.
    fn or_exit(self, exit: Exit) -> Result<T, Stop>;
}

impl<T, E: Display> OrExit<T> for Result<T, E> {
    fn or_exit(self, exit: Exit) -> Result<T, Stop> {
        self.map_err(|error| Stop::new(exit, format_args!("{error:#}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_128_and_its_number() {
        assert_eq!(Exit::Command(ExitStatus::Signal(15)).code(), 143);
        assert_eq!(Exit::Command(ExitStatus::Code(3)).code(), 3);
    }

    #[test]
    fn an_error_is_told_with_its_causes() {
        let error = || anyhow::anyhow!("no such file").context("a.json");
        let stop = Stop::from(error());
        assert_eq!((stop.exit, stop.message.as_str()), (Exit::Failure, "a.json: no such file"));
        let stop = Err::<(), _>(error()).or_exit(Exit::Own).expect_err("an error");
        assert_eq!((stop.exit, stop.message.as_str()), (Exit::Own, "a.json: no such file"));
    }
}
