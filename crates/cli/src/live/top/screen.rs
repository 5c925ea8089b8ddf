//! The loop around a screen: keys, signals, time; whoever shows something is called when it is due.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use hotset_facts::ExitStatus;
use hotset_sys::child::Signals;
use hotset_view::tui::{App, Effect, Input, Step};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Signal;

use super::terminal::{self, Screen};
use crate::exit::Exit;

/// How soon a screen that could not be drawn is tried again.
const RETRY: Duration = Duration::from_millis(20);

/// Who gives a screen something to show.
pub(super) trait Feed {
    /// How long until it has something, or wants to be called.
    fn left(&self) -> Duration;

    /// A descriptor that makes it wanting to be called.
    fn readable(&self) -> Option<BorrowedFd<'_>>;

    /// Called when time is up, and more often. True: there is something new on the screen.
    fn turn(&mut self, app: &mut App) -> Result<bool>;

    /// Another interval.
    fn set_interval(&mut self, ns: u64);

    /// Another frame of a recording.
    fn go(&mut self, step: Step, app: &mut App) -> Result<()>;
}

/// Signals that a screen has to know of, beside those that end a program.
const MORE_SIGNALS: [i32; 2] = [SIGTSTP, SIGCONT];
const SIGTSTP: i32 = Signal::TSTP.as_raw();
const SIGCONT: i32 = Signal::CONT.as_raw();

/// Holds the signals back that a screen takes by itself.
pub(super) fn hold_signals() -> Result<Signals> {
    use anyhow::Context;
    Signals::hold_also(&MORE_SIGNALS).context("signals can't be held back")
}

/// Shows until somebody ends it.
pub(super) fn show(app: &mut App, feed: &mut dyn Feed, signals: &Signals) -> Result<Exit> {
    let mut screen = Screen::take()?;
    let mut stale = true;
    loop {
        if stale && screen.is_ready() {
            screen.draw(app)?;
            stale = false;
        }
        let left = if stale { feed.left().min(RETRY) } else { feed.left() };
        if !wait(feed, signals, left)? {
            return Ok(Exit::Failure);
        }
        while let Some(arrived) = signals.next() {
            match arrived.signal {
                SIGTSTP => suspend(&mut screen, app)?,
                SIGCONT => resume(&mut screen, app)?,
                signal => return Ok(Exit::Command(ExitStatus::Signal(signal))),
            }
            stale = true;
        }
        while let Some(input) = terminal::next_input()? {
            stale = true;
            match app.input(&input) {
                Effect::None => {}
                Effect::Quit => return Ok(Exit::Success),
                Effect::Suspend => suspend(&mut screen, app)?,
                Effect::Interval(ns) => feed.set_interval(ns),
                Effect::Replay(step) => feed.go(step, app)?,
            }
        }
        stale |= feed.turn(app)?;
    }
}

/// Waits for a key, a signal, the feed, or until time is up; false where the terminal is gone.
fn wait(feed: &dyn Feed, signals: &Signals, left: Duration) -> Result<bool> {
    let stdin = rustix::stdio::stdin();
    let mut fds = vec![PollFd::new(&stdin, PollFlags::IN), PollFd::new(signals, PollFlags::IN)];
    if let Some(fd) = feed.readable() {
        fds.push(PollFd::from_borrowed_fd(fd, PollFlags::IN));
    }
    match poll(&mut fds, Timespec::try_from(left).ok().as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => bail!("waiting: {error}"),
    }
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    Ok(!fds[0].revents().intersects(gone) || !fds[1].revents().is_empty())
}

/// Gives the terminal to the shell, and takes it again when the shell lets this go on.
fn suspend(screen: &mut Screen, app: &mut App) -> Result<()> {
    screen.leave();
    let this = rustix::process::getpid();
    // SIGTSTP itself is held back; this can't be.
    rustix::process::kill_process(this, Signal::STOP)?;
    let begun = Instant::now();
    // The stop takes effect before or soon after the call returns.
    while begun.elapsed() < Duration::from_millis(1) {
        std::hint::spin_loop();
    }
    resume(screen, app)
}

/// The shell may have changed what is on the terminal, how it works, and its size.
fn resume(screen: &mut Screen, app: &mut App) -> Result<()> {
    screen.enter()?;
    let (width, height) = terminal::size()?;
    app.input(&Input::Resize(width, height));
    Ok(())
}
