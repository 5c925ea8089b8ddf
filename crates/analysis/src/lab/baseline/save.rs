//! What of a session of an experiment a baseline keeps.

use hotset_facts::{
    HostIdentity, LabBaselineCell, LabBaselineSample, LabBaselineSession, LabCell, LabSample,
    LabSession, OtherPrograms,
};

use super::known::{Time, times};
use crate::bench::MIN_ROUNDS;

hotset_facts::words! {
    /// Why a session is nothing to compare with.
    pub enum LabNotSaved {
        /// Someone interrupted it.
        Interrupted = "the experiment was interrupted",
        /// No cell has as many rounds as an interval needs.
        TooFewRounds = "no cell has 6 rounds with a valid sample; ask for more rounds",
    }
}

/// What a baseline keeps of a session.
///
/// # Errors
/// Where the session is not complete, or has no cell that could be compared with.
pub fn saved_session(
    session: &LabSession,
    host: &HostIdentity,
    others: OtherPrograms,
) -> Result<LabBaselineSession, LabNotSaved> {
    if session.interrupted {
        return Err(LabNotSaved::Interrupted);
    }
    let saved = session_of(session, host, others);
    let (few, all) = few_rounds(&saved);
    if few < all { Ok(saved) } else { Err(LabNotSaved::TooFewRounds) }
}

/// How many cells have too few rounds to be compared with, and how many there are, without the second of two equal ones.
pub fn few_rounds(session: &LabBaselineSession) -> (usize, usize) {
    let own = session.cells.iter().filter(|cell| !cell.is_twin());
    let few = own.clone().filter(|cell| times(cell, Time::Wall).len() < MIN_ROUNDS);
    (few.count(), own.count())
}

/// The same of any session, for one that is compared.
pub(super) fn session_of(
    session: &LabSession,
    host: &HostIdentity,
    others: OtherPrograms,
) -> LabBaselineSession {
    LabBaselineSession {
        version: session.version.clone(),
        experiment: session.experiment.clone(),
        size: session.size,
        started_at: session.started_at,
        host: host.clone(),
        environment: session.environment.clone(),
        conditions: session.conditions.clone(),
        other_programs: others,
        facts: session.facts.clone(),
        cells: session.cells.iter().map(cell_of).collect(),
    }
}

fn cell_of(cell: &LabCell) -> LabBaselineCell {
    let counted = cell.samples.iter().filter(|sample| sample.is_valid());
    LabBaselineCell {
        id: cell.id.clone(),
        factors: cell.factors.clone(),
        unit: cell.unit,
        samples: counted.map(sample_of).collect(),
    }
}

fn sample_of(sample: &LabSample) -> LabBaselineSample {
    LabBaselineSample {
        round: sample.round,
        wall_ns: sample.wall_ns,
        operations: sample.operations,
        cpu_ns: sample.cpu_ns,
        bytes: sample.bytes,
        pages: sample.reached_before.map(|reached| reached.pages),
    }
}
