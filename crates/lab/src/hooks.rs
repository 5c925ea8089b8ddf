//! Commands that are run around the measured one, untimed.

use crate::command::Invocation;

/// Which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hook {
    /// Once, before the first run of a command.
    Setup,
    /// Before each run, and before the state is set.
    Prepare,
    /// After each run.
    Conclude,
    /// Once, after the last run of a command.
    Cleanup,
}

impl Hook {
    /// The name of its option.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Setup => "--setup",
            Self::Prepare => "--prepare",
            Self::Conclude => "--conclude",
            Self::Cleanup => "--cleanup",
        }
    }
}

/// The hooks of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hooks {
    /// Once, before the first run.
    pub setup: Option<Invocation>,
    /// Before each run.
    pub prepare: Option<Invocation>,
    /// After each run.
    pub conclude: Option<Invocation>,
    /// Once, after the last run.
    pub cleanup: Option<Invocation>,
}

impl Hooks {
    /// The command of this hook, if there is one.
    pub fn of(&self, hook: Hook) -> Option<&Invocation> {
        match hook {
            Hook::Setup => self.setup.as_ref(),
            Hook::Prepare => self.prepare.as_ref(),
            Hook::Conclude => self.conclude.as_ref(),
            Hook::Cleanup => self.cleanup.as_ref(),
        }
    }
}
