//! `hotset bench`: from words to commands, the session, and its end.

mod baseline;
mod commands;
mod session;
mod stop_policy;

use hotset_facts::ExitStatus;
use hotset_lab::LabError;
use hotset_watch::LearnError;

use crate::exit::{Exit, Stop};
use crate::interrupt;

pub(crate) use session::bench;

/// Why nothing could be learned.
fn not_learned(error: LearnError) -> Stop {
    match error {
        LearnError::Lab(error) => no_result(error),
        LearnError::Failed { name, exit, output_tail } => {
            failed(Exit::Command(exit), &name, exit, &output_tail)
        }
        LearnError::Interrupted => interrupted(),
        other => Stop::own(other),
    }
}

/// Why there is no result.
fn no_result(error: LabError) -> Stop {
    match error {
        LabError::HookFailed { hook, name, exit, output_tail } => {
            let name = format!("the {} command of {name}", hook.as_str());
            failed(Exit::Own, &name, exit, &output_tail)
        }
        LabError::Start { error: ref refused, .. } => Stop::new(Exit::of_start(refused), error),
        other => Stop::own(other),
    }
}

/// Ctrl-C before there is a result.
fn interrupted() -> Stop {
    Stop::new(interrupt::exit(), "interrupted before anything was measured")
}

/// A command failed before anything was measured: its name, how it ended, and the end of what it wrote.
fn failed(exit: Exit, name: &str, ended: ExitStatus, tail: &[u8]) -> Stop {
    Stop::new(exit, hotset_view::bench::failure(name, ended, tail).trim_end())
}
