//! A command under the sensor, in a control group with a memory limit.

use std::io;
use std::time::Instant;

use hotset_facts::units::plural;
use hotset_facts::{FileId, FileSet, LimitedRun, PageRange, Pid, WantedState};
use hotset_lab::{Invocation, States, cached_ranges};
use hotset_observe::{ObserveError, Options, Scope, Session};
use hotset_sys::cgroup::{GroupLeft, LimitedGroup};
use hotset_sys::child::{Running, Signals};
use hotset_sys::launch::Launch;

use crate::children::observe;
use crate::{RunError, Say};

/// A run, and what was cached before it.
#[derive(Debug)]
pub struct Limited {
    /// What it did.
    pub run: LimitedRun,
    /// Pages of its files that could not be evicted before: they are found in the cache, and are charged to others.
    pub stuck: Vec<(FileId, Vec<PageRange>)>,
}

/// Why a command was not run under a limit, or gave no facts.
#[derive(Debug, thiserror::Error)]
pub enum LimitedError {
    /// No control group with a limit can be made.
    #[error("a control group with a memory limit can't be made: {0}")]
    Group(io::Error),
    /// Its files can't be evicted.
    #[error("can't set the cache state: {0}")]
    State(String),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<ObserveError> for LimitedError {
    fn from(error: ObserveError) -> Self {
        Self::Run(RunError::Sensor(error))
    }
}

/// Evicts `files`, and runs a command once with this process's own standard streams, in a control group that may use `limit_bytes` of
/// memory together, page cache included. The group is gone afterwards, unless processes of the command are left in it: then that is said.
///
/// # Errors
/// Where there is no sensor, no control group or no such program, and where what was counted can't be read.
pub fn run_limited(
    program: &Invocation,
    files: &mut FileSet,
    limit_bytes: u64,
    say: Say,
) -> Result<Limited, LimitedError> {
    let signals = Signals::hold().map_err(RunError::Signals)?;
    let session = Session::start(Options::new(Scope::Children))?;
    let group = LimitedGroup::make(limit_bytes).map_err(LimitedError::Group)?;
    let streams = [None, None, None];
    let launch = Launch::new(&program.program, &program.argv, streams);
    let mut launch = launch.map_err(RunError::Start)?;
    // The state is set last: loading the sensor takes longer than some hosts leave idle pages alone.
    let reached = States::default().reach(WantedState::Cold, files, || ());
    reached.map_err(LimitedError::State)?;
    let (stuck, unknown_files) = cached_ranges(files);
    let start = || {
        let started = Instant::now();
        Ok(Running { pid: group.start(&mut launch)?, started })
    };
    let (ended, observation) = observe(session, Some(&signals), say, start)?;
    let effects = group.effects();
    let losses = &observation.sensor.losses;
    let ranges = stuck.iter().flat_map(|(_, ranges)| ranges);
    let run = LimitedRun {
        limit_bytes,
        exit: ended.exit,
        killed: effects.killed,
        wall_ns: hotset_facts::units::nanos(ended.wall),
        totals: observation.totals,
        refault_pages: effects.refault_pages,
        peak_bytes: effects.peak_bytes,
        stuck_pages: ranges.map(|range| range.count).sum(),
        unknown_files,
        lost: losses.events + losses.of_counts(),
    };
    if let Some(left) = group.remove() {
        say(&words_of(&left));
    }
    Ok(Limited { run, stuck })
}

fn words_of(left: &GroupLeft) -> String {
    let pids: Vec<String> = left.pids.iter().map(Pid::to_string).collect();
    let (dir, processes) = (left.dir.display(), plural(pids.len() as u64, "process"));
    format!(
        "the command left {processes} behind (PID {}); the control group stays as long as they do: afterwards, rmdir {dir}",
        pids.join(", ")
    )
}
