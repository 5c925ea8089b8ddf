//! Does a replay behave as what was recorded? Only then a changed replay says something of the program.

use hotset_facts::replay::{ReplaySample, ReplaySession, ReplayState};
use serde::Serialize;

use super::cell::ReplayCell;
use crate::bench::{ConfidenceInterval, median, median_interval, sorted};

/// A replay whose I/O time is between so many times the recorded one behaves as recorded. No claim is made where the median is above
/// the range, or the whole interval is below it. Seven programs were between 0.93 and 0.99 on
/// a quiet host; ROOT (Weiss et al., SOSP 2013) replays within 11 % on average.
pub const FIDELITY: (f64, f64) = (0.8, 1.25);

hotset_facts::words! {
    /// Why nothing is claimed of the program.
    pub enum NoClaim {
        /// No replay from the recorded state is used.
        NoReplay = "no valid replay from the recorded cache state",
        /// The recording has no durations, or what they don't hold is not known.
        NoDurations = "the I/O time of the recording is not known",
        /// It lacks records.
        Gaps = "records are missing in the recording",
        /// Results differ from the recording.
        Differences = "results differ from the recording",
        /// It is faster than what was recorded.
        Faster = "the replay takes less time than was recorded",
        /// It is slower than what was recorded.
        Slower = "the replay takes more time than was recorded",
    }
}

/// A replay of the recording as it is, beside the recording.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fidelity {
    /// I/O time of the recording, in nanoseconds, without faults that found their page in the cache; null where it is not known.
    pub recorded_io_ns: Option<f64>,
    /// The I/O time of a replay from the recorded cache state, without such faults, by that of the recording: the median over replays.
    pub ratio: Option<f64>,
    /// Its exact 95 % interval; null for fewer than six replays.
    pub interval: Option<ConfidenceInterval>,
    /// Bytes that the device read for a replay, by those that it read for the recording; null where that is zero.
    pub device_read_ratio: Option<f64>,
    /// Why nothing is claimed of the program; null where it behaves as recorded.
    pub no_claim: Option<NoClaim>,
}

/// The I/O time of the recording: its durations, and what its calls took beyond them. That was measured when the recording began;
/// where it was not, the way into the kernel and back stands for it. Nothing where one of these is not known. Faults that found their
/// page are not in it, because nobody timed them.
fn recorded_io_ns(session: &ReplaySession) -> Option<f64> {
    let recorded = &session.recorded;
    if recorded.duration_ns == 0 {
        return None;
    }
    let beyond_ns = match &session.head.cost {
        Some(cost) => cost.beyond_duration_ns as f64,
        None => *session.syscall_ns.as_value()?,
    };
    let calls = recorded.records.saturating_sub(recorded.untimed) as f64;
    // No call takes no time: of durations shorter than what is taken off, nothing is known.
    Some(recorded.duration_ns as f64 + calls * beyond_ns).filter(|&ns| ns > 0.0)
}

/// The I/O time of a replay, as far as a recording has it.
pub(super) fn timed_ns(sample: &ReplaySample) -> f64 {
    sample.busy_ns.saturating_sub(sample.untimed_ns) as f64
}

impl Fidelity {
    pub(super) fn of(session: &ReplaySession, cells: &[ReplayCell]) -> Self {
        let recorded_io_ns = recorded_io_ns(session);
        let cell =
            cells.iter().find(|cell| cell.variant == 0 && cell.state == ReplayState::Recorded);
        let used = session.samples.iter().filter(|sample| {
            sample.variant == 0
                && sample.state == ReplayState::Recorded
                && super::cell::flaw(sample).is_none()
        });
        let ratios =
            recorded_io_ns.map(|recorded| sorted(used.map(|sample| timed_ns(sample) / recorded)));
        let ratios = ratios.unwrap_or_default();
        let ratio = median(ratios.iter().copied());
        let interval = median_interval(&ratios);
        // Of replays in turn on all CPUs, any may be like the one run that was recorded. What is predicted of a run that was slower
        // understates the gain; of one that was faster it would overstate it.
        let high = interval.map_or(ratio, |ends| Some(ends.high));
        let (least, most) = FIDELITY;
        let no_claim = match (cell, ratio) {
            _ if recorded_io_ns.is_none() => Some(NoClaim::NoDurations),
            (Some(cell), _) if cell.with_differences > 0 => Some(NoClaim::Differences),
            (None, _) | (_, None) => Some(NoClaim::NoReplay),
            _ if session.gaps > 0 => Some(NoClaim::Gaps),
            _ if high.is_some_and(|high| high < least) => Some(NoClaim::Faster),
            (_, Some(ratio)) if ratio > most => Some(NoClaim::Slower),
            _ => None,
        };
        let recorded_bytes = session.recorded.device_read_bytes;
        let read = cell.and_then(|cell| cell.device_read_bytes).filter(|_| recorded_bytes > 0);
        Self {
            recorded_io_ns,
            ratio,
            interval,
            device_read_ratio: read.map(|bytes| bytes / recorded_bytes as f64),
            no_claim,
        }
    }
}
