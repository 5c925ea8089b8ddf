//! Intervals as counters since the start, for a reader that comes by at its own times.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hotset_facts::{Dev, Interval, LiveLosses, Observed, Pressure, Reason};

use super::{IntervalSummary, LiveNumbers, SeriesSet};

const NO_INTERVAL: Reason = Reason::not_measured("no interval has ended yet");

/// How many series each kind may have, the one for others not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesLimits {
    /// Names of programs.
    pub commands: usize,
    /// Control groups.
    pub cgroups: usize,
    /// File systems.
    pub mounts: usize,
}

/// A counter of something that can be missing in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// The sum of the intervals that told it; missing where none did.
    pub sum: Observed<u64>,
    /// Intervals that did not tell it although an earlier one had: the sum is at least this.
    pub gaps: u64,
}

impl Default for Counted {
    fn default() -> Self {
        Self { sum: Observed::Missing(NO_INTERVAL), gaps: 0 }
    }
}

impl Counted {
    /// Adds what an interval told.
    pub fn add(&mut self, interval: Observed<u64>) {
        match (self.sum, interval) {
            (Observed::Value(sum), Observed::Value(more)) => {
                self.sum = Observed::Value(sum.saturating_add(more));
            }
            (Observed::Value(_), Observed::Missing(_)) => self.gaps = self.gaps.saturating_add(1),
            (Observed::Missing(_), first) => self.sum = first,
        }
    }
}

/// All that was counted since a session began. Nothing here goes backwards. In each set of series the sum is
/// the total, less what was counted for series that ended.
#[derive(Debug, Clone)]
pub struct Accumulated {
    /// Everything, with how long that was.
    pub totals: LiveNumbers,
    /// Intervals that were added.
    pub intervals: u64,
    /// By name of program.
    pub commands: SeriesSet<Arc<str>>,
    /// By path of the control group. Processes whose group is not known are among the others.
    pub cgroups: SeriesSet<Arc<str>>,
    /// By device of the file system.
    pub mounts: SeriesSet<Dev>,
    /// Pages that left the cache but for truncation and unlinking.
    pub evicted_pages: Counted,
    /// Pages of files that were read back after they had been evicted.
    pub refaulted_pages: Counted,
    /// Pages of files that reclaim took.
    pub reclaimed_pages: Counted,
    /// Pages that were written back.
    pub written_back_pages: Counted,
    /// Nanoseconds of pressure: memory some, memory full, I/O some, I/O full, CPU some.
    pub pressure_ns: [Counted; 5],
    /// Losses since the session began, of the last interval.
    pub losses: LiveLosses,
}

impl Accumulated {
    /// Nothing yet.
    pub fn new(limits: SeriesLimits) -> Self {
        Self {
            totals: LiveNumbers::default(),
            intervals: 0,
            commands: SeriesSet::new(limits.commands),
            cgroups: SeriesSet::new(limits.cgroups),
            mounts: SeriesSet::new(limits.mounts),
            evicted_pages: Counted::default(),
            refaulted_pages: Counted::default(),
            reclaimed_pages: Counted::default(),
            written_back_pages: Counted::default(),
            pressure_ns: [Counted::default(); 5],
            losses: LiveLosses::default(),
        }
    }

    /// Adds one interval: `summary` is what [`super::summarise_interval`] made of it.
    pub fn add(&mut self, interval: &Interval, summary: &IntervalSummary) {
        self.totals.add_interval(&summary.totals);
        self.intervals = self.intervals.saturating_add(1);
        let length = Duration::from_nanos(interval.length_ns);
        self.begin_series(interval.at.checked_sub(length).unwrap_or(interval.at));
        self.add_series(summary);
        self.evicted_pages.add(interval.evicted_pages);
        self.refaulted_pages.add(interval.host.refaulted_pages);
        self.reclaimed_pages.add(interval.host.reclaimed_pages);
        self.written_back_pages.add(interval.host.written_back_pages);
        for (sum, part) in self.pressure_ns.iter_mut().zip(parts(&interval.host.pressure)) {
            sum.add(part);
        }
        // Whoever counts losses might start anew; a counter of ours never goes back.
        self.losses = larger(&self.losses, &interval.losses);
    }

    fn begin_series(&mut self, began: SystemTime) {
        self.commands.begin(began);
        self.cgroups.begin(began);
        self.mounts.begin(began);
    }

    fn add_series(&mut self, summary: &IntervalSummary) {
        for (comm, io) in &summary.commands {
            self.commands.add(comm, io);
        }
        for (path, io) in &summary.cgroups {
            match path {
                Some(path) => self.cgroups.add(path, io),
                None => self.cgroups.add_other(io),
            }
        }
        for (dev, io) in &summary.mounts {
            self.mounts.add(dev, io);
        }
        self.commands.add_other(&summary.others);
        self.cgroups.add_other(&summary.others);
        self.mounts.add_other(&summary.others);
    }
}

fn parts(pressure: &Pressure) -> [Observed<u64>; 5] {
    let Pressure { memory_some_ns, memory_full_ns, io_some_ns, io_full_ns, cpu_some_ns } =
        *pressure;
    [memory_some_ns, memory_full_ns, io_some_ns, io_full_ns, cpu_some_ns]
}

fn larger(a: &LiveLosses, b: &LiveLosses) -> LiveLosses {
    LiveLosses {
        unattributed: a.unattributed.max(b.unattributed),
        events: a.events.max(b.events),
        origins: a.origins.max(b.origins),
        tasks: a.tasks.max(b.tasks),
        requests: a.requests.max(b.requests),
        skipped_programs: a.skipped_programs.max(b.skipped_programs),
        calls: a.calls.max(b.calls),
    }
}

#[cfg(test)]
mod tests;
