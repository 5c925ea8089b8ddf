//! One variant from one state.

use hotset_facts::replay::{ReplaySample, ReplayState};
use serde::Serialize;

use crate::bench::{ConfidenceInterval, Spread, median, median_interval, sorted};

hotset_facts::words! {
    /// Why a replay is not used.
    pub enum ReplayFlaw {
        /// The pages were not as they were to be when it began.
        State = "cache state not reached",
        /// Steps did not end as recorded.
        Differences = "results differ",
    }
}

/// What the replays of one variant from one state came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayCell {
    /// Which of the variants, by its place.
    pub variant: usize,
    /// What was cached before.
    pub state: ReplayState,
    /// Replays that are used.
    pub valid: usize,
    /// Replays that began with other pages than they were to.
    pub without_state: usize,
    /// Replays in which results differ from the recording.
    pub with_differences: usize,
    /// I/O time in nanoseconds; null where no replay is used.
    pub io_ns: Option<Spread>,
    /// The exact 95 % interval of its median; null for fewer than six replays.
    pub io_ns_interval: Option<ConfidenceInterval>,
    /// From the beginning of the first thread to the end of the last.
    pub wall_ns: Option<Spread>,
    /// The median of the bytes that the device read.
    pub device_read_bytes: Option<f64>,
    /// The median of the bytes that were written or made dirty.
    pub device_write_bytes: Option<f64>,
    /// The median share of the wanted pages that were cached, from 0 to 1; null where none is wanted.
    pub cached_share: Option<f64>,
}

/// Why a replay is not used, if it is not.
pub(super) fn flaw(sample: &ReplaySample) -> Option<ReplayFlaw> {
    if sample.differences > 0 {
        return Some(ReplayFlaw::Differences);
    }
    (!sample.pages.are_reached()).then_some(ReplayFlaw::State)
}

impl ReplayCell {
    /// Of these samples, all of one variant and one state.
    pub(super) fn of(variant: usize, state: ReplayState, samples: &[&ReplaySample]) -> Self {
        let flaws: Vec<Option<ReplayFlaw>> = samples.iter().map(|sample| flaw(sample)).collect();
        let with = |wanted| flaws.iter().filter(|flaw| **flaw == Some(wanted)).count();
        let valid: Vec<&ReplaySample> = samples
            .iter()
            .zip(&flaws)
            .filter(|(_, flaw)| flaw.is_none())
            .map(|(sample, _)| *sample)
            .collect();
        let of = |number: fn(&ReplaySample) -> u64| {
            valid.iter().map(move |sample| number(sample) as f64)
        };
        let share = |sample: &&ReplaySample| {
            let wanted = sample.pages.wanted;
            (wanted > 0).then(|| sample.pages.cached as f64 / wanted as f64)
        };
        Self {
            variant,
            state,
            valid: valid.len(),
            without_state: with(ReplayFlaw::State),
            with_differences: with(ReplayFlaw::Differences),
            io_ns: Spread::of(of(|sample| sample.busy_ns)),
            io_ns_interval: median_interval(&sorted(of(|sample| sample.busy_ns))),
            wall_ns: Spread::of(of(|sample| sample.wall_ns)),
            device_read_bytes: median(of(|sample| sample.device_read_bytes)),
            device_write_bytes: median(of(|sample| sample.device_write_bytes)),
            cached_share: median(samples.iter().filter_map(share)),
        }
    }
}
