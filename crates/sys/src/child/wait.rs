//! Sleeping until something happens that is worth waking up for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::Signals;

/// What ends a sleep before its time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wait<'a> {
    /// A signal arrives.
    pub signals: Option<&'a Signals>,
    /// This process ends, by its pidfd.
    pub process: Option<BorrowedFd<'a>>,
    /// There is something to read here.
    pub readable: Option<BorrowedFd<'a>>,
    /// Nobody reads any more what is written here.
    pub output: Option<BorrowedFd<'a>>,
}

/// What a caller can't ask elsewhere. [`Signals::next`] tells signals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Woken {
    /// The process has ended.
    pub has_ended: bool,
    /// Nobody reads the output.
    pub is_unread: bool,
}

impl Wait<'_> {
    /// Sleeps for at most `time`.
    ///
    /// # Errors
    /// As poll(2) gives them; not where a signal interrupts the sleep.
    pub fn at_most(&self, time: Duration) -> io::Result<Woken> {
        let signals = self.signals.map(AsFd::as_fd);
        // The kernel tells errors and hang-ups also of what was asked for nothing.
        let wanted = [
            (self.process, PollFlags::IN),
            (self.output, PollFlags::empty()),
            (signals, PollFlags::IN),
            (self.readable, PollFlags::IN),
        ];
        let mut fds: Vec<PollFd<'_>> = wanted
            .into_iter()
            .filter_map(|(fd, events)| Some(PollFd::from_borrowed_fd(fd?, events)))
            .collect();
        match poll(&mut fds, Timespec::try_from(time).ok().as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(Woken::default()),
            Err(error) => return Err(error.into()),
        }
        let mut happened = fds.iter().map(|fd| !fd.revents().is_empty());
        let mut next = |fd: Option<BorrowedFd<'_>>| fd.is_some() && happened.next() == Some(true);
        Ok(Woken { has_ended: next(self.process), is_unread: next(self.output) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn the_end_of_a_process_and_of_a_reader_are_told_apart() {
        let mut child = std::process::Command::new("true").spawn().expect("true");
        let pidfd = super::super::pidfd(child.id()).expect("pidfd");
        let (reader, writer) = io::pipe().expect("a pipe");
        let wait = Wait { process: Some(pidfd.as_fd()), ..Wait::default() };
        assert_eq!(wait.at_most(LONG).expect("wait"), Woken { has_ended: true, is_unread: false });
        child.wait().expect("reaped");
        let wait = Wait { output: Some(writer.as_fd()), ..Wait::default() };
        assert_eq!(wait.at_most(Duration::from_millis(1)).expect("wait"), Woken::default());
        drop(reader);
        assert_eq!(wait.at_most(LONG).expect("wait"), Woken { has_ended: false, is_unread: true });
    }

    #[test]
    fn something_to_read_ends_a_sleep() {
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(writer);
        let wait = Wait { readable: Some(reader.as_fd()), ..Wait::default() };
        assert_eq!(wait.at_most(LONG).expect("wait"), Woken::default());
    }
}
