//! Commands one after the other under one sensor, whose start takes longer than many a command.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use hotset_facts::{
    ExitStatus, FileSet, LearnedBy, Observed, Profile, Reason, StateReached, WantedState,
};
use hotset_lab::{Command, CommandPlan, Hook, Invocation, LabError, States, build, from_rows};
use hotset_observe::{Observation, ObserveError, Options, Scope, Session};
use hotset_sys::child::{Ended, Running};
use hotset_sys::trace::{TraceError, lookups_counted};

use crate::children::{bury, follow, observe_sites};
use crate::fallback::run_command;
use crate::learn::learn_by_tracing;
use crate::run::{assemble, observed_command};
use crate::sites::counting;
use crate::traced::{disturbed, profile};
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
    /// It was killed while it was traced, and did not end.
    #[error(transparent)]
    Trace(TraceError),
    /// Nothing can tell which files it uses.
    #[error(
        "its files can't be learned without the sensor ({sensor}), nor by tracing ({trace}); name them: files = [\"…\"]"
    )]
    CantLearn {
        /// Why there is no sensor.
        sensor: String,
        /// Why it can't be traced.
        trace: TraceError,
    },
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

/// When a run is over.
struct Until<'a> {
    stop: &'a AtomicBool,
    ends: Instant,
    killed: Option<Killed>,
}

impl<'a> Until<'a> {
    fn new(options: &CheckOptions<'a>) -> Self {
        Self { stop: options.stop, ends: Instant::now() + options.timeout, killed: None }
    }

    fn is_over(&mut self) -> bool {
        self.killed = if self.stop.load(Ordering::Relaxed) {
            Some(Killed::Interrupted)
        } else {
            (Instant::now() >= self.ends).then_some(Killed::TimedOut)
        };
        self.killed.is_some()
    }
}

/// Runs commands, each counted by itself: by the sensor, else by tracing, else as far as what every user may ask goes.
pub struct Checker {
    session: Option<Session>,
    /// Why there is no sensor.
    refused: Option<String>,
    /// Why commands can't be traced either, once that was tried.
    untraceable: Option<String>,
    options: Options,
    say: Say,
    /// What was told of commands, each once.
    told: HashSet<String>,
}

/// What a run did, how it ended, and the end of what it wrote.
type Ran = (Profile, ExitStatus, Vec<u8>);

impl Checker {
    /// Loads the sensor, unless there is a reason not to. So many `files` of a run keep rows of their own. With `sites` each run has the
    /// code that asked, and a sensor of its own: records can't be told apart by the run that they are of.
    pub fn start(no_sensor: Option<String>, files: u32, sites: bool, say: Say) -> Self {
        let options = Options {
            files: files as usize,
            record: sites.then(counting::options),
            ..Options::new(Scope::Children)
        };
        let (session, untraceable, told) = (None, None, HashSet::new());
        let mut checker = Self { session, refused: no_sensor, untraceable, options, say, told };
        checker.load();
        checker
    }

