//! Which files a command uses, and what it does with them.

mod observed;
mod traced;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use hotset_facts::{ExitStatus, FileSet, LearnedBy, LearnedIo, Observed, Reason, WantedState};
use hotset_lab::{
    Candidate, CommandPlan, Hook, IgnoredFailures, LabError, Learned, States, build, from_paths,
    leaves_files,
};
use hotset_sys::trace::TraceError;

use crate::{RunError, Say};

/// A command that takes longer, and leaves no files that it made, is learned in one run.
const CHEAP: Duration = Duration::from_secs(5);
/// A state with more of its pages wrong is another one, in thousandths.
const WRONG_PER_MILLE: u64 = 1;

/// What one run of a command showed.
struct Seen {
    candidates: Vec<Candidate>,
    io: Observed<LearnedIo>,
    exit: ExitStatus,
    tail: Vec<u8>,
    wall: Duration,
    /// What may be missing or in the way.
    notes: Vec<String>,
}

/// How to learn.
#[derive(Debug)]
pub struct Learner<'a> {
    /// Files that were named; then nothing is run.
    pub given: &'a [PathBuf],
    /// Why there is no sensor, once that is known, or that none is wanted.
    pub no_sensor: Option<String>,
    /// Learn from a command that fails, too.
    pub ignored_failures: &'a IgnoredFailures,
    /// Some wanted state is set on files.
    pub needs_files: bool,
    /// Don't tell that there is no sensor.
    pub quiet: bool,
    /// Set by Ctrl-C.
    pub stop: &'a AtomicBool,
    /// Hears what may be missing or in the way.
    pub say: Say,
}

/// Why nothing was learned of a command.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// The command, what surrounds it or a state is not possible.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// Its run under the sensor failed for another reason than the sensor or its start: it can't be waited for.
    #[error(transparent)]
    Run(#[from] RunError),
    /// It failed.
    #[error("{name} failed")]
    Failed {
        /// What people call it.
        name: String,
        /// How it ended.
        exit: ExitStatus,
        /// The end of what it wrote.
        output_tail: Vec<u8>,
    },
    /// Neither way of learning is allowed, and a state has to be set on its files.
    #[error(
        "the files of {0} can't be learned here; name them with --files, or ask for --state as-is"
    )]
    NoWay(String),
    /// A file that was named is not there.
    #[error("--files {}: {error}", path.display())]
    Given {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Stopped before it was done.
    #[error("interrupted")]
    Interrupted,
}

/// What one traced run of a command showed.
pub(crate) struct LearnedByTracing {
    pub(crate) candidates: Vec<Candidate>,
    /// What may be missing or in the way.
    pub(crate) notes: Vec<String>,
}

/// Learns a command's files by one traced run as things are; where it is `enough`, that is killed. The inner error says that tracing is
/// refused; the command did not run then.
pub(crate) fn learn_by_tracing(
    plan: &CommandPlan,
    enough: &mut dyn FnMut() -> bool,
) -> Result<Result<LearnedByTracing, TraceError>, LabError> {
    let prepare = || plan.run_hook(Hook::Prepare).map(|()| WantedState::AsIs);
    let ran = traced::run(plan, prepare, enough)?;
    Ok(ran.map(|Seen { candidates, notes, .. }| LearnedByTracing { candidates, notes }))
}

fn exists(path: &Path) -> Result<(), LearnError> {
    let found = std::fs::metadata(path).map(drop);
    found.map_err(|error| LearnError::Given { path: path.to_owned(), error })
}

