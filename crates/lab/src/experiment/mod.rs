//! The experiments of `hotset lab`: cells of factors, each sample made in a process of its own.
//!
//! A round runs every cell once in a fresh random order. For a sample, the state is set on exactly the cell's files and
//! verified; then the probe runs, with nothing between; then the sample is judged by what the plan expects of it. A sample
//! that doesn't count is kept and marked, and the cell is run again in its round, a few times at most.
//!
//! `plan` has the words of a plan, one module an experiment makes its plan from a size. What the samples say is
//! `hotset_analysis::lab`'s matter.

pub mod access;
mod answer;
pub mod buffer;
mod conditions;
mod count;
pub mod direct;
mod fill;
mod gates;
pub mod load;
mod parts;
mod place;
mod plan;
mod prepare;
mod probes;
mod progress;
mod request;
pub mod reread;
mod run;
mod sample;
mod scratch;
mod spawn;
mod turn;

pub use answer::{ProbeAnswer, ProbeRepetition};
pub use count::{CallCounter, CountedCalls};
pub use parts::{Part, PartSample, Splits};
pub use place::Place;
pub use plan::{
    CellPlan, Contents, Expects, ExperimentPlan, ProbeCommand, Prologue, Rounds, Size, TWIN,
    TestFile, cell_id, name, number,
};
pub use progress::{LabProgress, Watcher};
pub use request::{Options, PlanError, Request};
pub use run::{Bench, ExperimentError, run_experiment};
pub use scratch::{Scratch, ScratchError, require_room, sweep};
pub use spawn::invocation;

use hotset_facts::Experiment;

/// The plan of an experiment.
///
/// # Errors
/// Where what was asked for can't be meant, or can't be measured here.
pub fn plan_of(experiment: Experiment, request: &Request) -> Result<ExperimentPlan, PlanError> {
    match experiment {
        Experiment::Access => access::plan(request),
        Experiment::Buffer => buffer::plan(request),
        Experiment::Load => load::plan(request),
        Experiment::Reread => reread::plan(request),
        Experiment::Direct => direct::plan(request),
    }
}