    /// Why commands run without the sensor, if they do.
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// Why commands are not traced in its place, if that was found out.
    pub fn untraceable(&self) -> Option<&str> {
        self.untraceable.as_deref()
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

    fn tell(&mut self, notes: Vec<String>) {
        for note in notes {
            if !self.told.contains(&note) {
                (self.say)(&note);
                self.told.insert(note);
            }
        }
    }

    /// Finds out which files a command uses, by a run of it as things are, and says why that run was killed, if it was.
    ///
    /// # Errors
    /// As [`Checker::run`] has them, and where neither the sensor nor tracing can be had.
    pub fn learn(
        &mut self,
        plan: &CommandPlan,
        options: &CheckOptions<'_>,
    ) -> Result<(FileSet, Option<Killed>), CheckError> {
        self.load();
        let began = SystemTime::now();
        if let Some(sensor) = self.refused.clone() {
            let mut until = Until::new(options);
            let learned = match learn_by_tracing(plan, &mut || until.is_over())? {
                Ok(learned) => learned,
                Err(stuck @ TraceError::Stuck) => return Err(CheckError::Trace(stuck)),
                Err(trace) => return Err(CheckError::CantLearn { sensor, trace }),
            };
            self.tell(learned.notes);
            let files = build(LearnedBy::Trace, &learned.candidates, Some(began));
            return Ok((files, until.killed));
        }
        let mut nothing = build(LearnedBy::Nothing, &[], None);
        let as_is = CheckOptions { state: WantedState::AsIs, ..*options };
        let run = self.run(plan, &mut nothing, &as_is)?;
        let candidates = from_rows(&run.profile.files);
        Ok((build(LearnedBy::Sensor, &candidates, Some(began)), run.killed))
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
        let command = plan.ready()?;
        plan.run_hook(Hook::Prepare)?;
        let reached = match options.state {
            WantedState::AsIs => Observed::Missing(Reason::not_measured("no state was asked for")),
            // Last before the start: some hosts evict idle pages within seconds.
            state => States::default().reach(state, files, || ()).map_err(LabError::State)?.0,
        };
        let mut until = Until::new(options);
        let mut enough = || until.is_over();
        let ran = match self.session.take() {
            Some(session) => self.counted(session, plan, command, &mut enough),
            None => self.without_sensor(plan, command, &mut enough),
        };
        let (profile, exit, tail) = ran.map_err(|error| match error {
            CheckError::Run(RunError::Start(error)) => plan.not_started(error).into(),
            other => other,
        })?;
        Ok(CheckedRun { profile, exit, killed: until.killed, reached, tail })
    }

    fn counted(
        &mut self,
        session: Session,
        plan: &CommandPlan,
        mut command: Command,
        enough: &mut dyn FnMut() -> bool,
    ) -> Result<Ran, CheckError> {
        let program = invocation(plan);
        let started_at = SystemTime::now();
        let (ended, observation, sites) = if self.options.record.is_some() {
            observe_sites(session, None, self.say, || command.start(), enough)?
        } else {
            let (ended, observation) = self.followed(session, || command.start(), enough)?;
            (ended, observation, None)
        };
        let words = observed_command(&program, &ended, &observation);
        let profile = Profile { sites, ..assemble(started_at, words, observation) };
        Ok((profile, ended.exit, command.tail()))
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

    fn without_sensor(
        &mut self,
        plan: &CommandPlan,
        mut command: Command,
        enough: &mut dyn FnMut() -> bool,
    ) -> Result<Ran, CheckError> {
        let program = invocation(plan);
        let mut why = self.refused.clone().unwrap_or_else(|| "it was not loaded".to_owned());
        if self.untraceable.is_none() {
            let started_at = SystemTime::now();
            let (launch, tail) = command.into_launch();
            match lookups_counted(launch, enough) {
                Ok(traced) => {
                    self.tell(disturbed(&plan.command.name, &traced));
                    let profile = profile(&program, started_at, &why, &traced);
                    return Ok((profile, traced.exit, tail.bytes()));
                }
                Err(TraceError::Execute(error)) => return Err(RunError::Start(error).into()),
                Err(stuck @ TraceError::Stuck) => return Err(CheckError::Trace(stuck)),
                Err(refused) => self.untraceable = Some(refused.to_string()),
            }
            command = plan.ready()?;
        }
        if let Some(untraceable) = &self.untraceable {
            why = format!("{why}; it can't be traced either: {untraceable}");
        }
        let place = plan.surroundings.directory.as_deref();
        let ran = run_command(&program, place, &why, None, || command.start(), enough)?;
        Ok((ran.0, ran.1.exit, command.tail()))
    }
}

fn invocation(plan: &CommandPlan) -> Invocation {
    Invocation { program: plan.program.clone(), argv: plan.command.argv.clone() }
}
