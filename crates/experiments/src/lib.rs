//! The experiments of `hotset lab`, a folder each: what it measures (`plan`), the jobs of its native probes (`jobs`), what
//! the cells say (`answers`), how they are drawn (`charts`), what others published (`published`), and what it asks the
//! sensor afterwards (`sensor`).
//!
//! A new one is a folder, its `mod` and its entry in [`ALL`]. The engine that runs a plan is `hotset_lab`, what all share of
//! numbers and pages is in `hotset_analysis::lab` and `hotset_view::lab`; none of these knows an experiment. Only `cli` uses this
//! crate. It must not print, and knows the sensor only as a [`hotset_lab::experiment::Sensor`].

#![forbid(unsafe_code)]

mod access;
mod buffer;
mod direct;
mod experiment;
mod load;
mod request;
mod reread;
#[cfg(test)]
mod testing;

use std::collections::HashSet;
use std::path::Path;

use hotset_analysis::lab::summarise_lab;
use hotset_facts::{LabSession, WantedState};
use hotset_lab::experiment::ExperimentPlan;
use hotset_sys::cache::residency_at;
use hotset_sys::rawio::Job;
use hotset_view::lab::LabResult;

pub use experiment::{AfterRun, Experiment};
pub use request::{Options, Request};

/// All experiments, in the order in which they are run.
pub static ALL: &[&Experiment] =
    &[&reread::REREAD, &buffer::BUFFER, &access::ACCESS, &load::LOAD, &direct::DIRECT];

/// The experiment of a name.
pub fn find(name: &str) -> Option<&'static Experiment> {
    ALL.iter().copied().find(|experiment| experiment.name == name)
}

/// The names of all, for people.
pub fn names() -> String {
    ALL.iter().map(|experiment| experiment.name).collect::<Vec<_>>().join(", ")
}

/// The plan of an experiment, without what can't be at this place.
///
/// # Errors
/// Where what was asked for can't be meant, or can't be measured here.
pub fn plan_of(experiment: &Experiment, request: &Request) -> Result<ExperimentPlan, String> {
    let (plan, place) = ((experiment.plan)(request)?, &request.place);
    require_known_states(&plan)?;
    Ok(if place.in_memory { plan.without_cold(&place.filesystem) } else { plan })
}

/// Refuses files of others of which nobody tells this user what is cached: no sample would be valid.
fn require_known_states(plan: &ExperimentPlan) -> Result<(), String> {
    let mut seen: HashSet<&Path> = plan.prepare.iter().map(|made| made.path.as_path()).collect();
    let set = plan.cells.iter().filter(|cell| cell.state != WantedState::AsIs);
    for path in set.flat_map(|cell| &cell.files) {
        if !seen.insert(path) {
            continue;
        }
        residency_at(path).map_err(|error| {
            format!(
                "no sample would be valid, because the cache state of a file is unknown: {error}"
            )
        })?;
    }
    Ok(())
}

/// A session in numbers, answers and charts.
///
/// # Errors
/// Where no experiment has its name.
pub fn present(session: LabSession) -> Result<LabResult, String> {
    let experiment = find(&session.experiment).ok_or_else(|| {
        format!("\"{}\" is no experiment; expected one of {}", session.experiment, names())
    })?;
    Ok(LabResult {
        summary: summarise_lab(session, experiment.answers),
        question: experiment.question,
        charts: experiment.charts,
        published: experiment.published,
    })
}

/// The job of a native probe by its name.
pub fn job(name: &str) -> Option<Job> {
    jobs().find(|(known, _)| *known == name)
}

/// All jobs of native probes.
pub fn jobs() -> impl Iterator<Item = Job> {
    ALL.iter().flat_map(|experiment| experiment.jobs).copied()
}

#[cfg(test)]
mod tests {
    use hotset_facts::LabSize;
    use hotset_lab::experiment::Place;

    use super::*;
    use crate::testing::Scratch;

    #[test]
    fn every_experiment_and_every_job_has_a_name_of_its_own() {
        let unique = |names: Vec<&'static str>| {
            let all = names.len();
            names.into_iter().collect::<HashSet<_>>().len() == all
        };
        assert!(unique(ALL.iter().map(|experiment| experiment.name).collect()));
        assert!(unique(jobs().map(|(name, _)| name).collect()));
        assert!(job("access").is_some() && job("sweep").is_none());
        assert!(ALL.iter().all(|known| find(known.name).is_some()) && find("all").is_none());
    }

    #[test]
    fn a_session_of_an_unknown_experiment_is_refused_by_name() {
        let session = hotset_analysis::lab::testing::session("rewrite", Vec::new());
        let error = present(session).expect_err("refused");
        assert!(error.contains("\"rewrite\"") && error.contains("reread, buffer"), "{error}");
    }

    #[test]
    fn where_files_are_in_memory_no_experiment_plans_a_cold_cell() {
        let scratch = Scratch::new();
        let mut place = Place::look(&scratch.path("")).expect("a place");
        place.in_memory = true;
        place.filesystem = "tmpfs".to_owned();
        place.direct = Err("its files are in memory".to_owned());
        let request =
            Request { size: LabSize::Quick, rounds: None, place, options: Options::default() };
        for name in ["access", "direct", "reread"] {
            let plan = plan_of(find(name).expect(name), &request).expect("a plan");
            assert!(!plan.cells.is_empty(), "{name}");
            assert!(plan.cells.iter().all(|cell| !cell.state.is_cold()), "{name}");
            let cold = plan.skipped.iter().filter(|skipped| skipped.what == "state cold");
            assert_eq!(cold.count(), 1, "{name}");
        }
    }
}
