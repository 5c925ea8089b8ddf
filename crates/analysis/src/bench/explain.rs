//! What a cold start pays for, and the most that could be saved.

use hotset_facts::{BenchRun, Condition, LearnedIo, Observed, WantedState};
use serde::Serialize;

use super::compare::Pair;
use super::order::{ConfidenceInterval, median, median_interval, sorted};
use super::samples::{Samples, pairs};

hotset_facts::words! {
    /// Who says how long the command waited for the device.
    pub enum WaitSource {
        /// The sensor, in a run that began cold: reads that missed or waited, and major faults. Where the clocks leave less
        /// time for it, these.
        Sensor = "sensor",
        /// The clocks: how much longer the cold runs were off the CPU than the warm ones. Where several threads ran at
        /// once it is too little.
        OffCpu = "off-cpu",
    }
}

/// Why cold runs take longer than warm ones. Times are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ColdWarm {
    /// A is warm, B is cold.
    #[serde(flatten)]
    pub pair: Pair,
    /// Rounds in which both have a valid run.
    pub rounds: usize,
    /// Cold minus warm, the median over rounds; negative where cold runs took less time.
    pub difference_ns: f64,
    /// Bytes from the device, cold minus warm, the median over rounds; none where they are not known.
    pub device_bytes: Option<f64>,
    /// Time that the command waited for the device.
    pub device_wait_ns: f64,
    /// Who says so.
    #[serde(rename = "device_wait_source")]
    pub source: WaitSource,
    /// The wait's share of the difference, 0 to 1; none where cold is not shown to be slower.
    pub device_share: Option<f64>,
    /// The ends of that share that the 95 % intervals of its parts leave; null where one has no interval.
    pub device_share_interval: Option<ConfidenceInterval>,
    /// CPU time, cold minus warm, the median over rounds: what bringing pages in costs beside waiting.
    pub cpu_difference_ns: f64,
    /// What reading ahead would save at most: the whole wait. An upper bound, since the device still has to read as
    /// much, and only what the CPU works meanwhile is hidden.
    pub readahead_saves_ns: f64,
    /// What `hotset warm` before the start would save at most: the whole difference.
    pub warming_saves_ns: f64,
}

impl ColdWarm {
    /// For each command that has a warm and a cold state: one per cold state with valid runs.
    pub(crate) fn of_all(
        conditions: &[Condition],
        samples: &[Samples],
        runs: &[BenchRun],
        asked: &[Pair],
        learned: &[Observed<LearnedIo>],
    ) -> Vec<Self> {
        let state = |index: usize| conditions.get(index).map(|condition| condition.state);
        let explained = |pair: &&Pair| {
            state(pair.a) == Some(WantedState::Warm)
                && state(pair.b).is_some_and(WantedState::is_cold)
        };
        let explain = |pair: &Pair| {
            let command = conditions.get(pair.a)?.command;
            let learned = learned.get(command).and_then(Observed::as_value);
            Self::of(*pair, samples, runs, learned)
        };
        asked.iter().filter(explained).filter_map(explain).collect()
    }

    fn of(
        pair: Pair,
        samples: &[Samples],
        runs: &[BenchRun],
        learned: Option<&LearnedIo>,
    ) -> Option<Self> {
        let (warm, cold) = (samples.get(pair.a)?, samples.get(pair.b)?);
        let both: Vec<(&BenchRun, &BenchRun)> = pairs(&warm.valid, &cold.valid, runs).collect();
        let difference =
            |of: fn(&BenchRun) -> f64| median(both.iter().map(|(warm, cold)| of(cold) - of(warm)));
        let device = both.iter().filter_map(|(warm, cold)| {
            let cold = cold.device_read_bytes.value()? as f64;
            Some(cold - warm.device_read_bytes.value()? as f64)
        });
        let difference_ns = difference(|run| run.wall_ns as f64)?;
        // The sensor times whole calls, with the copying and the kernel's work on the pages in them, tasks can wait at the
        // same time, and the learning run is another run: no more is told than the clocks of the timed runs leave for it.
        let left_ns = difference(off_cpu_ns)?.clamp(0.0, difference_ns.max(0.0));
        let interval = |of: fn(&BenchRun) -> f64| {
            median_interval(&sorted(both.iter().map(|(warm, cold)| of(cold) - of(warm))))
        };
        let (device_wait_ns, source) = match sensor_wait_ns(learned) {
            Some(ns) if ns <= left_ns => (ns, WaitSource::Sensor),
            _ => (left_ns, WaitSource::OffCpu),
        };
        Some(Self {
            pair,
            rounds: both.len(),
            difference_ns,
            device_bytes: median(device),
            device_wait_ns,
            source,
            device_share: (difference_ns > 0.0).then(|| device_wait_ns / difference_ns),
            device_share_interval: share_interval(
                match source {
                    WaitSource::Sensor => {
                        Some(ConfidenceInterval { low: device_wait_ns, high: device_wait_ns })
                    }
                    WaitSource::OffCpu => interval(off_cpu_ns),
                },
                interval(|run| run.wall_ns as f64),
            ),
            cpu_difference_ns: difference(cpu_ns)?,
            readahead_saves_ns: device_wait_ns,
            warming_saves_ns: difference_ns.max(0.0),
        })
    }
}

