//! A session as far as its cells are compared: times, what they were made of, and what makes all of them doubtful.

use std::collections::{BTreeMap, HashMap};

use hotset_facts::{LabBaselineCell, LabBaselineSample, LabBaselineSession, LabUnit};

use super::super::numbers::{of_rounds, per};
use crate::baseline::{Centre, Session, busy_share};
use crate::bench::{RatioEstimate, median};

/// What the medians of a cell differ by between sessions on a quiet host, as a standard deviation of their logarithms: more than those
/// of commands, as a cell is one kind of access to one file, and how that file lies in memory and on the device is another in each
/// session. docs/experiments.md says what it follows from.
pub const CELL_SPREAD: f64 = 0.03;

/// User and system time are each told in whole microseconds.
const CPU_RESOLUTION_NS: f64 = 2_000.0;

/// Files that are made anew, such as archives of a runtime, are not the same to the page.
const SAME_PAGES: f64 = 0.01;

/// What a sample took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    /// From the first operation to the last.
    Wall,
    /// On CPUs, user and system.
    Cpu,
}

/// The time of each round, in the cell's unit.
pub(super) fn times(cell: &LabBaselineCell, time: Time) -> Vec<f64> {
    rounds(cell, time).into_values().collect()
}

/// The medians of a cell's wall and CPU times in its unit, and how many rounds they are of.
pub fn cell_medians(cell: &LabBaselineCell) -> (Option<f64>, Option<f64>, usize) {
    let wall = times(cell, Time::Wall);
    let rounds = wall.len();
    (median(wall), median(times(cell, Time::Cpu)), rounds)
}

fn rounds(cell: &LabBaselineCell, time: Time) -> BTreeMap<u32, f64> {
    let of = |sample: &LabBaselineSample| {
        let ns = match time {
            Time::Wall => sample.wall_ns,
            Time::Cpu => sample.cpu_ns.value()?,
        };
        Some((sample.round, per(cell.unit, sample.operations, ns)?))
    };
    of_rounds(cell.samples.iter().filter_map(of))
}

/// A session with what holds for all of its cells.
pub(super) struct Known<'a> {
    pub(super) session: &'a LabBaselineSession,
    cells: HashMap<&'a str, &'a LabBaselineCell>,
    busy: f64,
    waiting: Option<f64>,
    noise: f64,
    cpu_noise: f64,
}

impl<'a> Known<'a> {
    pub(super) fn of(session: &'a LabBaselineSession) -> Self {
        let own = session.cells.iter().filter(|cell| !cell.is_twin());
        let permille = session.conditions.cpu_pressure_permille.value();
        Self {
            session,
            cells: own.map(|cell| (cell.id.as_str(), cell)).collect(),
            busy: busy_share(&session.other_programs, session.environment.cpus),
            waiting: permille.map(|permille| permille as f64 / 1000.0),
            noise: noise(session, Time::Wall),
            cpu_noise: noise(session, Time::Cpu),
        }
    }

    /// The same cell: its id tells all of its factors.
    pub(super) fn cell(&self, cell: &LabBaselineCell) -> Option<&'a LabBaselineCell> {
        self.cells.get(cell.id.as_str()).copied().filter(|known| known.unit == cell.unit)
    }

    /// The ids of all cells, in their order.
    pub(super) fn ids(&self) -> impl Iterator<Item = &'a str> {
        let own = self.session.cells.iter().filter(|cell| !cell.is_twin());
        own.map(|cell| cell.id.as_str())
    }

    /// The times of a cell in this session; none where it has too few.
    pub(super) fn times(&self, cell: &LabBaselineCell, time: Time) -> Option<Session> {
        let centre = Centre::of(times(cell, time))?;
        let (waiting, noise) = match time {
            Time::Wall => (self.waiting, self.noise),
            Time::Cpu => (None, self.cpu_noise),
        };
        Some(Session { centre, busy: self.busy, waiting, noise })
    }

    /// The nanoseconds of the cell's unit by which two of its times must differ: what reading the clock costs.
    pub(super) fn blur(&self, cell: &LabBaselineCell, time: Time) -> f64 {
        let ns = match time {
            Time::Wall => self.session.conditions.clock_ns.value().unwrap_or(0) as f64,
            Time::Cpu => CPU_RESOLUTION_NS,
        };
        let operations = cell.samples.iter().map(|sample| sample.operations).min();
        match cell.unit {
            LabUnit::Nanoseconds => ns,
            LabUnit::NanosecondsPerOperation => ns / operations.unwrap_or(1).max(1) as f64,
        }
    }
}

/// What equal cells of a session differ by, where their interval shows that they do.
fn noise(session: &LabBaselineSession, time: Time) -> f64 {
    let of = |twin: &LabBaselineCell| {
        let one = session.cells.iter().find(|one| twin.is_twin_of(one))?;
        let (first, second) = (rounds(one, time), rounds(twin, time));
        let pairs = first.iter().filter_map(|(round, &ns)| Some((ns, *second.get(round)?)));
        let interval = RatioEstimate::of_reals(pairs)?.interval?;
        (!interval.holds(1.0)).then(|| interval.high.max(1.0 / interval.low) - 1.0)
    };
    let twins = session.cells.iter().filter(|cell| cell.is_twin());
    twins.filter_map(of).fold(0.0, f64::max)
}

/// True where each sample of both did the same, and the two are not the same: operations, bytes, or the size of the files.
pub(super) fn does_other_work(one: &LabBaselineCell, other: &LabBaselineCell) -> bool {
    let both = |of: fn(&LabBaselineSample) -> Option<u64>| always(one, of).zip(always(other, of));
    let differs = |(one, other): (u64, u64)| one != other;
    both(|sample| Some(sample.operations)).is_some_and(differs)
        || both(|sample| Some(sample.bytes)).is_some_and(differs)
        || both(|sample| sample.pages.value()).is_some_and(|(one, other)| {
            one.abs_diff(other) as f64 > SAME_PAGES * one.max(other) as f64
        })
}

/// What all samples of a cell say; none where they don't.
fn always(cell: &LabBaselineCell, of: fn(&LabBaselineSample) -> Option<u64>) -> Option<u64> {
    let first = of(cell.samples.first()?)?;
    cell.samples.iter().all(|sample| of(sample) == Some(first)).then_some(first)
}
