//! `hotset.replay/1`: replays of a recording, and what follows from them.

use hotset_analysis::replay::{Fidelity, Prediction, ReplayCell, ReplayRatio, ReplaySummary};
use hotset_facts::replay::ReplaySession;
use serde::Serialize;

use super::{Document, Envelope, ReadError};

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.replay/1";

/// One line of JSON, schema `hotset.replay/1`.
pub fn replay_json(summary: &ReplaySummary) -> Vec<u8> {
    Envelope::of_version(SCHEMA, &summary.session.version, Whole::of(summary)).to_line()
}

/// What [`replay_json`] wrote.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_replay(document: &Document<'_>) -> Result<ReplaySession, ReadError> {
    let session: ReplaySession = document.read(SCHEMA)?;
    Ok(ReplaySession { version: document.hotset.clone().into_owned(), ..session })
}

impl<'a> Whole<'a> {
    /// What a document says of replays.
    pub(super) fn of(summary: &'a ReplaySummary) -> Self {
        let ReplaySummary { session, cells, fidelity, ratios, predictions } = summary;
        Self { session, cells, fidelity, ratios, predictions }
    }
}

/// What the document holds beside its envelope.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Whole<'a> {
    #[serde(flatten)]
    session: &'a ReplaySession,
    /// Each variant from each cache state.
    cells: &'a [ReplayCell],
    /// Whether the replay of the recording as it is behaves as recorded.
    fidelity: &'a Fidelity,
    /// Each changed variant beside the recording as it is.
    ratios: &'a [ReplayRatio],
    /// What each changed variant would gain the program.
    predictions: &'a [Prediction],
}
