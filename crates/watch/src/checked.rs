//! Commands one after the other under one sensor, whose start takes longer than many a command.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use hotset_facts::{
    ExitStatus, FileSet, LearnedBy, Observed, Profile, Reason, StateReached, WantedState,
};
use hotset_lab::{CommandPlan, Hook, Invocation, LabError, States, build, from_rows};
use hotset_observe::{Observation, ObserveError, Options, Scope, Session};
use hotset_sys::child::{Ended, Running};

use crate::children::{bury, follow, observe_sites};
use crate::fallback::run_command;
use crate::run::{assemble, observed_command};
use crate::sites::counting;
use crate::{RunError, Say};

/// Why a command was not checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The command, what surrounds it or a state is not possible.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// It can't be followed or waited for.
    #[error(transparent)]
    Run(#[from] RunError),
    /// What the sensor counted can't be read; the command has run.
    #[error("there are no counts: {0}")]
    Counts(#[from] ObserveError),
}

/// A run of a command.
#[derive(Debug)]
pub struct CheckedRun {
    /// What it did.
    pub profile: Profile,
    /// How it ended.
    pub exit: ExitStatus,
    /// Why it was killed, with all processes that it had started.
    pub killed: Option<Killed>,
    /// The state that it began in; a reason where none was asked for.
    pub reached: Observed<StateReached>,
    /// The end of what it wrote.
    pub tail: Vec<u8>,
}

/// Why a run was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Killed {
    /// It took too long.
    TimedOut,
    /// Ctrl-C.
    Interrupted,
}

/// How commands are run.
#[derive(Debug, Clone, Copy)]
pub struct CheckOptions<'a> {
    /// The cache state that the run begins in.
    pub state: WantedState,
    /// How long it may take.
    pub timeout: Duration,
    /// Set by Ctrl-C.
    pub stop: &'a AtomicBool,
}

/// Runs commands, each counted by itself.
pub struct Checker {
    session: Option<Session>,
    /// Why there is no sensor.
    refused: Option<String>,
    options: Options,
    say: Say,
}

impl Checker {
    /// Loads the sensor, unless there is a reason not to. So many `files` of a run keep rows of their own. With `sites` each run has the
    /// code that asked, and a sensor of its own: records can't be told apart by the run that they are of.
    pub fn start(no_sensor: Option<String>, files: u32, sites: bool, say: Say) -> Self {
        let options = Options {
            files: files as usize,
            record: sites.then(counting::options),
            ..Options::new(Scope::Children)
        };
        let mut checker = Self { session: None, refused: no_sensor, options, say };
        checker.load();
        checker
    }

    /// Why commands run without the sensor, if they do.
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    fn load(&mut self) {
        if self.session.is_some() || self.refused.is_some() {
            return;
        }
        match Session::start(self.options.clone()) {
            Ok(session) => {
                if let Some(limited) = session.limited() {
                    (self.say)(limited);
                }
                self.session = Some(session);
            }
            Err(error) => self.refused = Some(error.to_string()),
        }
    }

    /// Finds out which files a command uses, by a run of it as things are.
    ///
    /// # Errors
    /// As [`Checker::run`] has them.
    pub fn learn(
        &mut self,
        plan: &CommandPlan,
        options: &CheckOptions<'_>,
    ) -> Result<(FileSet, CheckedRun), CheckError> {
        let began = SystemTime::now();
        let mut nothing = build(LearnedBy::Nothing, &[], None);
        let as_is = CheckOptions { state: WantedState::AsIs, ..*options };
        let run = self.run(plan, &mut nothing, &as_is)?;
        let candidates = from_rows(&run.profile.files);
        Ok((build(LearnedBy::Sensor, &candidates, Some(began)), run))
    }

    /// Runs a command once, from the state that is set on `files`.
    ///
    /// # Errors
    /// Where the command did not run, can't be waited for, or where what it did can't be read.
    pub fn run(
        &mut self,
        plan: &CommandPlan,
        files: &mut FileSet,
        options: &CheckOptions<'_>,
    ) -> Result<CheckedRun, CheckError> {
        self.load();
        let mut command = plan.ready()?;
        plan.run_hook(Hook::Prepare)?;
        let reached = match options.state {
            WantedState::AsIs => Observed::Missing(Reason::not_measured("no state was asked for")),
            // Last before the start: some hosts evict idle pages within seconds.
            state => States::default().reach(state, files, || ()).map_err(LabError::State)?.0,
        };
        let ends = Instant::now() + options.timeout;
        let mut killed = None;
        let mut enough = || {
            killed = if options.stop.load(Ordering::Relaxed) {
                Some(Killed::Interrupted)
            } else {
                (Instant::now() >= ends).then_some(Killed::TimedOut)
            };
            killed.is_some()
        };
        let counted = self.counted(plan, || command.start(), &mut enough);
        let (profile, exit) = counted.map_err(|error| match error {
            CheckError::Run(RunError::Start(error)) => plan.not_started(error).into(),
            other => other,
        })?;
        Ok(CheckedRun { profile, exit, killed, reached, tail: command.tail() })
    }

    fn counted(
        &mut self,
        plan: &CommandPlan,
        start: impl FnOnce() -> std::io::Result<Running>,
        enough: &mut dyn FnMut() -> bool,
    ) -> Result<(Profile, ExitStatus), CheckError> {
        let program = Invocation { program: plan.program.clone(), argv: plan.command.argv.clone() };
        let started_at = SystemTime::now();
        let Some(session) = self.session.take() else {
            let why = self.refused.as_deref().unwrap_or("it was not loaded");
            let (profile, ended) = run_command(&program, why, None, start, enough)?;
            return Ok((profile, ended.exit));
        };
        let (ended, observation, sites) = if self.options.record.is_some() {
            observe_sites(session, None, self.say, start, enough)?
        } else {
            let (ended, observation) = self.followed(session, start, enough)?;
            (ended, observation, None)
        };
        let command = observed_command(&program, &ended, &observation);
        let profile = Profile { sites, ..assemble(started_at, command, observation) };
        Ok((profile, ended.exit))
    }

    /// Under the session that all commands share.
    fn followed(
        &mut self,
        mut session: Session,
        start: impl FnOnce() -> std::io::Result<Running>,
        enough: &mut dyn FnMut() -> bool,
    ) -> Result<(Ended, Observation), CheckError> {
        let ended = match follow(&mut session, None, self.say, start, enough) {
            Ok(ended) => ended,
            Err(RunError::Start(error)) => {
                // Nothing ran that it could have counted.
                self.session = Some(session);
                return Err(RunError::Start(error).into());
            }
            Err(error) => return Err(error.into()),
        };
        if ended.was_killed {
            bury(&mut session)?;
        }
        session.drain()?;
        let observation = if session.live_processes().is_empty() {
            let observation = session.take()?;
            self.session = Some(session);
            observation
        } else {
            // What stays behind goes on being counted by this session, and must not be by the next command's.
            session.finish()?
        };
        Ok((ended, observation))
    }
}
