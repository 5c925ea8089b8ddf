//! Staying with a child to its end: signals are passed on to it, and somebody is called meanwhile.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use hotset_facts::{ExitStatus, Pid};
use rustix::process::{Signal, pidfd_send_signal};

use super::{Signals, Usage, Wait, pidfd, reap, send_signal};

/// A child that runs.
#[derive(Debug, Clone, Copy)]
pub struct Running {
    /// Its PID.
    pub pid: Pid,
    /// Right before it was started.
    pub started: Instant,
}

/// How a child ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    /// Its status.
    pub exit: ExitStatus,
    /// What it used.
    pub usage: Usage,
    /// From its start to its end.
    pub wall: Duration,
    /// Whether the attendant had it killed.
    pub was_killed: bool,
}

/// Is called while a child runs.
pub trait Attendant {
    /// A descriptor for which it wants to be called as soon as it is readable.
    fn readable(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// How long it can be left alone at the most.
    fn tick(&self) -> Duration {
        Duration::MAX
    }

    /// Called at every tick, and when the descriptor is readable or a signal arrived. `Break` kills the child.
    fn attend(&mut self) -> ControlFlow<()>;
}

impl<F: FnMut() -> ControlFlow<()>> Attendant for F {
    fn attend(&mut self) -> ControlFlow<()> {
        self()
    }
}

/// Waits for the end of a child and reaps it. Signals that somebody sent are passed on; those of the terminal reached the
/// child by themselves.
///
/// # Errors
/// Where the child can't be waited for.
pub fn supervise(
    child: Running,
    signals: Option<&Signals>,
    tick: Duration,
    attendant: &mut dyn Attendant,
) -> io::Result<Ended> {
    let pidfd = pidfd(child.pid)?;
    let mut was_killed = false;
    loop {
        let process = Some(pidfd.as_fd());
        let wait = Wait { signals, process, readable: attendant.readable(), output: None };
        let woken = wait.at_most(tick.min(attendant.tick()))?;
        while let Some(arrived) = signals.and_then(Signals::next) {
            if !arrived.from_terminal {
                let _ = send_signal(&pidfd, arrived.signal);
            }
        }
        if woken.has_ended {
            break;
        }
        if attendant.attend().is_break() {
            let _ = pidfd_send_signal(&pidfd, Signal::KILL);
            was_killed = true;
            break;
        }
    }
    let wall = child.started.elapsed();
    let (exit, usage) = reap(child.pid)?;
    Ok(Ended { exit, usage, wall, was_killed })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const TICK: Duration = Duration::from_millis(5);

    fn shell(line: &str) -> Running {
        let words = ["sh".into(), "-c".into(), line.into()];
        let started = Instant::now();
        Running { pid: crate::launch::spawn(Path::new("/bin/sh"), &words).expect("sh"), started }
    }

    #[test]
    fn the_attendant_is_called_until_the_end() {
        let mut calls = 0;
        let mut counting = || {
            calls += 1;
            ControlFlow::Continue(())
        };
        let ended = supervise(shell("sleep 0.1; exit 7"), None, TICK, &mut counting).expect("end");
        assert_eq!((ended.exit, ended.was_killed), (ExitStatus::Code(7), false));
        assert!(ended.wall >= Duration::from_millis(100));
        assert!(calls > 0);
    }

    #[test]
    fn a_child_that_is_no_longer_wanted_is_killed() {
        let mut enough = || ControlFlow::Break(());
        let ended = supervise(shell("exec sleep 1000"), None, TICK, &mut enough).expect("end");
        assert_eq!(
            (ended.exit, ended.was_killed),
            (ExitStatus::Signal(Signal::KILL.as_raw()), true)
        );
    }
}
