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

use hotset_facts::{Experiment, LabSkipped};

/// The plan of an experiment.
///
/// # Errors
/// Where what was asked for can't be meant, or can't be measured here.
pub fn plan_of(experiment: Experiment, request: &Request) -> Result<ExperimentPlan, PlanError> {
    let plan = match experiment {
        Experiment::Access => access::plan(request),
        Experiment::Buffer => buffer::plan(request),
        Experiment::Load => load::plan(request),
        Experiment::Reread => reread::plan(request),
        Experiment::Direct => direct::plan(request),
    }?;
    Ok(if request.place.in_memory { without_cold(plan, &request.place.filesystem) } else { plan })
}

/// Nothing can be evicted where files are nowhere but in memory: such cells would only ever be marked.
fn without_cold(mut plan: ExperimentPlan, filesystem: &str) -> ExperimentPlan {
    const WHAT: &str = "state cold";
    let all = plan.cells.len();
    plan.cells.retain(|cell| !cell.state.is_cold());
    if plan.cells.len() < all && !plan.skipped.iter().any(|skipped| skipped.what == WHAT) {
        let why = format!("files of {filesystem} are nowhere but in memory");
        plan.skipped.push(LabSkipped { what: WHAT.to_owned(), why });
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::Scratch;

    #[test]
    fn where_files_are_in_memory_no_experiment_plans_a_cold_cell() {
        let scratch = Scratch::new();
        let mut place = Place::look(&scratch.path("")).expect("a place");
        place.in_memory = true;
        place.filesystem = "tmpfs".to_owned();
        place.direct = Err("its files are in memory".to_owned());
        let request = Request { size: Size::Quick, place, options: Options::default() };
        for experiment in [Experiment::Access, Experiment::Direct, Experiment::Reread] {
            let plan = plan_of(experiment, &request).expect("a plan");
            assert!(!plan.cells.is_empty(), "{experiment:?}");
            assert!(plan.cells.iter().all(|cell| !cell.state.is_cold()), "{experiment:?}");
            let cold = plan.skipped.iter().filter(|skipped| skipped.what == "state cold");
            assert_eq!(cold.count(), 1, "{experiment:?}");
        }
    }
}
