//! A command as it is planned, with what runs around it, and why it can't be run.

use std::io;
use std::path::PathBuf;

use hotset_facts::{BenchCommand, ExitStatus, FileSet, LearnedIo, Observed};

use crate::command::{Command, Invocation, Output, Streams, Surroundings};
use crate::hooks::{Hook, Hooks};

/// A command and all that its runs need.
#[derive(Debug, Clone)]
pub struct CommandPlan {
    /// Its name, words and parameters.
    pub command: BenchCommand,
    /// The program behind its first word.
    pub program: PathBuf,
    /// Its standard streams.
    pub streams: Streams,
    /// What is run around it.
    pub hooks: Hooks,
    /// Where it and they run.
    pub surroundings: Surroundings,
}

/// What is known of a command before its first run.
#[derive(Debug, Clone)]
pub struct Learned {
    /// Its files.
    pub set: FileSet,
    /// What the sensor saw of it.
    pub io: Observed<LearnedIo>,
}

/// Why a command can't be run.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A standard stream of a command can't be opened; its name, and the file.
    #[error("can't run {name}: {error}")]
    Streams {
        /// What people call it.
        name: String,
        /// Names the file.
        error: io::Error,
    },
    /// A command can't be started; its name, and the kernel's answer.
    #[error("can't run {name}: {error}")]
    Start {
        /// What people call it.
        name: String,
        /// What the system said.
        error: io::Error,
    },
    /// A hook can't be started.
    #[error("can't run the {} command: {error}", hook.as_str())]
    HookStart {
        /// The command that was to run around the runs.
        hook: Hook,
        /// What the system said.
        error: io::Error,
    },
    /// A hook failed.
    #[error("the {} command of {name} failed; it must end with code 0", hook.as_str())]
    HookFailed {
        /// The command that was to run around the runs.
        hook: Hook,
        /// What people call the command that it belongs to.
        name: String,
        /// How it ended.
        exit: ExitStatus,
        /// The end of what it wrote.
        output_tail: Vec<u8>,
    },
    /// A state can't be set on this host or by this user.
    #[error("can't set the cache state: {0}")]
    State(String),
}

impl CommandPlan {
    /// Opens the streams and makes all ready.
    ///
    /// # Errors
    /// Names the file that can't be opened.
    pub fn ready(&self) -> Result<Command, LabError> {
        let (program, argv) = (self.program.clone(), self.command.argv.clone());
        Command::new(&Invocation { program, argv }, &self.streams)
            .and_then(|command| command.within(&self.surroundings))
            .map_err(|error| LabError::Streams { name: self.command.name.clone(), error })
    }

    /// That the command can't be started.
    pub fn not_started(&self, error: io::Error) -> LabError {
        LabError::Start { name: self.command.name.clone(), error }
    }

    /// Runs a hook of this command once, if there is one.
    ///
    /// # Errors
    /// Where it can't be started or fails, with its last words.
    pub fn run_hook(&self, hook: Hook) -> Result<(), LabError> {
        let Some(invocation) = self.hooks.of(hook) else { return Ok(()) };
        let streams = Streams { output: Output::Tail, ..Streams::default() };
        let not_started = |error| LabError::HookStart { hook, error };
        let command = Command::new(invocation, &streams);
        let mut command =
            command.and_then(|command| command.within(&self.surroundings)).map_err(not_started)?;
        match command.run().map_err(not_started)?.exit {
            ExitStatus::Code(0) => Ok(()),
            exit => {
                let (name, output_tail) = (self.command.name.clone(), command.tail());
                Err(LabError::HookFailed { hook, name, exit, output_tail })
            }
        }
    }
}
