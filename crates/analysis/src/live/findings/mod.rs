//! What the rules say of a control group that goes on running, over a span of intervals.
//!
//! The sums of the span are brought into the shape of a run ([`profile`]), and the rules that these can answer are asked
//! ([`LIVE_RULES`]): what a live sampler does not count is missing with its reason, never 0. Three things are other than for a run:
//!
//! - Savings are time of threads, not of the clock on the wall: they add up over groups and hosts, and how many threads of a group
//!   wait for each other is not known.
//! - They are a share of the time in which the group did anything to files, and not of the span: a job of two minutes is judged by its
//!   two minutes, as its run would be. Where its threads spent more than that in I/O, they are a share of their time.
//! - A fix must save a part of the span ([`gate`]): 50 ms are much of a run, and nothing of an hour.

mod answers;
mod profile;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use hotset_facts::{
    CostTable, Dev, Environment, Feature, FileId, FileKind, LiveIo, NotMeasured, Observed, Reason,
};

pub use answers::{LIVE_RULES, LiveRule};

use crate::rules::{RULES, RuleInput};
use crate::{Finding, Gate, Outcome, RuleVerdict, TimeSplit};

/// A saving of this part of a span is worth a finding whatever its share of the active time: 1 % of a core, the least that
/// requests for CPU time are usually given in (10 millicores of Kubernetes), and twice what hotset itself may cost.
const WORTH_OF_SPAN: u64 = 100;
/// Below this part of a span no share is worth one: a second of an hour. A second is what an hour's sums may differ by from one
/// hour to the next where nothing changed.
const FLOOR_OF_SPAN: u64 = 3600;

/// Refaults may be more than the pages that were seen to be read by one part in so many: the kernel's counter is read a moment
/// before or after the sensor's.
const REFAULT_SLACK: u64 = 10;
const UNSEEN: Reason =
    Reason::lost("the kernel counts more pages that were read back than were seen to be read");

/// The host over a span.
#[derive(Debug, Clone)]
pub struct SpanHost {
    /// How long the span was, in nanoseconds.
    pub length_ns: u64,
    /// The host.
    pub environment: Environment,
    /// What operations cost on it.
    pub costs: Observed<CostTable>,
    /// What its sensor can't count.
    pub not_measured: Vec<NotMeasured>,
    /// The sensor lost, or forgot, which pages had been read ahead.
    pub lost_origins: bool,
}

/// What a control group did in a span.
#[derive(Debug, Clone)]
pub struct GroupSpan {
    /// What was counted.
    pub io: LiveIo,
    /// The files that most time was spent on.
    pub files: Vec<SpanFile>,
    /// The lengths of those intervals together in which it did anything, in nanoseconds.
    pub active_ns: u64,
    /// Pages of files that the kernel evicted from it and had to read back, by reads and by faults; pages that were dropped on
    /// request don't count.
    pub refaulted_pages: Observed<u64>,
    /// Its memory limit.
    pub memory_limit_bytes: Option<u64>,
}

/// What a control group did to a file in a span.
#[derive(Debug, Clone)]
pub struct SpanFile {
    /// Which file.
    pub id: FileId,
    /// What it is.
    pub kind: FileKind,
    /// A path that leads to it.
    pub path: Observed<Arc<PathBuf>>,
    /// Its name is gone.
    pub deleted: bool,
    /// The device by which its file system is mounted.
    pub mounted: Dev,
    /// What was counted.
    pub io: LiveIo,
}

/// Which savings of a group are worth a finding over a span of so many nanoseconds.
pub fn gate(length_ns: u64) -> Gate {
    Gate {
        min_share_of_wall: Gate::default().min_share_of_wall,
        min_saving_ns: length_ns / WORTH_OF_SPAN,
        floor_ns: length_ns / FLOOR_OF_SPAN,
    }
}

/// Asks the rules about a control group. Those that no live sampler can answer are left out of the verdicts.
pub fn findings_of_group(host: &SpanHost, group: &GroupSpan) -> (Vec<Finding>, Vec<RuleVerdict>) {
    let profile = profile::of_group(host, group);
    let time = TimeSplit::of(&profile);
    let input = RuleInput {
        profile: &profile,
        costs: host.costs,
        gate: gate(host.length_ns),
        time: &time,
        by_directory: &[],
    };
    let (mut findings, mut verdicts) = (Vec::new(), Vec::new());
    for (rule, live) in RULES.iter().zip(LIVE_RULES) {
        let LiveRule { answer: Ok(needs), .. } = live else { continue };
        let known = known(host, group, live.id, needs);
        match known.map_or_else(Err, |()| (rule.check)(&input)) {
            Ok(Some(finding)) => findings.push(finding),
            Ok(None) => verdicts.push(RuleVerdict { rule: rule.id, outcome: Outcome::Clear }),
            Err(reason) => {
                let outcome = Outcome::NotEnoughData(reason);
                verdicts.push(RuleVerdict { rule: rule.id, outcome });
            }
        }
    }
    (findings, verdicts)
}

/// Whether the span has what a rule needs beyond what a profile can leave out.
fn known(host: &SpanHost, group: &GroupSpan, rule: &str, needs: &[Feature]) -> Result<(), Reason> {
    let lacks = |feature: &&Feature| host.not_measured.iter().any(|gap| gap.feature == **feature);
    if let Some(feature) = needs.iter().find(lacks) {
        return Err(feature.reason());
    }
    if rule == "cache-thrash" { refaults_fit(group) } else { Ok(()) }
}

/// Whether refaults of a group are known, and are among the pages that it was seen to read.
fn refaults_fit(group: &GroupSpan) -> Result<(), Reason> {
    let LiveIo { read_misses, readahead_pages, readahead_hits, fault_pages, .. } = group.io;
    let read = read_misses.saturating_add(readahead_pages.max(readahead_hits));
    match group.refaulted_pages {
        // What reads nothing from a device reads nothing back.
        _ if read == 0 => Ok(()),
        Observed::Missing(reason) => Err(reason),
        Observed::Value(refaulted) => {
            let seen = read.saturating_add(fault_pages);
            let at_most = seen.saturating_add(seen / REFAULT_SLACK);
            if refaulted <= at_most { Ok(()) } else { Err(UNSEEN) }
        }
    }
}
