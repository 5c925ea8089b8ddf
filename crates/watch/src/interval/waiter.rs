//! Waiting for the next deadline, and what can come before it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hotset_sys::child::{Signals, Wait};

use super::EndReason;

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// The time is up, or the source has something.
    Time,
    /// There is a reason to end.
    End(EndReason),
}

/// A clock that doesn't go backwards, and a way to sleep by it.
pub trait Waiter {
    /// The time since some moment.
    fn now(&self) -> Duration;

    /// Sleeps for at most so long, or until `readable` is, or until there is a reason to end.
    ///
    /// # Errors
    /// As poll(2) gives them.
    fn wait(&mut self, at_most: Duration, readable: Option<BorrowedFd<'_>>) -> Result<Woken>;
}

/// The real one: the monotonic clock, signals, and whoever else can end it.
#[derive(Debug)]
pub struct Waiting<'a> {
    begun: Instant,
    signals: &'a Signals,
    process: Option<&'a OwnedFd>,
    output: Option<BorrowedFd<'a>>,
}

impl<'a> Waiting<'a> {
    /// Ends at a signal.
    pub fn new(signals: &'a Signals) -> Self {
        Self { begun: Instant::now(), signals, process: None, output: None }
    }

    /// Ends also when this process does.
    pub fn until_end_of(mut self, pidfd: Option<&'a OwnedFd>) -> Self {
        self.process = pidfd;
        self
    }

    /// Ends also when nobody reads this descriptor any more.
    pub fn until_unread(mut self, output: BorrowedFd<'a>) -> Self {
        self.output = Some(output);
        self
    }
}

impl Waiter for Waiting<'_> {
    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn wait(&mut self, at_most: Duration, readable: Option<BorrowedFd<'_>>) -> Result<Woken> {
        let process = self.process.map(AsFd::as_fd);
        let wait = Wait { signals: Some(self.signals), process, readable, output: self.output };
        let woken = wait.at_most(at_most).context("waiting")?;
        Ok(match self.signals.next() {
            Some(arrived) => Woken::End(EndReason::Signal(arrived.signal)),
            None if woken.is_unread => Woken::End(EndReason::Unread),
            None if woken.has_ended => Woken::End(EndReason::Gone),
            None => Woken::Time,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_went_away_and_a_process_that_ended_are_noticed() {
        let signals = Signals::hold().expect("signals");
        let (reader, writer) = std::io::pipe().expect("pipe");
        let mut child = std::process::Command::new("true").spawn().expect("true");
        let pidfd = hotset_sys::child::pidfd(child.id()).expect("pidfd");
        let mut process = Waiting::new(&signals).until_end_of(Some(&pidfd));
        let woken = process.wait(Duration::from_secs(60), None).expect("wait");
        assert_eq!(woken, Woken::End(EndReason::Gone));
        child.wait().expect("reaped");
        let mut waiting = Waiting::new(&signals).until_unread(writer.as_fd());
        assert_eq!(waiting.wait(Duration::from_millis(1), None).expect("wait"), Woken::Time);
        drop(reader);
        let woken = waiting.wait(Duration::from_secs(60), None).expect("wait");
        assert_eq!(woken, Woken::End(EndReason::Unread));
    }

    #[test]
    fn the_source_wakes_it() {
        let signals = Signals::hold().expect("signals");
        let (reader, writer) = std::io::pipe().expect("pipe");
        drop(writer);
        let mut waiting = Waiting::new(&signals);
        let woken = waiting.wait(Duration::from_secs(3_600), Some(reader.as_fd())).expect("wait");
        assert_eq!(woken, Woken::Time);
    }
}
