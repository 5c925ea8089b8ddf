//! Exit codes, as env(1) and timeout(1) have them for a command that they run.

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
    /// The number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Usage => 2,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_128_and_its_number() {
        assert_eq!(Exit::Command(ExitStatus::Signal(15)).code(), 143);
        assert_eq!(Exit::Command(ExitStatus::Code(3)).code(), 3);
    }
}
