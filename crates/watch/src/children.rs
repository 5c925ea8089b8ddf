//! A program under the sensor, from its start to its end.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use hotset_facts::{CallSites, ExitStatus, Pid};
use hotset_lab::Invocation;
use hotset_observe::{DRAIN_INTERVAL, Observation, ObserveError, Session};
use hotset_sys::child::{Attendant, Ended, Running, Signals, pidfd, send_signal, supervise};
use hotset_sys::launch::Launch;

use crate::Say;
use crate::recording::Recorder;
use crate::sites::counting::{self, Counted};

/// How long processes that were killed may take to end, and how often that is looked at.
const DEATH: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(5);

/// Why the run of a program gave no facts.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Signals can't be held back from this process. The program did not run.
    #[error("signals can't be held back: {0}")]
    Signals(io::Error),
    /// The sensor can't be loaded, or can't follow the program, which did not run.
    #[error(transparent)]
    Sensor(ObserveError),
    /// The trace of a recording can't be written. The program did not run.
    #[error(transparent)]
    Trace(crate::WriteTraceError),
    /// Call sites can't be found. The program did not run.
    #[error("call sites: {0:#}")]
    Sites(anyhow::Error),
    /// The program can't be executed.
    #[error(transparent)]
    Start(io::Error),
    /// The program can't be waited for.
    #[error("waiting for the command: {0}")]
    Wait(io::Error),
    /// The program ran to its end, and what the sensor counted can't be read.
    #[error("{error}")]
    Report {
        /// How the program ended.
        exit: ExitStatus,
        /// What the sensor said.
        error: ObserveError,
    },
}

/// Starts a program with this process's own standard streams.
pub(crate) fn start(program: &Invocation) -> io::Result<Running> {
    let started = Instant::now();
    let mut launch = Launch::new(&program.program, &program.argv, [None, None, None])?;
    Ok(Running { pid: launch.start()?, started })
}

/// Stays with what `start` starts to its end, and keeps the sensor's ring from filling up.
pub(crate) fn observe(
    mut session: Session,
    signals: Option<&Signals>,
    say: Say,
    start: impl FnOnce() -> io::Result<Running>,
) -> Result<(Ended, Observation), RunError> {
    if let Some(limited) = session.limited() {
        say(limited);
    }
    let ended = follow(&mut session, signals, say, start, &mut || false)?;
    match session.finish() {
        Ok(observation) => Ok((ended, observation)),
        Err(error) => Err(RunError::Report { exit: ended.exit, error }),
    }
}

/// The same in a session that goes on. Where it is `enough`, all processes that it follows are killed.
pub(crate) fn follow(
    session: &mut Session,
    signals: Option<&Signals>,
    say: Say,
    start: impl FnOnce() -> io::Result<Running>,
    enough: &mut dyn FnMut() -> bool,
) -> Result<Ended, RunError> {
    let started = session.following_children(start).map_err(RunError::Sensor)?;
    let running = started.map_err(RunError::Start)?;
    let mut draining = Draining { session, failed: None, enough };
    let ended = supervise(running, signals, DRAIN_INTERVAL, &mut draining);
    if let Some(error) = draining.failed {
        say(&error);
    }
    ended.map_err(RunError::Wait)
}

/// Kills processes as far as they are still there.
pub(crate) fn kill(pids: &[Pid]) {
    const SIGKILL: i32 = 9;
    for &pid in pids {
        if let Ok(pidfd) = pidfd(pid) {
            let _ = send_signal(&pidfd, SIGKILL);
        }
    }
}

/// The same with the code that asked, in a session of its own. Where it is `enough`, all processes that it follows are killed.
pub(crate) fn observe_sites(
    session: Session,
    signals: Option<&Signals>,
    say: Say,
    start: impl FnOnce() -> io::Result<Running>,
    enough: &mut dyn FnMut() -> bool,
) -> Result<(Ended, Observation, Option<CallSites>), RunError> {
    if let Some(limited) = session.limited() {
        say(limited);
    }
    let mut recorder = counting::start(session, say).map_err(RunError::Sites)?;
    let started = recorder.session.following_children(start).map_err(RunError::Sensor)?;
    let running = started.map_err(RunError::Start)?;
    let mut counting = Counting { recorder: &mut recorder, enough };
    let ended = supervise(running, signals, DRAIN_INTERVAL, &mut counting);
    let ended = ended.map_err(RunError::Wait)?;
    if ended.was_killed {
        bury(&mut recorder.session)
            .map_err(|error| RunError::Report { exit: ended.exit, error })?;
    }
    match counting::finish(recorder) {
        Ok((observation, sites)) => Ok((ended, observation, sites)),
        Err(error) => Err(RunError::Report { exit: ended.exit, error }),
    }
}

/// Kills what a command that was killed leaves behind, and waits for its end.
pub(crate) fn bury(session: &mut Session) -> Result<(), ObserveError> {
    let until = Instant::now() + DEATH;
    loop {
        session.drain()?;
        let live = session.live_processes();
        if live.is_empty() || Instant::now() >= until {
            return Ok(());
        }
        kill(&live);
        std::thread::sleep(LOOK);
    }
}

/// Records of call sites are taken while a command runs.
struct Counting<'a> {
    recorder: &'a mut Recorder<Counted>,
    /// Says when not to wait for the end.
    enough: &'a mut dyn FnMut() -> bool,
}

impl Attendant for Counting<'_> {
    fn readable(&self) -> Option<BorrowedFd<'_>> {
        Attendant::readable(self.recorder)
    }

    fn tick(&self) -> Duration {
        self.recorder.tick()
    }

    fn attend(&mut self) -> ControlFlow<()> {
        if (self.enough)() {
            kill(&self.recorder.session.live_processes());
            return ControlFlow::Break(());
        }
        self.recorder.attend()
    }
}

struct Draining<'a> {
    session: &'a mut Session,
    /// The first error.
    failed: Option<ObserveError>,
    /// Says when not to wait for the end.
    enough: &'a mut dyn FnMut() -> bool,
}

impl Attendant for Draining<'_> {
    fn readable(&self) -> Option<BorrowedFd<'_>> {
        Some(self.session.readable())
    }

    fn attend(&mut self) -> ControlFlow<()> {
        if let Err(error) = self.session.drain() {
            self.failed.get_or_insert(error);
        }
        if (self.enough)() {
            kill(&self.session.live_processes());
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}
