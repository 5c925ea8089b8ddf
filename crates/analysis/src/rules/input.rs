//! What a rule may look at, and the few sums that several rules share.

use hotset_facts::{
    CostTable, DirectIo, Feature, Lookups, Observed, Profile, ReadIo, ReadaheadIo, Reason, SyncIo,
    TimeIo, WriteIo,
};

use crate::{DirectoryLookups, Gate, Saving, TimeSplit};

/// What a rule may look at.
#[derive(Debug, Clone, Copy)]
pub struct RuleInput<'a> {
    /// The run.
    pub profile: &'a Profile,
    /// What operations cost on this host.
    pub costs: Observed<CostTable>,
    /// Which savings are worth a finding.
    pub gate: Gate,
    /// Where the time went.
    pub time: &'a TimeSplit,
    /// Directories with failed lookups.
    pub by_directory: &'a [DirectoryLookups],
}

/// A value, or the reason why there is none, for use with `?`.
pub(super) fn need<T>(observed: Observed<T>) -> Result<T, Reason> {
    match observed {
        Observed::Value(value) => Ok(value),
        Observed::Missing(reason) => Err(reason),
    }
}

impl<'a> RuleInput<'a> {
    pub(super) fn costs(&self) -> Result<CostTable, Reason> {
        need(self.costs)
    }

    pub(super) fn read(&self) -> Result<ReadIo, Reason> {
        need(self.profile.totals.read)
    }

    pub(super) fn write(&self) -> Result<WriteIo, Reason> {
        need(self.profile.totals.write)
    }

    pub(super) fn direct(&self) -> Result<DirectIo, Reason> {
        need(self.profile.totals.direct)
    }

    pub(super) fn readahead(&self) -> Result<ReadaheadIo, Reason> {
        need(self.profile.totals.readahead)
    }

    pub(super) fn sync(&self) -> Result<SyncIo, Reason> {
        need(self.profile.totals.sync)
    }

    pub(super) fn times(&self) -> Result<TimeIo, Reason> {
        need(self.profile.totals.time)
    }

    pub(super) fn lookups(&self) -> Result<&'a Lookups, Reason> {
        match &self.profile.lookups {
            Observed::Value(lookups) => Ok(lookups),
            Observed::Missing(reason) => Err(*reason),
        }
    }

    /// Bytes of a page; never zero.
    pub(super) fn page_bytes(&self) -> f64 {
        self.profile.environment.page_size_bytes.max(1) as f64
    }

    /// Memory that can hold cached pages: the tightest limit, else the host's memory.
    pub(super) fn memory_bytes(&self) -> u64 {
        let environment = &self.profile.environment;
        environment
            .memory_limit_bytes
            .map_or(environment.memory_bytes, |limit| limit.min(environment.memory_bytes))
    }

    /// Refuses where hotset's own tables count against the memory limit: what was evicted may be their doing.
    pub(super) fn memory_is_the_programs(&self) -> Result<(), Reason> {
        let mut gaps = self.profile.sensor.not_measured.iter();
        match gaps.any(|gap| gap.feature == Feature::FreeTables) {
            true => Err(Feature::FreeTables.reason()),
            false => Ok(()),
        }
    }

    /// A saving of wall time from savings of task time. Where tasks ran in parallel, a fix that spares every one of
    /// them a second shortens the run by less than their sum: the lower bound divides by the parallelism that the run
    /// reached, the upper bound assumes that the spared time was all on the critical path.
    pub(super) fn saving(&self, low_task_ns: f64, high_task_ns: f64) -> Saving {
        let wall_ns = self.profile.command.wall_ns;
        let low = low_task_ns / self.time.parallelism;
        Saving::of_wall(whole_ns(low), whole_ns(high_task_ns.max(low_task_ns)), wall_ns)
    }

    /// True if the saving is worth a finding.
    pub(super) fn worth(&self, saving: &Saving) -> bool {
        self.gate.passes(saving)
    }
}

/// Nanoseconds as a whole number: negative and undefined estimates save nothing. A cast saturates.
fn whole_ns(ns: f64) -> u64 {
    ns.max(0.0) as u64
}

/// What it costs to serve `bytes` from the cache through a 64 KiB buffer.
pub(super) fn cached_read_ns(costs: &CostTable, bytes: f64) -> f64 {
    (bytes / BUFFER_BYTES).ceil() * costs.read_64k_ns.min(costs.read_ns(bytes.min(BUFFER_BYTES)))
}

/// The buffer that fixes are priced with: above 64 KiB nothing is gained (24 ps a byte at 64 KiB, 26 at 1 MiB, measured
/// on an EPYC of 2024).
pub(super) const BUFFER_BYTES: f64 = 65536.0;

/// `part / whole`, and zero where the whole is not positive.
pub(super) fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