/// What share of the whole the part may be at the ends of both intervals.
fn share_interval(
    part: Option<ConfidenceInterval>,
    whole: Option<ConfidenceInterval>,
) -> Option<ConfidenceInterval> {
    let whole = whole.filter(|whole| whole.low > 0.0)?;
    let part = part?;
    let share = |part: f64, whole: f64| (part / whole).clamp(0.0, 1.0);
    Some(ConfidenceInterval { low: share(part.low, whole.high), high: share(part.high, whole.low) })
}

/// Only a run that began cold waited for what cold runs wait for.
fn sensor_wait_ns(learned: Option<&LearnedIo>) -> Option<f64> {
    let learned = learned.filter(|learned| learned.state.is_cold())?;
    let time = learned.totals.time.as_value()?;
    // Without the faults' time, the wait of programs that map their files would look like nothing.
    time.fault_ns.value()?;
    Some(time.device_read_ns() as f64)
}

fn cpu_ns(run: &BenchRun) -> f64 {
    run.user_ns.saturating_add(run.system_ns) as f64
}

fn off_cpu_ns(run: &BenchRun) -> f64 {
    (run.wall_ns as f64 - cpu_ns(run)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::{condition, session};
    use hotset_facts::{Io, Reason, TimeIo};

    const MS: u64 = 1_000_000;

    fn explained(learned: Observed<LearnedIo>, warm_ms: u64, cold_ms: u64) -> Vec<ColdWarm> {
        let states = vec![condition(0, WantedState::Warm), condition(0, WantedState::Cold)];
        let session = session(&["app"], states, 10, |index, round| {
            [warm_ms, cold_ms][index] * MS + u64::from(round)
        });
        let judged = crate::bench::judge(&session, &session.runs);
        let samples = Samples::of_all(2, &session.runs, &judged, 0);
        let asked = [Pair { a: 0, b: 1 }];
        ColdWarm::of_all(&session.conditions, &samples, &session.runs, &asked, &[learned])
    }

    fn learned(state: WantedState, time: TimeIo) -> Observed<LearnedIo> {
        let totals = Io { time: Observed::Value(time), ..Io::zero() };
        Observed::Value(LearnedIo { state, wall_ns: 400 * MS, totals, files: Vec::new() })
    }

    #[test]
    fn the_sensor_says_what_the_wait_is() {
        let time = TimeIo { wait_ns: 200 * MS, miss_ns: 40 * MS, ..TimeIo::default() };
        let found = explained(learned(WantedState::Cold, time), 100, 400);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].difference_ns, 300.0 * MS as f64);
        assert_eq!((found[0].source, found[0].device_share), (WaitSource::Sensor, Some(0.8)));
        assert_eq!(found[0].device_bytes, Some(10_000.0 * 4096.0));
        assert_eq!(found[0].readahead_saves_ns, 240.0 * MS as f64);
        assert_eq!(found[0].warming_saves_ns, 300.0 * MS as f64);
    }

    #[test]
    fn without_the_sensor_the_clocks_say_it() {
        let none = Observed::Missing(Reason::denied("needs CAP_BPF"));
        let warm = learned(WantedState::Warm, TimeIo::default());
        let no_faults = learned(
            WantedState::Cold,
            TimeIo { fault_ns: none.clone().map(|_: LearnedIo| 0), ..TimeIo::default() },
        );
        for learned in [none, warm, no_faults] {
            let found = explained(learned, 100, 400);
            // 10 ms of the 300 went into system time.
            assert_eq!(found[0].source, WaitSource::OffCpu);
            assert_eq!(found[0].device_wait_ns, 290.0 * MS as f64);
            assert_eq!(found[0].cpu_difference_ns, 10.0 * MS as f64);
        }
    }

    #[test]
    fn a_wait_never_exceeds_what_the_clocks_leave_for_it() {
        let time = TimeIo { wait_ns: 900 * MS, ..TimeIo::default() };
        let found = explained(learned(WantedState::Cold, time), 100, 400);
        // 10 ms of the 300 went into system time.
        assert_eq!(
            (found[0].device_share, found[0].source),
            (Some(290.0 / 300.0), WaitSource::OffCpu)
        );
        let backwards = explained(learned(WantedState::Cold, time), 400, 100);
        assert_eq!((backwards[0].device_share, backwards[0].warming_saves_ns), (None, 0.0));
    }
}
