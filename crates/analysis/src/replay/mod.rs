//! Replays of a recording: how long its I/O takes, whether that is what was recorded, and what a change gains.
//!
//! The I/O time of a replay is the time of its threads, without what they waited for each other. The I/O time of the recording is
//! the sum of its durations, and of what a duration does not hold: entering and leaving the kernel. Faults that found their page are
//! not timed when they are recorded: where both are compared, they are left out.

mod cell;
mod fidelity;
mod pattern;
mod prediction;
mod summary;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;

pub use cell::{ReplayCell, ReplayFlaw};
pub use fidelity::{FIDELITY, Fidelity, NoClaim};
pub use pattern::{PatternCount, PatternRow, pattern_rows};
pub use prediction::{NoPrediction, Prediction};
pub use summary::{ReplayRatio, ReplaySummary, summarise_replay};
