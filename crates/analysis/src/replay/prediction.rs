//! What a change would gain the program: what it computed stays, and its I/O takes as much less as that of the replay.
//!
//! The time that is saved is a difference of two replays, so that what recording cost is in neither. It is taken off the time of
//! the recorded run, which recording made longer: what it added to a call changes with the program, so that it is not taken off. Where
//! the replay was slower than what was recorded, the difference is made smaller as much.

use hotset_facts::replay::{ReplaySample, ReplaySession, ReplayState};
use serde::Serialize;

use super::fidelity::{Fidelity, NoClaim, timed_ns};
use super::summary::Pairs;
use crate::bench::{ConfidenceInterval, median, median_interval, sorted};

/// Where the I/O of threads overlaps by more than this share of it, less I/O time is not as much less time for the program.
const MAX_OVERLAP: f64 = 0.1;

hotset_facts::words! {
    /// Why nothing is predicted.
    pub enum NoPrediction {
        /// The replay of the recording as it is does not behave as recorded.
        Fidelity = "the replay does not behave as recorded",
        /// Several threads did I/O at the same time.
        Overlap = "threads do I/O at the same time, so that a sum of their I/O times is no time of the program",
        /// There is no replay of both that is used.
        NoReplay = "no round has a valid replay of both",
    }
}

/// What a change would gain the program.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Prediction {
    /// The changed variant, by its place.
    pub variant: usize,
    /// Nanoseconds of the recorded run, with what recording added.
    pub wall_ns: u64,
    /// Nanoseconds that the change saves: the median over rounds of the difference of I/O times, as a part of the recorded I/O time where
    /// the replay took longer than that; below zero where it costs some. Null
    /// where nothing is predicted.
    pub saved_ns: Option<f64>,
    /// Its exact 95 % interval; null for fewer than six rounds.
    pub saved_ns_interval: Option<ConfidenceInterval>,
    /// Why nothing is predicted; null where something is.
    pub no_prediction: Option<NoPrediction>,
}

/// A replay that took longer than what was recorded saves longer, too: what was recorded, by that; at most 1.
fn of_recorded(replay: &ReplaySample, recorded_io_ns: Option<f64>) -> f64 {
    recorded_io_ns.map_or(1.0, |recorded| (recorded / timed_ns(replay)).min(1.0))
}

impl Prediction {
    pub(super) fn of(
        session: &ReplaySession,
        fidelity: &Fidelity,
        variant: usize,
        pairs: &Pairs<'_>,
    ) -> Self {
        let recorded = &session.recorded;
        let overlap = recorded.duration_ns.saturating_sub(recorded.covered_ns);
        let is_shared = overlap as f64 > MAX_OVERLAP * recorded.duration_ns as f64;
        let saved = pairs.rounds(variant, ReplayState::Recorded).map(|(before, after)| {
            let saved = before.busy_ns as f64 - after.busy_ns as f64;
            saved * of_recorded(before, fidelity.recorded_io_ns)
        });
        let saved = sorted(saved);
        let no_prediction = match fidelity.no_claim {
            Some(NoClaim::NoReplay) => Some(NoPrediction::NoReplay),
            Some(_) => Some(NoPrediction::Fidelity),
            None if is_shared => Some(NoPrediction::Overlap),
            None if saved.is_empty() => Some(NoPrediction::NoReplay),
            None => None,
        };
        let is_predicted = no_prediction.is_none();
        Self {
            variant,
            wall_ns: recorded.span_ns,
            saved_ns: median(saved.iter().copied()).filter(|_| is_predicted),
            saved_ns_interval: median_interval(&saved).filter(|_| is_predicted),
            no_prediction,
        }
    }

    /// Nanoseconds that the run would take with the change, and the ends of their interval; never below zero.
    pub fn changed_wall_ns(&self) -> Option<(f64, Option<ConfidenceInterval>)> {
        let without = |saved: f64| (self.wall_ns as f64 - saved).max(0.0);
        let ends = self
            .saved_ns_interval
            .map(|ends| ConfidenceInterval { low: without(ends.high), high: without(ends.low) });
        Some((without(self.saved_ns?), ends))
    }
}
