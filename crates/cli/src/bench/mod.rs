//! `hotset bench`: from words to commands, the learning of their files, the session, and its end.

mod commands;
mod learn;
mod sensor;
mod session;
mod shell;
mod stop_policy;
mod traced;

use hotset_facts::ExitStatus;

use crate::exit::{Exit, Stop};
use crate::interrupt;

pub(crate) use session::bench;

/// Ctrl-C before there is a result.
fn interrupted() -> Stop {
    Stop::new(interrupt::exit(), "interrupted before anything was measured")
}

/// A command failed before anything was measured: its name, how it ended, and the end of what it wrote.
fn failed(exit: Exit, name: &str, ended: ExitStatus, tail: &[u8]) -> Stop {
    Stop::new(exit, hotset_view::bench::failure(name, ended, tail).trim_end())
}
