//! Going on in the background: hotset starts itself anew, because a process with threads can't be forked safely, and the
//! new one says through a socket in the place of its standard input when all is held.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use hotset_facts::ExitStatus;

use crate::exit::Exit;

/// What the new one is told.
const CHILD_FLAG: &str = "--daemon-child";

/// Starts the same command in the background and waits until it is ready or has ended; its words go where ours would.
pub(super) fn start() -> Result<Exit> {
    let (mut ours, theirs) = UnixStream::pair().context("a socket pair")?;
    let mut child = Command::new("/proc/self/exe")
        .args(words(std::env::args_os().skip(1)))
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .spawn()
        .context("starting hotset anew from /proc/self/exe")?;
    let mut code = [0];
    match ours.read(&mut code) {
        Ok(1) => Ok(if code[0] == 0 { Exit::Success } else { Exit::Failure }),
        // It has ended before it was ready, and has said why.
        _ => {
            let status = child.wait().context("waiting for hotset in the background")?;
            Ok(Exit::Command(ExitStatus::from_wait_status(status.into_raw())))
        }
    }
}

/// The flag goes right behind the command's own name, where no `--` can hide it.
fn words(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = args.collect();
    let place = words.iter().position(|word| word == "pin").map_or(0, |index| index + 1);
    words.insert(place, CHILD_FLAG.into());
    words
}

/// In the new one: leaves the terminal and the session of whoever started it.
pub(super) fn detach() -> Result<()> {
    rustix::process::setsid().context("setsid")?;
    Ok(())
}

/// In the new one: says how it went, and lets go of what belongs to whoever started it.
pub(super) fn ready(reached: bool) -> Result<()> {
    let socket = rustix::io::dup(rustix::stdio::stdin()).context("dup")?;
    let nowhere = File::options().read(true).write(true).open("/dev/null").context("/dev/null")?;
    rustix::stdio::dup2_stdin(&nowhere).context("dup2")?;
    rustix::stdio::dup2_stdout(&nowhere).context("dup2")?;
    rustix::stdio::dup2_stderr(&nowhere).context("dup2")?;
    // No directory of its own that could not be unmounted.
    std::env::set_current_dir("/").context("/")?;
    // Ctrl-C while files were warmed ended whoever waits: then nobody wants this any more.
    File::from(socket).write_all(&[u8::from(!reached)]).context("nobody waits for this")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_comes_before_anything_that_could_be_a_path() {
        let typed = ["pin", "--daemon", "--", "--odd name", "pin"].map(OsString::from);
        let wanted = ["pin", "--daemon-child", "--daemon", "--", "--odd name", "pin"];
        assert_eq!(words(typed.into_iter()), wanted.map(OsString::from));
    }
}
