//! Replays from the first copy to the last sample.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use hotset_facts::replay::{
    FileRole, ReplayChange, ReplayFiles, ReplayPattern, ReplayPlan, ReplaySample, ReplaySession,
    ReplayState, ReplayVariant,
};
use hotset_facts::trace::TraceHead;
use hotset_facts::units::nanos;
use hotset_facts::{Decision, StopReason};
use hotset_sys::cgroup::LimitedGroup;

use super::copies::{Copies, Made, Origin};
use super::place::elsewhere;
use super::process::Replayer;
use super::wire::{Ask, Replayed};
use super::{COPIES, KEPT, ReplayError};
use crate::experiment::require_room;
use crate::rounds::{self, Outcome};
use crate::schedule::Order;

/// Fewer rounds have no 95 % interval from order statistics.
const INTERVAL_ROUNDS: u32 = 6;

/// How far replays have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayProgress {
    /// Replays that are done.
    pub done: u32,
    /// Replays that there will be at most.
    pub all: u32,
}

/// What replays need beside plans.
pub struct ReplayBench<'a> {
    /// The version of hotset.
    pub version: String,
    /// The recording.
    pub trace: PathBuf,
    /// What it says of itself.
    pub head: TraceHead,
    /// Where records are missing in it.
    pub gaps: u64,
    /// The words of a program that calls [`super::serve`] for its standard streams, and for `root`.
    pub program: Vec<OsString>,
    /// Where the bytes of copies come from.
    pub source: ReplaySource,
    /// An empty directory to work in.
    pub directory: &'a Path,
    /// Bytes that are free there for this user.
    pub free_bytes: u64,
    /// From which states to replay.
    pub states: Vec<ReplayState>,
    /// Rounds at most.
    pub rounds: u32,
    /// No round begins after this, but for those that an interval takes.
    pub budget: Duration,
    /// The seed of the orders.
    pub seed: u64,
    /// The memory that a replay may use, page cache included; none for no limit.
    pub memory_limit_bytes: Option<u64>,
    /// Sees how far it is.
    pub progress: &'a mut dyn FnMut(ReplayProgress),
    /// Set when it should end.
    pub stop: &'a AtomicBool,
}

/// Where files of a recording are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplaySource {
    /// Below this directory, which is the root of the host or another; no symbolic link leads out of it.
    Below(PathBuf),
    /// Nowhere: all are made up. The plan has all of them on copies.
    Nowhere,
}

impl ReplaySource {
    pub(super) fn origin(&self) -> Result<Origin, ReplayError> {
        match self {
            Self::Nowhere => Ok(Origin::Nowhere),
            Self::Below(root) => match File::open(root) {
                Ok(root) => Ok(Origin::Below(root.into())),
                Err(error) => Err(ReplayError::Root { root: root.clone(), error }),
            },
        }
    }
}

/// A plan that a process has.
struct Loaded {
    variant: ReplayVariant,
    copies: Copies,
    replayer: Replayer,
}

/// Replays in rounds.
pub struct Replays<'a> {
    bench: ReplayBench<'a>,
    origin: Origin,
    group: Option<LimitedGroup>,
    loaded: Vec<Loaded>,
    session: ReplaySession,
    began: Instant,
    done: u32,
}

impl<'a> Replays<'a> {
    /// Nothing to replay yet.
    ///
    /// # Errors
    /// Where memory is to be limited and can't be, or the root of the files can't be opened.
    pub fn new(bench: ReplayBench<'a>) -> Result<Self, ReplayError> {
        let origin = bench.source.origin()?;
        let group = bench.memory_limit_bytes.map(LimitedGroup::make).transpose();
        let group = group.map_err(ReplayError::Limit)?;
        let session = ReplaySession {
            version: bench.version.clone(),
            started_at: SystemTime::now(),
            took_ns: 0,
            environment: hotset_sys::environment(&[], &[]),
            trace: bench.trace.clone(),
            head: bench.head.clone(),
            gaps: bench.gaps,
            threads: 0,
            recorded: hotset_facts::replay::PlanTotals::default(),
            left_out: std::collections::BTreeMap::new(),
            files: ReplayFiles::default(),
            memory_limit_bytes: bench.memory_limit_bytes,
            syscall_ns: hotset_sys::costs::table().map(|costs| costs.syscall_ns),
            seed: bench.seed,
            rounds: 0,
            interrupted: false,
            variants: Vec::new(),
            samples: Vec::new(),
        };
        Ok(Self {
            bench,
            origin,
            group,
            loaded: Vec::new(),
            session,
            began: Instant::now(),
            done: 0,
        })
    }

    /// Takes a plan: first that of the recording as it is, then those with `changes`, and what a picture shows of these. The plan itself
    /// goes to a process of its own, and takes no memory here.
    ///
    /// # Errors
    /// Where there is no room for its copies, or the process can't be started.
    pub fn add(
        &mut self,
        changes: Vec<ReplayChange>,
        pattern: Option<ReplayPattern>,
        plan: ReplayPlan,
    ) -> Result<(), ReplayError> {
        let copies = Copies::of(&plan);
        let written = plan.files.iter().filter(|file| file.role == FileRole::Copy);
        let ranges = written.flat_map(|file| &file.touched).map(|(begin, end)| end - begin);
        let needed = ranges.sum::<u64>().max(copies.bytes());
        if !copies.is_empty() {
            require_room(self.bench.directory, needed, self.bench.free_bytes)?;
        }
        if changes.is_empty() {
            self.session.files = files_of(&plan, self.bench.directory);
            self.session.recorded = plan.recorded;
            self.session.left_out = plan.left_out.clone();
            self.session.threads = plan.threads.len() as u64;
        }
        let (program, directory) = (&self.bench.program, self.bench.directory);
        let (group, stop) = (self.group.as_ref(), self.bench.stop);
        let started = Replayer::start(program, directory, &plan, group, stop)?;
        // A stop shows again before the first round.
        let Some((replayer, unfit)) = started else { return Ok(()) };
        if changes.is_empty() {
            self.session.files.unfit = unfit;
        }
        let variant = ReplayVariant { changes, steps: plan.steps(), pattern };
        self.loaded.push(Loaded { variant, copies, replayer });
        Ok(())
    }

