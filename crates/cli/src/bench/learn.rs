//! Which files a command uses, and what it does with them.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use hotset_facts::{ExitStatus, FileSet, LearnedBy, LearnedIo, Observed, Reason, WantedState};
use hotset_lab::{
    Candidate, Command, Hook, Invocation, Output, States, Streams, build, from_paths,
};

use super::commands::Planned;
use super::{sensor, traced};
use crate::exit::{Exit, Stop};
use crate::output;
use crate::supervise::exit_of;

/// A command that takes longer is learned in one run.
const CHEAP: Duration = Duration::from_secs(5);
/// A state with more of its pages wrong is another one, in thousandths.
const WRONG_PER_MILLE: u64 = 1;

/// What one run of a command showed.
pub(super) struct Seen {
    pub(super) candidates: Vec<Candidate>,
    pub(super) io: Observed<LearnedIo>,
    pub(super) exit: ExitStatus,
    pub(super) tail: Vec<u8>,
    pub(super) wall: Duration,
    /// What may be missing or in the way.
    pub(super) notes: Vec<String>,
}

/// What was learned of a command.
#[derive(Debug, Clone)]
pub(super) struct Learned {
    pub(super) set: FileSet,
    pub(super) io: Observed<LearnedIo>,
}

/// How to learn.
pub(super) struct Learner<'a> {
    /// Files that were named; then nothing is run.
    pub(super) given: &'a [PathBuf],
    pub(super) no_bpf: bool,
    pub(super) ignore_failure: bool,
    /// Some wanted state is set on files.
    pub(super) needs_files: bool,
    pub(super) quiet: bool,
    pub(super) stop: &'a AtomicBool,
    /// Why there is no sensor, once that is known.
    pub(super) no_sensor: Option<String>,
}

impl Learner<'_> {
    /// Learns one command: from a run as things are and, where that is cheap, from another one that begins cold.
    ///
    /// # Errors
    /// Where the command or what surrounds it fails, where nothing can be learned that is needed, and after Ctrl-C.
    pub(super) fn learn(&mut self, planned: &Planned) -> Result<Learned, Stop> {
        if !self.given.is_empty() {
            return Ok(self.given());
        }
        let began = SystemTime::now();
        let Some((by, first)) = self.run(planned, None)? else {
            return self.nothing(planned);
        };
        let mut candidates = first.candidates;
        let mut set = build(by, &candidates, Some(began));
        let (mut io, mut notes) = (first.io, first.notes);
        if first.wall <= CHEAP
            && let Some((_, second)) = self.run(planned, Some(&mut set))?
        {
            // What the first run made, such as compiled modules, is the second one's input.
            candidates.extend(second.candidates);
            let stuck = set;
            set = build(by, &candidates, Some(began));
            keep_what_stays(&mut set, &stuck);
            (io, notes) = (second.io, second.notes);
        }
        notes.iter().for_each(output::say);
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
    fn nothing(&self, planned: &Planned) -> Result<Learned, Stop> {
        if self.needs_files {
            return Err(Stop::own(format_args!(
                "the files of {} can't be learned here; name them with --files, or ask for --state as-is",
                planned.command.name
            )));
        }
        let io = Observed::Missing(Reason::denied("neither the sensor nor tracing is allowed"));
        Ok(Learned { set: build(LearnedBy::Nothing, &[], None), io })
    }

    /// One run, from cold files where there are some. Nothing where neither way of learning is allowed.
    fn run(
        &mut self,
        planned: &Planned,
        mut cold: Option<&mut FileSet>,
    ) -> Result<Option<(LearnedBy, Seen)>, Stop> {
        let mut prepare = || {
            hook(planned, Hook::Prepare, planned.hooks.prepare.as_ref())?;
            match cold.as_deref_mut() {
                Some(set) => made_cold(set),
                None => Ok(WantedState::AsIs),
            }
        };
        let mut seen = None;
        if self.no_sensor.is_none() && !self.no_bpf {
            match sensor::run(planned, &mut prepare)? {
                Ok(found) => seen = Some((LearnedBy::Sensor, found)),
                Err(error) => self.go_without_sensor(error.to_string()),
            }
        }
        if seen.is_none() {
            match traced::run(planned, &mut prepare)? {
                Ok(found) => seen = Some((LearnedBy::Trace, found)),
                Err(error) => {
                    output::say(error);
                    return Ok(None);
                }
            }
        }
        if self.stop.load(Ordering::Relaxed) {
            return Err(super::interrupted());
        }
        if let Some((_, seen)) = &seen
            && seen.exit != ExitStatus::Code(0)
            && !self.ignore_failure
        {
            let name = &planned.command.name;
            return Err(super::failed(Exit::Command(seen.exit), name, seen.exit, &seen.tail));
        }
        hook(planned, Hook::Conclude, planned.hooks.conclude.as_ref())?;
        Ok(seen)
    }

    fn go_without_sensor(&mut self, why: String) {
        if !self.quiet {
            output::say(format_args!("files are learned by tracing, without the sensor: {why}"));
        }
        self.no_sensor = Some(why);
    }
}

/// Evicts the files, and says whether that was reached.
fn made_cold(set: &mut FileSet) -> Result<WantedState, Stop> {
    let (reached, ()) =
        States::default().reach(WantedState::Cold, set, || ()).map_err(Stop::own)?;
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

/// Runs what surrounds a command.
///
/// # Errors
/// Where it fails, with its last words.
pub(super) fn hook(
    planned: &Planned,
    which: Hook,
    invocation: Option<&Invocation>,
) -> Result<(), Stop> {
    let Some(invocation) = invocation else { return Ok(()) };
    let streams = Streams { output: Output::Tail, ..Streams::default() };
    let mut command = Command::new(invocation, &streams).map_err(Stop::own)?;
    let ran = command.run().map_err(|error| {
        Stop::own(format_args!("can't run the {} command: {error}", which.as_str()))
    })?;
    match ran.exit {
        ExitStatus::Code(0) => Ok(()),
        exit => {
            let name = format!("the {} command of {}", which.as_str(), planned.command.name);
            Err(super::failed(Exit::Own, &name, exit, &command.tail()))
        }
    }
}

/// With the exit code that env(1) would give.
pub(super) fn not_started(planned: &Planned, error: &io::Error) -> Stop {
    Stop::new(exit_of(error), format_args!("can't run {}: {error}", planned.command.name))
}
