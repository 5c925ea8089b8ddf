//! Going on in the background: this program starts itself anew, because a process with threads can't be forked safely, and
//! the new one says through a socket in the place of its standard input when it is ready.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};

use hotset_facts::ExitStatus;

/// What the new process is called.
const NAME: &str = "hotset";

/// What became of the new process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {
    /// It is ready, and gave this to [`ready`].
    Ready(u8),
    /// It ended before it was ready, and has said why.
    Ended(ExitStatus),
}

/// Starts this program in the background with these arguments, and waits until it is ready or has ended; what it prints
/// until then goes where ours would.
///
/// # Errors
/// Where it can't be started.
pub fn start(arguments: &[OsString]) -> io::Result<Started> {
    let (mut ours, theirs) = UnixStream::pair()?;
    let mut child = Command::new("/proc/self/exe")
        .arg0(NAME)
        .args(arguments)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .spawn()?;
    let mut code = [0];
    match ours.read(&mut code) {
        Ok(1) => Ok(Started::Ready(code[0])),
        _ => Ok(Started::Ended(ExitStatus::from_wait_status(child.wait()?.into_raw()))),
    }
}

/// In the new process: leaves the terminal and the session of whoever started it, and has the name that ps(1) and pgrep(1) know
/// this program by: the kernel calls it after /proc/self/exe.
///
/// # Errors
/// As setsid(2) gives them.
pub fn detach() -> io::Result<()> {
    rustix::thread::set_name(c"hotset")?;
    rustix::process::setsid()?;
    Ok(())
}

/// In the new process: says how it went, and lets go of what belongs to whoever started it.
///
/// # Errors
/// Where whoever started it waits no more.
pub fn ready(code: u8) -> io::Result<()> {
    let socket = rustix::io::dup(rustix::stdio::stdin())?;
    let nowhere = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nowhere)?;
    rustix::stdio::dup2_stdout(&nowhere)?;
    rustix::stdio::dup2_stderr(&nowhere)?;
    // No directory of its own that could not be unmounted.
    std::env::set_current_dir("/")?;
    // Ctrl-C before it was ready ended whoever waits: then nobody wants this any more.
    File::from(socket).write_all(&[code])
}
