//! An experiment from its first file to its last sample.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use hotset_facts::units::nanos;
use hotset_facts::{Decision, FileSet, FilledBy, LabCell, LabSession, StopReason, WantedState};

use super::conditions::Watch;
use super::count::CallCounter;
use super::fill::{Filler, set_of};
use super::place::Place;
use super::plan::ExperimentPlan;
use super::progress::{LabProgress, Watcher, rounds_to_run};
use super::sample::{cells_of, expects_of};
use super::scratch::ScratchError;
use super::{gates, prepare, scratch};
use crate::rounds::{self, Outcome};
use crate::schedule::Order;

/// Why an experiment has no result.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// There is no room, or no directory.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// A file can't be made.
    #[error("can't make the test files: {0}")]
    Prepare(io::Error),
    /// A probe can't be started.
    #[error("can't run {program}: {error}")]
    Start {
        /// What was to be executed.
        program: String,
        /// What the system said.
        error: io::Error,
    },
    /// A state can't be set on this host or by this user.
    #[error("can't set the cache state: {0}")]
    State(String),
}

/// What a run of an experiment needs beside its plan.
pub struct Bench<'a> {
    /// The version of hotset.
    pub version: String,
    /// Where it works.
    pub place: Place,
    /// The words that run a native probe, before the job: this binary and its hidden subcommand.
    pub native: Vec<OsString>,
    /// The seed of the orders.
    pub seed: u64,
    /// How often a sample that doesn't count is made again in its round.
    pub max_repeats: u32,
    /// How long samples are made again at most, from the beginning on.
    pub repeats_for: Duration,
    /// Counts calls in runs apart; none where that is not wanted or not possible.
    pub counter: Option<&'a mut CallCounter<'a>>,
    /// Sees how far it is.
    pub watcher: &'a mut (dyn Watcher + 'a),
    /// Set when it should end.
    pub stop: &'a AtomicBool,
}

/// Runs an experiment. Ends early, with what there is so far, when `stop` is set.
///
/// # Errors
/// Where there is no room, or where files, probes or states are not possible at all. A probe that fails is a sample that
/// says so.
pub fn run_experiment(
    plan: ExperimentPlan,
    bench: Bench<'_>,
) -> Result<LabSession, ExperimentError> {
    let started_at = SystemTime::now();
    let Place { directory, free_bytes, .. } = &bench.place;
    scratch::require_room(directory, plan.needs_bytes(), *free_bytes)?;
    let watch = Watch::begin(&bench.place);
    let mut running = Running::new(plan, bench, watch);
    running.tell("making files", 0);
    let made = prepare::prepare(&running.plan.prepare, running.bench.stop)
        .map_err(ExperimentError::Prepare)?;
    running.all(made, started_at)
}

/// Fewer rounds with valid samples have no 95 % interval from order statistics.
const INTERVAL_ROUNDS: usize = 6;

/// An experiment that runs.
pub(super) struct Running<'a> {
    pub(super) plan: ExperimentPlan,
    pub(super) bench: Bench<'a>,
    watch: Watch,
    /// The files of each planned cell.
    pub(super) sets: Vec<FileSet>,
    pub(super) filler: Filler,
    /// The cells that each planned one becomes.
    pub(super) cells: Vec<Vec<LabCell>>,
    /// Calls of a run of a planned cell, by who counted them.
    pub(super) calls: HashMap<usize, u64>,
    began: Instant,
    rounds_done: u32,
    /// From the beginning to the first round.
    before_first: Duration,
    in_rounds: Duration,
    round_began: Instant,
}

impl rounds::Cells for Running<'_> {
    type Error = ExperimentError;

    fn count(&self) -> usize {
        self.plan.cells.len()
    }

    fn decide(&mut self, rounds: u32) -> Decision {
        if self.stopped() {
            return Decision::Stop(StopReason::Interrupted);
        }
        if rounds > 0 {
            self.watch.look();
            self.in_rounds += self.round_began.elapsed();
            self.rounds_done = rounds;
        }
        self.round_began = Instant::now();
        match rounds < self.rounds() || self.makes_up(rounds) {
            true => Decision::GoOn,
            false => Decision::Stop(StopReason::RunsDone),
        }
    }

    fn run(&mut self, place: rounds::Place) -> Result<Outcome, ExperimentError> {
        if place.repeat == 0 {
            let id = self.cells.get(place.cell).and_then(|cells| cells.first());
            let id = id.map(|cell| cell.id.clone()).unwrap_or_default();
            self.tell(&id, place.position as usize);
        }
        let outcome = self.run_cell(place.cell, place.round)?;
        let in_time = self.began.elapsed() < self.bench.repeats_for;
        let again = matches!(outcome, Outcome::Again);
        Ok(if again && !in_time { Outcome::Counts } else { outcome })
    }
}

