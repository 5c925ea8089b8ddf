//! Commands that are run around the measured one, untimed.

use std::io;

use hotset_facts::ExitStatus;

use crate::command::{Command, Invocation, Output, Streams};

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

/// How a hook failed.
#[derive(Debug)]
pub(crate) enum HookFailure {
    Start(io::Error),
    Exit(ExitStatus, Vec<u8>),
}

impl Hooks {
    /// Runs the hook, if there is one.
    pub(crate) fn run(&self, hook: Hook) -> Result<(), HookFailure> {
        let invocation = match hook {
            Hook::Setup => &self.setup,
            Hook::Prepare => &self.prepare,
            Hook::Conclude => &self.conclude,
            Hook::Cleanup => &self.cleanup,
        };
        let Some(invocation) = invocation else { return Ok(()) };
        let streams = Streams { output: Output::Tail, ..Streams::default() };
        let mut command = Command::new(invocation, &streams).map_err(HookFailure::Start)?;
        match command.run().map_err(HookFailure::Start)?.exit {
            ExitStatus::Code(0) => Ok(()),
            exit => Err(HookFailure::Exit(exit, command.tail())),
        }
    }
}