    /// Replays all of them, once before the first round without counting it: what the host has to make ready once is no part of
    /// them. Ends early, with what there is so far, when it is to stop.
    ///
    /// # Errors
    /// Where copies can't be made, or a process ended.
    pub fn run(mut self) -> Result<ReplaySession, ReplayError> {
        let warmups = self.bench.states.first().copied();
        for at in 0..self.loaded.len() {
            if let Some(state) = warmups {
                self.replay(at, Ask { state, cpu_turn: self.cpu_turn(0) })?;
            }
        }
        self.began = Instant::now();
        let (order, stop) = (Order::new(self.bench.seed), self.bench.stop);
        let ended = rounds::run(&mut self, order, 0, stop)?;
        self.session.interrupted = ended == StopReason::Interrupted;
        let took = self.session.started_at.elapsed().unwrap_or_default();
        self.session.took_ns = nanos(took);
        self.session.variants = self.loaded.into_iter().map(|loaded| loaded.variant).collect();
        Ok(self.session)
    }

    /// Sessions of one round begin on other CPUs too.
    fn cpu_turn(&self, round: u32) -> u32 {
        (self.bench.seed as u32).wrapping_add(round)
    }

    /// Makes the copies anew and replays. Nothing where it is to stop.
    fn replay(&mut self, at: usize, ask: Ask) -> Result<Option<Replayed>, ReplayError> {
        let Some(loaded) = self.loaded.get_mut(at) else { return Ok(None) };
        let made = anew(&loaded.copies, self.bench.directory, &self.origin);
        let made = made.map_err(ReplayError::Copies)?;
        if loaded.variant.changes.is_empty() {
            let files = &mut self.session.files;
            files.copied_bytes = files.copied_bytes.max(made.bytes);
            files.made_up = files.made_up.max(made.made_up);
        }
        loaded.replayer.replay(ask, self.bench.stop)
    }
}

/// Empties the directory of copies, and makes them.
fn anew(copies: &Copies, directory: &Path, from: &Origin) -> io::Result<Made> {
    let (kept, directory) = (directory.join(KEPT), directory.join(COPIES));
    fs::create_dir_all(&kept)?;
    match fs::remove_dir_all(&directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => fs::create_dir(&directory)?,
    }
    if copies.is_empty() { Ok(Made::default()) } else { copies.make(&directory, &kept, from) }
}

fn files_of(plan: &ReplayPlan, directory: &Path) -> ReplayFiles {
    let count = |role| plan.files.iter().filter(|file| file.role == role).count() as u64;
    ReplayFiles {
        originals: count(FileRole::Original),
        copies: count(FileRole::Copy),
        elsewhere: elsewhere(plan, directory),
        ..ReplayFiles::default()
    }
}

impl rounds::Cells for Replays<'_> {
    type Error = ReplayError;

    fn count(&self) -> usize {
        self.loaded.len() * self.bench.states.len()
    }

    fn decide(&mut self, rounds: u32) -> Decision {
        self.session.rounds = rounds;
        if self.bench.stop.load(Ordering::Relaxed) {
            return Decision::Stop(StopReason::Interrupted);
        }
        let (took, budget) = (self.began.elapsed(), self.bench.budget);
        let is_late = match rounds {
            0 => false,
            // A host that is far slower than was thought ends it without an interval.
            1..INTERVAL_ROUNDS => took > budget.saturating_mul(2),
            _ => took > budget,
        };
        match rounds < self.bench.rounds && !is_late {
            true => Decision::GoOn,
            false => Decision::Stop(StopReason::RunsDone),
        }
    }

    fn run(&mut self, place: rounds::Place) -> Result<Outcome, ReplayError> {
        let states = self.bench.states.len().max(1);
        let (variant, state) = (place.cell / states, place.cell % states);
        let Some(state) = self.bench.states.get(state).copied() else { return Ok(Outcome::Counts) };
        let ask = Ask { state, cpu_turn: self.cpu_turn(place.round) };
        let Some(replayed) = self.replay(variant, ask)? else {
            return Ok(Outcome::Stop(StopReason::Interrupted));
        };
        self.done += 1;
        let all = self.bench.rounds * u32::try_from(rounds::Cells::count(self)).unwrap_or(0);
        (self.bench.progress)(ReplayProgress { done: self.done, all });
        self.session.samples.push(ReplaySample {
            variant,
            state,
            round: place.round,
            pages: replayed.pages,
            wall_ns: replayed.wall_ns,
            busy_ns: replayed.busy_ns,
            untimed_ns: replayed.untimed_ns,
            waited_ns: replayed.waited_ns,
            device_read_bytes: replayed.device_read_bytes,
            device_write_bytes: replayed.device_write_bytes,
            differences: replayed.differences,
            first_differences: replayed.first_differences,
        });
        Ok(Outcome::Counts)
    }
}