impl<'a> Running<'a> {
    fn new(plan: ExperimentPlan, bench: Bench<'a>, watch: Watch) -> Self {
        let cells = plan.cells.iter().map(|cell| cells_of(plan.experiment, cell)).collect();
        Self {
            plan,
            bench,
            watch,
            sets: Vec::new(),
            filler: Filler::default(),
            cells,
            calls: HashMap::new(),
            began: Instant::now(),
            rounds_done: 0,
            before_first: Duration::ZERO,
            in_rounds: Duration::ZERO,
            round_began: Instant::now(),
        }
    }

    pub(super) fn stopped(&self) -> bool {
        self.bench.stop.load(Ordering::Relaxed)
    }

    fn rounds(&self) -> u32 {
        rounds_to_run(self.plan.rounds, self.rounds_done, self.before_first, self.in_rounds)
    }

    /// Whether one more round than planned is worth it: a cell would have no interval because samples of it were excluded.
    fn makes_up(&self, rounds: u32) -> bool {
        let in_time = self.began.elapsed() < self.bench.repeats_for.saturating_mul(2);
        let beyond = rounds.saturating_sub(self.rounds());
        let lacks_rounds = |cell: &LabCell| {
            let valid = cell.samples.iter().filter(|sample| sample.is_valid());
            let rounds: HashSet<u32> = valid.map(|sample| sample.round).collect();
            (1..INTERVAL_ROUNDS).contains(&rounds.len())
        };
        rounds >= INTERVAL_ROUNDS as u32
            && beyond < self.plan.rounds.made_up
            && in_time
            && self.cells.iter().flatten().any(lacks_rounds)
    }

    fn all(mut self, made: bool, started_at: SystemTime) -> Result<LabSession, ExperimentError> {
        if made {
            self.sets = self.plan.cells.iter().map(|cell| set_of(&cell.files)).collect();
            self.touch_files()?;
            self.count_calls()?;
            self.before_first = self.began.elapsed();
            let (order, repeats) = (Order::new(self.bench.seed), self.bench.max_repeats);
            let stop = self.bench.stop;
            rounds::run(&mut self, order, repeats, stop)?;
        }
        Ok(self.session(started_at))
    }

    /// Reads and evicts each file once: in a virtual machine, memory that the host has not backed yet would make the first
    /// samples slow.
    fn touch_files(&mut self) -> Result<(), ExperimentError> {
        let mut seen = HashSet::new();
        for (cell, set) in self.plan.cells.iter().zip(&mut self.sets) {
            let fresh = cell.state == WantedState::Cold && seen.insert(cell.files.clone());
            if !fresh || self.bench.stop.load(Ordering::Relaxed) {
                continue;
            }
            self.filler
                .reach(WantedState::Warm, FilledBy::LargeFolios, set)
                .and_then(|_| self.filler.reach(WantedState::Cold, FilledBy::Nothing, set))
                .map_err(ExperimentError::State)?;
        }
        Ok(())
    }

    /// Tells how far it is.
    pub(super) fn tell(&mut self, doing: &str, samples_done: usize) {
        let (rounds, samples) = (self.rounds(), self.plan.cells.len());
        let left = (self.rounds_done > 0).then(|| {
            let a_round = self.in_rounds / self.rounds_done;
            let all = a_round * rounds.saturating_sub(self.rounds_done);
            all.saturating_sub(self.round_began.elapsed())
        });
        self.bench.watcher.progress(&LabProgress {
            experiment: self.plan.experiment,
            doing,
            rounds_done: self.rounds_done,
            rounds,
            samples_done,
            samples,
            left,
        });
    }

    fn session(mut self, started_at: SystemTime) -> LabSession {
        for (plan, cells) in self.plan.cells.iter().zip(&mut self.cells) {
            for (cell, expects) in cells.iter_mut().zip(expects_of(plan)) {
                gates::slow_pages(&mut cell.samples, expects.inserted_pages);
            }
        }
        let (took, interrupted) = (self.began.elapsed(), self.stopped());
        LabSession {
            version: self.bench.version.clone(),
            experiment: self.plan.experiment.to_owned(),
            started_at,
            took_ns: nanos(took),
            environment: hotset_sys::environment(&[self.bench.place.dev], &[]),
            conditions: self.watch.finish(took),
            size: self.plan.size,
            seed: self.bench.seed,
            rounds: self.rounds_done,
            interrupted,
            cells: self.cells.into_iter().flatten().collect(),
            skipped: self.plan.skipped,
            facts: self.plan.facts,
        }
    }
}

#[cfg(test)]
mod tests;
