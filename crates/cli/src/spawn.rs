//! Starting a command and staying with it to its end.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use hotset_facts::Pid;
use hotset_sys::child::{self, Signals, Usage};
use hotset_sys::launch;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::exit::{Exit, Stop};
use crate::plan::Program;

/// "Exec format error", errno(3).
const ENOEXEC: i32 = 8;

/// A command that runs.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) pid: Pid,
    pub(crate) started: Instant,
}

/// How a command ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    pub(crate) usage: Usage,
    pub(crate) wall: Duration,
}

/// Starts a command.
///
/// # Errors
/// With the exit code that env(1) would give.
pub(crate) fn start(program: &Program) -> Result<Running, Stop> {
    let started = Instant::now();
    let mut born = launch::spawn(&program.path, &program.argv);
    if born.as_ref().is_err_and(|error| error.raw_os_error() == Some(ENOEXEC)) {
        // A script without a first line that names its interpreter is the shell's, as execvp(3) has it.
        let shell = [OsString::from("/bin/sh"), program.path.clone().into_os_string()];
        let words: Vec<OsString> =
            shell.into_iter().chain(program.argv.iter().skip(1).cloned()).collect();
        born = launch::spawn(Path::new("/bin/sh"), &words);
    }
    match born {
        Ok(pid) => Ok(Running { pid, started }),
        Err(error) => {
            let exit = match error.kind() {
                io::ErrorKind::NotFound => Exit::NotFound,
                _ => Exit::NotExecutable,
            };
            let hint = if exit == Exit::NotFound {
                " (of it, or of the interpreter in its first line)"
            } else {
                ""
            };
            Err(Stop::new(exit, format_args!("{}: {error}{hint}", program.path.display())))
        }
    }
}

/// Waits for the end of a command, passes signals on, and calls `tend` now and then and whenever `readable` is.
///
/// # Errors
/// Where the command can't be waited for.
pub(crate) fn stay(
    running: &Running,
    signals: &Signals,
    tick: Duration,
    mut tend: impl FnMut(),
    readable: Option<BorrowedFd<'_>>,
    at_end: impl FnOnce(),
) -> io::Result<Ended> {
    let pidfd = child::pidfd(running.pid)?;
    loop {
        let ready = wait_for(&pidfd, signals, readable, tick)?;
        while let Some(arrived) = signals.next() {
            // The terminal's Ctrl-C has reached the command already, as it did us.
            if !arrived.from_terminal {
                let _ = child::send_signal(&pidfd, arrived.signal);
            }
        }
        if ready {
            break;
        }
        tend();
    }
    let wall = running.started.elapsed();
    at_end();
    Ok(Ended { usage: child::reap(running.pid)?, wall })
}

/// Sleeps until something happens; true when the process has ended.
pub(crate) fn wait_for(
    pidfd: &impl AsFd,
    signals: &Signals,
    readable: Option<BorrowedFd<'_>>,
    tick: Duration,
) -> io::Result<bool> {
    let mut fds = vec![PollFd::new(pidfd, PollFlags::IN), PollFd::new(signals, PollFlags::IN)];
    if let Some(fd) = &readable {
        fds.push(PollFd::new(fd, PollFlags::IN));
    }
    let timeout = Timespec::try_from(tick).ok();
    match poll(&mut fds, timeout.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(!fds[0].revents().is_empty()),
        Err(error) => Err(error.into()),
    }
}