impl Learner<'_> {
    /// Learns one command: from a run as things are and, where that is cheap or made files, from another one that begins cold.
    ///
    /// # Errors
    /// Where the command or what surrounds it fails, where nothing can be learned that is needed, and after Ctrl-C.
    pub fn learn(&mut self, plan: &CommandPlan) -> Result<Learned, LearnError> {
        if !self.given.is_empty() {
            // What makes them before each run may not have run yet.
            if plan.hooks.prepare.is_none() {
                self.given.iter().try_for_each(|path| exists(path))?;
            }
            return Ok(self.given());
        }
        let began = SystemTime::now();
        let Some((by, first)) = self.run(plan, None)? else {
            return self.nothing(plan);
        };
        let mut candidates = first.candidates;
        let mut set = build(by, &candidates, Some(began));
        let (mut io, mut notes) = (first.io, first.notes);
        if (first.wall <= CHEAP || leaves_files(&candidates, began))
            // Nothing is changed for a state that changes nothing.
            && let Some((_, second)) = self.run(plan, self.needs_files.then_some(&mut set))?
        {
            // What the first run made, such as compiled modules, is the second one's input.
            candidates.extend(second.candidates);
            let stuck = set;
            set = build(by, &candidates, Some(began));
            keep_what_stays(&mut set, &stuck);
            (io, notes) = (second.io, second.notes);
        }
        notes.iter().for_each(|note| (self.say)(note));
        Ok(Learned { set, io })
    }

    fn given(&self) -> Learned {
        let (candidates, unreadable) = from_paths(self.given.to_vec(), self.stop);
        let mut set = build(LearnedBy::Given, &candidates, None);
        set.unreadable.extend(unreadable);
        let io = Observed::Missing(Reason::not_measured("the files were named, not learned"));
        Learned { set, io }
    }

    /// A state that is set on no files needs none.
    fn nothing(&self, plan: &CommandPlan) -> Result<Learned, LearnError> {
        if self.needs_files {
            return Err(LearnError::NoWay(plan.command.name.clone()));
        }
        let io = Observed::Missing(Reason::denied("neither the sensor nor tracing is allowed"));
        Ok(Learned { set: build(LearnedBy::Nothing, &[], None), io })
    }

    /// One run, from cold files where there are some. Nothing where neither way of learning is allowed.
    fn run(
        &mut self,
        plan: &CommandPlan,
        mut cold: Option<&mut FileSet>,
    ) -> Result<Option<(LearnedBy, Seen)>, LearnError> {
        let mut prepare = || {
            plan.run_hook(Hook::Prepare)?;
            match cold.as_deref_mut() {
                Some(set) => made_cold(set),
                None => Ok(WantedState::AsIs),
            }
        };
        let mut seen = None;
        if self.no_sensor.is_none() {
            match observed::run(plan, self.say, &mut prepare)? {
                Ok(found) => seen = Some((LearnedBy::Sensor, found)),
                Err(error) => self.go_without_sensor(error.to_string()),
            }
        }
        if seen.is_none() {
            let mut enough = || self.stop.load(Ordering::Relaxed);
            match traced::run(plan, &mut prepare, &mut enough)? {
                Ok(found) => seen = Some((LearnedBy::Trace, found)),
                Err(error) => {
                    (self.say)(&error);
                    return Ok(None);
                }
            }
        }
        if self.stop.load(Ordering::Relaxed) {
            return Err(LearnError::Interrupted);
        }
        if let Some((_, Seen { exit, tail, .. })) = &seen
            && self.ignored_failures.is_failure(*exit)
        {
            let (name, output_tail) = (plan.command.name.clone(), tail.clone());
            return Err(LearnError::Failed { name, exit: *exit, output_tail });
        }
        plan.run_hook(Hook::Conclude)?;
        Ok(seen)
    }

    fn go_without_sensor(&mut self, why: String) {
        if !self.quiet {
            (self.say)(&format_args!("files are learned by tracing, without the sensor: {why}"));
        }
        self.no_sensor = Some(why);
    }
}

/// Evicts the files, and says whether that was reached.
fn made_cold(set: &mut FileSet) -> Result<WantedState, LearnError> {
    let (reached, ()) =
        States::default().reach(WantedState::Cold, set, || ()).map_err(LabError::State)?;
    let is_cold = reached.value().is_some_and(|reached| {
        let left = reached.cached_pages.saturating_sub(reached.stuck_pages);
        left.saturating_mul(1000) <= reached.pages.saturating_mul(WRONG_PER_MILLE)
    });
    Ok(if is_cold { WantedState::Cold } else { WantedState::AsIs })
}

fn keep_what_stays(set: &mut FileSet, before: &FileSet) {
    for member in &mut set.members {
        let same = before.members.iter().find(|other| other.id == member.id);
        member.cannot_evict = same.and_then(|other| other.cannot_evict);
    }
}
