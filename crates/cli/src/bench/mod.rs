//! `hotset bench`: from words to commands, the learning of their files, the session, and its end.

mod commands;
mod learn;
mod referee;
mod sensor;
mod session;
mod shell;
mod traced;

use hotset_facts::ExitStatus;

use crate::exit::Exit;

pub(crate) use sensor::wait as sensor_wait;
pub(crate) use session::bench;

/// Why there is no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// hotset failed, or was asked for what can't be.
    Own(Exit, String),
    /// A command failed before anything was measured; its name, and the end of what it wrote.
    Command { name: String, exit: ExitStatus, tail: Vec<u8> },
    /// A command around it failed; which one.
    Around { name: String, exit: ExitStatus, tail: Vec<u8> },
    /// Ctrl-C before anything was measured.
    Interrupted,
}

impl From<(Exit, String)> for Failure {
    fn from((exit, why): (Exit, String)) -> Self {
        Self::Own(exit, why)
    }
}

impl Failure {
    /// Something that should have been typed differently.
    fn usage(why: impl Into<String>) -> Self {
        Self::Own(Exit::Usage, why.into())
    }

    /// Something that hotset could not do.
    fn own(why: impl std::fmt::Display) -> Self {
        Self::Own(Exit::Own, why.to_string())
    }
}
