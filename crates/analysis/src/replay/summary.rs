//! All replays of a recording, interpreted.

use std::collections::BTreeMap;

use hotset_facts::replay::{ReplaySample, ReplaySession, ReplayState};
use serde::Serialize;

use super::cell::{ReplayCell, flaw};
use super::fidelity::Fidelity;
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
}

/// Interprets replays.
pub fn summarise_replay(session: ReplaySession) -> ReplaySummary {
    let mut by_cell: BTreeMap<(usize, ReplayState), Vec<&ReplaySample>> = BTreeMap::new();
    for sample in &session.samples {
        by_cell.entry((sample.variant, sample.state)).or_default().push(sample);
    }
    let cells: Vec<ReplayCell> = by_cell
        .iter()
        .map(|((variant, state), samples)| ReplayCell::of(*variant, *state, samples))
        .collect();
    let ratios = by_cell.iter().filter(|((variant, _), _)| *variant > 0);
    let ratios = ratios.filter_map(|((variant, state), samples)| {
        let before = by_cell.get(&(0, *state))?;
        let io = RatioEstimate::of(pairs(before, samples))?;
        Some(ReplayRatio { variant: *variant, state: *state, io })
    });
    let ratios = ratios.collect();
    let fidelity = Fidelity::of(&session, &cells);
    ReplaySummary { session, cells, fidelity, ratios }
}

/// The I/O times of rounds in which both sides have a replay that is used.
fn pairs<'a>(
    before: &'a [&ReplaySample],
    after: &'a [&ReplaySample],
) -> impl Iterator<Item = (u64, u64)> + 'a {
    after.iter().filter(|sample| flaw(sample).is_none()).filter_map(|sample| {
        let same_round =
            |other: &&&ReplaySample| other.round == sample.round && flaw(other).is_none();
        Some((before.iter().find(same_round)?.busy_ns, sample.busy_ns))
    })
}
