//! Starting a command and staying with it to its end, under the sensor or without.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;
use std::time::Instant;

use hotset_lab::Invocation;
use hotset_observe::{DRAIN_INTERVAL, Session};
use hotset_sys::child::{Attendant, Ended, Running, Signals, supervise};
use hotset_sys::launch::Launch;

use crate::exit::{Exit, Stop};
use crate::output;

/// Starts a command with hotset's own standard streams.
///
/// # Errors
/// With the exit code that env(1) would give.
pub(crate) fn start(command: &Invocation) -> Result<Running, Stop> {
    let started = Instant::now();
    let pid = Launch::new(&command.program, &command.argv, [None, None, None])
        .and_then(|mut launch| launch.start());
    pid.map(|pid| Running { pid, started }).map_err(|error| {
        let exit = exit_of(&error);
        let hint = match exit {
            Exit::NotFound => " (of it, or of the interpreter in its first line)",
            _ => "",
        };
        Stop::new(exit, format_args!("{}: {error}{hint}", command.program.display()))
    })
}

/// The exit code that env(1) would give where a program can't be executed.
pub(crate) fn exit_of(error: &io::Error) -> Exit {
    match error.kind() {
        io::ErrorKind::NotFound => Exit::NotFound,
        _ => Exit::NotExecutable,
    }
}

/// Stays with a command under the sensor to its end, and keeps the ring from filling up.
pub(crate) fn stay_observed(
    session: &mut Session,
    command: Running,
    signals: Option<&Signals>,
) -> io::Result<Ended> {
    let mut draining = Draining { session, trouble: None };
    let ended = supervise(command, signals, DRAIN_INTERVAL, &mut draining);
    if let Some(trouble) = draining.trouble {
        output::say(trouble);
    }
    ended
}

struct Draining<'a> {
    session: &'a mut Session,
    /// The first error.
    trouble: Option<String>,
}

impl Attendant for Draining<'_> {
    fn readable(&self) -> Option<BorrowedFd<'_>> {
        Some(self.session.readable())
    }

    fn attend(&mut self) -> ControlFlow<()> {
        if let Err(error) = self.session.drain() {
            self.trouble.get_or_insert(error.to_string());
        }
        ControlFlow::Continue(())
    }
}
