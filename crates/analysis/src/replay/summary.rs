//! All replays of a recording, interpreted.

use std::collections::BTreeMap;

use hotset_facts::replay::{ReplaySample, ReplaySession, ReplayState};
use serde::Serialize;

use super::cell::{ReplayCell, flaw};
use super::fidelity::Fidelity;
use super::prediction::Prediction;
use crate::bench::RatioEstimate;

/// What a change does to the I/O time, from one state.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayRatio {
    /// The changed variant, by its place.
    pub variant: usize,
    /// What was cached before.
    pub state: ReplayState,
    /// Its I/O time by that of the recording as it is, in the same round.
    pub io: RatioEstimate,
}

/// Replays and what follows from them.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplaySummary {
    /// What was measured.
    pub session: ReplaySession,
    /// Each variant from each state, in the order in which they were asked for.
    pub cells: Vec<ReplayCell>,
    /// Does the replay behave as recorded?
    pub fidelity: Fidelity,
    /// Each change beside the recording as it is.
    pub ratios: Vec<ReplayRatio>,
    /// What each changed variant would gain the program.
    pub predictions: Vec<Prediction>,
}

/// Interprets replays.
pub fn summarise_replay(session: ReplaySession) -> ReplaySummary {
    let pairs = Pairs::new(&session);
    let cells = pairs.by_cell.iter();
    let cells: Vec<ReplayCell> = cells
        .map(|((variant, state), samples)| ReplayCell::of(*variant, *state, samples))
        .collect();
    let changed = pairs.by_cell.keys().filter(|(variant, _)| *variant > 0);
    let ratios = changed.filter_map(|(variant, state)| {
        let io = RatioEstimate::of(pairs.of(*variant, *state))?;
        Some(ReplayRatio { variant: *variant, state: *state, io })
    });
    let ratios = ratios.collect();
    let fidelity = Fidelity::of(&session, &cells);
    let predictions = (1..session.variants.len())
        .map(|variant| Prediction::of(&session, &fidelity, variant, &pairs))
        .collect();
    ReplaySummary { session, cells, fidelity, ratios, predictions }
}

/// The I/O times of rounds, by variant and state.
pub(super) struct Pairs<'a> {
    by_cell: BTreeMap<(usize, ReplayState), Vec<&'a ReplaySample>>,
}

impl<'a> Pairs<'a> {
    fn new(session: &'a ReplaySession) -> Self {
        let mut by_cell: BTreeMap<(usize, ReplayState), Vec<&ReplaySample>> = BTreeMap::new();
        for sample in &session.samples {
            by_cell.entry((sample.variant, sample.state)).or_default().push(sample);
        }
        Self { by_cell }
    }

    fn samples(&self, variant: usize, state: ReplayState) -> &[&'a ReplaySample] {
        self.by_cell.get(&(variant, state)).map_or(&[], Vec::as_slice)
    }

    /// The I/O times of the recording as it is and of a variant, of each round in which both are used.
    pub(super) fn of(
        &self,
        variant: usize,
        state: ReplayState,
    ) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.rounds(variant, state).map(|(before, after)| (before.busy_ns, after.busy_ns))
    }

    /// The replays themselves.
    pub(super) fn rounds(
        &self,
        variant: usize,
        state: ReplayState,
    ) -> impl Iterator<Item = (&'a ReplaySample, &'a ReplaySample)> + '_ {
        let (before, after) = (self.samples(0, state), self.samples(variant, state));
        after.iter().filter(|sample| flaw(sample).is_none()).filter_map(|sample| {
            let same_round =
                |other: &&&ReplaySample| other.round == sample.round && flaw(other).is_none();
            Some((*before.iter().find(same_round)?, *sample))
        })
    }
}
