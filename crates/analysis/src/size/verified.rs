//! Predictions beside runs: which limits are worth a run, and how right a prediction was.

use hotset_facts::{ExitStatus, LimitedRun};
use serde::{Deserialize, Serialize};

use super::limits::{SizeLimit, ratio};
use super::summary::SizeSummary;

/// Of what is read again at the smallest limit, the parts at which limits between it and the largest are chosen.
const PARTS: [f64; 2] = [2.0 / 3.0, 1.0 / 3.0];

/// Limits that are nearer to each other than this part of the larger one tell the same.
const APART: f64 = 0.05;

/// A limit, what was predicted for it, and a run under it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerifiedLimit {
    /// What was predicted.
    pub predicted: SizeLimit,
    /// The run.
    pub run: LimitedRun,
}

impl VerifiedLimit {
    /// Bytes that the device read; none where the sensor could not tell.
    pub fn read_bytes(&self) -> Option<u64> {
        self.run.totals.device.read_bytes.value()
    }

    /// By how much of what was read the prediction was too high, or too low where negative; none where nothing was read, the run was
    /// ended by a signal, or the sensor lost something.
    pub fn error(&self) -> Option<f64> {
        let read = self.read_bytes().filter(|&bytes| bytes > 0 && self.is_whole())?;
        Some(self.predicted.read_bytes() as f64 / read as f64 - 1.0)
    }

    /// Pages that read calls requested and found in the cache, by all that they requested; none where the sensor could not tell. Faults are
    /// left out: the kernel unmaps what it may evict, so that under a limit there are more of them.
    pub fn hit_ratio(&self) -> Option<f64> {
        let split = self.run.totals.read.value()?.split();
        let all = split.from_cache + split.from_device;
        (all > 0).then(|| ratio(split.from_cache, all))
    }

    /// Whether the run came to its own end, and was seen whole.
    pub fn is_whole(&self) -> bool {
        let ended_itself = matches!(self.run.exit, ExitStatus::Code(_));
        ended_itself && self.run.killed == 0 && self.run.lost == 0
    }
}

/// The limits that are worth a run: what is recommended, the largest at which it thrashes, and between them where a third and two thirds
/// of what is read again is not read again any more. In descending order, so that the quickest run comes first. None is below what
/// it can't do without.
pub fn limits_to_verify(summary: &SizeSummary) -> Vec<u64> {
    let least = summary.killed_below_bytes.unwrap_or(0);
    let recommended = summary.limit.map(|limit| limit.bytes);
    let thrash = summary.thrash.and_then(|limit| limit.limit_bytes);
    let mut known: Vec<(u64, u64)> = summary
        .limits
        .iter()
        .filter_map(|limit| Some((limit.limit_bytes?, limit.refaults)))
        .filter(|(bytes, _)| *bytes >= least.max(thrash.unwrap_or(0)))
        .collect();
    known.sort_unstable();
    let most = known.first().map_or(0, |(_, refaults)| *refaults);
    let near = |part: f64| {
        let wanted = (most as f64 * part) as u64;
        known.iter().min_by_key(|(_, refaults)| refaults.abs_diff(wanted)).map(|(bytes, _)| *bytes)
    };
    let between = PARTS.into_iter().filter_map(near);
    let mut limits: Vec<u64> = recommended.into_iter().chain(between).chain(thrash).collect();
    if limits.is_empty() {
        limits.extend(summary.request.map(|request| request.bytes));
    }
    limits.retain(|&limit| limit >= least);
    limits.sort_unstable_by(|one, other| other.cmp(one));
    limits.dedup_by(|smaller, larger| *smaller as f64 > *larger as f64 * (1.0 - APART));
    limits
}

#[cfg(test)]
mod tests {
    use hotset_facts::{Io, Observed, Reason};

    use super::*;
    use crate::size::tests::{asked, known, looped, sized};

    const MIB: u64 = 1 << 20;

    fn run(limit_bytes: u64, totals: Io) -> LimitedRun {
        LimitedRun {
            limit_bytes,
            exit: ExitStatus::Code(0),
            killed: 0,
            wall_ns: 1_000_000_000,
            totals,
            refault_pages: None,
            peak_bytes: None,
            stuck_pages: 0,
            unknown_files: 0,
            lost: 0,
        }
    }

    #[test]
    fn an_error_is_told_of_whole_runs_alone() {
        let summary = sized(&looped(1_000, 3), &known(), &asked());
        let predicted = *summary.limits.last().expect("limits");
        let mut totals = Io::zero();
        totals.device.read_bytes = Observed::Value(predicted.read_bytes() * 2);
        if let Observed::Value(read) = &mut totals.read {
            (read.pages, read.misses, read.readahead_hits) = (100, 20, 5);
        }
        let verified = VerifiedLimit { predicted, run: run(MIB, totals) };
        assert_eq!((verified.error(), verified.hit_ratio()), (Some(-0.5), Some(0.75)));
        let with = |change: &dyn Fn(&mut LimitedRun)| {
            let mut other = verified.clone();
            change(&mut other.run);
            other.error()
        };
        assert_eq!(with(&|run| run.killed = 1), None);
        assert_eq!(with(&|run| run.lost = 1), None);
        assert_eq!(with(&|run| run.exit = ExitStatus::Signal(2)), None);
        assert_eq!(with(&|run| run.exit = ExitStatus::Code(2)), Some(-0.5));
        assert_eq!(with(&|run| run.totals.device.read_bytes = Observed::Value(0)), None);
        let missing = Observed::Missing(Reason::not_measured("no block layer"));
        assert_eq!(with(&|run| run.totals.device.read_bytes = missing), None);
        let none = VerifiedLimit { predicted, run: run(MIB, Io::zero()) };
        assert_eq!((none.error(), none.hit_ratio()), (None, None));
    }

    #[test]
    fn limits_that_tell_something_are_tried_the_largest_first() {
        // Read often enough, the smallest limits thrash.
        let mut summary = sized(&looped(10_000, 50), &known(), &asked());
        let limits = limits_to_verify(&summary);
        let recommended = summary.limit.map(|limit| limit.bytes);
        assert_eq!(limits.first().copied(), recommended);
        let thrash = summary.thrash.and_then(|limit| limit.limit_bytes).expect("it thrashes");
        assert!(limits.iter().all(|&limit| limit >= thrash) && limits.len() <= 4, "{limits:?}");
        assert!(limits.windows(2).all(|pair| pair[1] < pair[0]), "{limits:?}");
        // None has the program killed.
        let least = limits[1];
        summary.killed_below_bytes = Some(least);
        assert_eq!(limits_to_verify(&summary).last().copied(), Some(least));
    }

    #[test]
    fn without_a_limit_that_matters_the_request_is_tried() {
        let summary = sized(&looped(1_000, 1), &known(), &asked());
        let request = summary.request.map(|request| request.bytes).expect("its memory is known");
        assert_eq!(limits_to_verify(&summary), [request]);
    }
}
