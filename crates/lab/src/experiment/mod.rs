//! The engine of `hotset lab`: cells of factors, each sample made in a process of its own.
//!
//! A round runs every cell once in a fresh random order. For a sample, the state is set on exactly the cell's files and
//! verified; then the probe runs, with nothing between; then the sample is judged by what the plan expects of it. A sample
//! that doesn't count is kept and marked, and the cell is run again in its round, a few times at most.
//!
//! What is measured comes as an [`ExperimentPlan`]: the engine knows no experiment. They are in `hotset_experiments`.

mod cell;
mod conditions;
mod count;
mod expects;
mod fill;
mod gates;
mod parts;
mod place;
mod plan;
mod prepare;
mod progress;
mod run;
mod sample;
mod scratch;
mod spawn;

pub use count::{CallCounter, ObservedRun, Sensor, file_calls};
pub use expects::Expects;
pub use parts::{Part, PartSample, Splits};
pub use place::Place;
pub use plan::{
    CellPlan, Contents, ExperimentPlan, ProbeCommand, Prologue, Rounds, TestFile, cell_id, name,
    number,
};
pub use progress::{LabProgress, Watcher};
pub use run::{Bench, ExperimentError, run_experiment};
pub use scratch::{Scratch, ScratchError, default_directories, require_room, sweep};
pub use spawn::invocation;
