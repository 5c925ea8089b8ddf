//! Replays of a recording, in rounds: copies of what it changes made anew, the pages of its files set and verified, its steps done
//! by a process of its own.
//!
//! [`Replays`] takes the plan of the recording as it is, and plans with changes; each round replays each of them once from each
//! state, in a random order. Originals are never changed: the process opens them for reading alone, and where it has the rights,
//! the kernel keeps everything but the copies from it.

mod child;
mod copies;
mod device_order;
mod originals;
mod pages;
mod place;
mod process;
mod run;
mod wire;

use std::io;

use crate::experiment::ScratchError;

pub use child::serve;
pub use device_order::device_order;
pub use place::directory_for;
pub use run::{ReplayBench, ReplayProgress, ReplaySource, Replays};

/// The directory of the copies, in the one that a replay works in.
const COPIES: &str = "copies";
/// That of copies which no step changes, beside it.
const KEPT: &str = "kept";

/// Why there is no replay.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// There is no room for copies.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// The root of the files can't be opened.
    #[error("--root {}: {error}", root.display())]
    Root {
        /// The directory.
        root: std::path::PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A copy can't be made.
    #[error("cannot copy what the recording changes: {0}")]
    Copies(io::Error),
    /// The program that replays is not known.
    #[error("cannot start the process that replays: no program was named")]
    NoProgram,
    /// It can't be started.
    #[error("cannot start the process that replays: {0}")]
    Start(io::Error),
    /// It can't be limited.
    #[error(
        "cannot limit the memory of the process that replays: {0}; use --no-limit to replay without a limit"
    )]
    Limit(io::Error),
    /// It did not replay.
    #[error("{0}")]
    Failed(String),
}
