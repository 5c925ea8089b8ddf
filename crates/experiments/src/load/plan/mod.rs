//! `lab load`: why is loading many small files slow?
//!
//! The same 100 classes are loaded from 100 files and from one, in every form that a runtime has for them; beside that,
//! what loading is made of: reading, asking whether a file is there, compiling, searching. `docs/experiments.md` has the method.

mod case;
mod cases;
mod files;
mod library;
mod sources;
#[cfg(test)]
mod tests;

pub(super) use library::{Library, library_factors, runtime_of};

use std::path::PathBuf;
use std::time::Duration;

use hotset_facts::{LabFact, LabSize, LabSkipped};
use hotset_lab::experiment::{CellPlan, ExperimentPlan, PlanError, Request, Rounds, name};
use hotset_lab::probes::{Language, Probe};

use self::files::Files;

/// Room for the files of one runtime, in bytes: Java's archive of classes takes the most of it.
const BYTES_A_RUNTIME: u64 = 24 << 20;

/// Makes the files of every runtime that the host has, and the plan. Takes some seconds: compilers run.
///
/// # Errors
/// Where no runtime can be had at all, or where one that was asked for is unknown.
pub(super) fn plan(request: &Request) -> Result<ExperimentPlan, PlanError> {
    let (probes, skipped) = probes(request)?;
    let mut plan = ExperimentPlan {
        experiment: super::NAME,
        size: request.size,
        rounds: rounds(request),
        cells: Vec::new(),
        skipped,
        prepare: Vec::new(),
        written_bytes: BYTES_A_RUNTIME * probes.len() as u64,
        facts: Vec::new(),
    };
    if let Some(called) = &request.options.library {
        let probe = library::runtime_of(&probes, called)?;
        library::add(&mut plan, probe, request, called)?;
        return Ok(plan);
    }
    for probe in &probes {
        add(&mut plan, probe, request);
    }
    if plan.cells.is_empty() {
        let why: Vec<_> =
            plan.skipped.iter().map(|one| format!("{}: {}", one.what, one.why)).collect();
        return Err(PlanError(format!("no runtime can be measured: {}", why.join("; "))));
    }
    // Of a cell that every size has.
    let many = name("what", "load_class");
    let twin = plan.cells.iter().find(|cell| cell.factors.contains(&many));
    let twin = twin.or(plan.cells.first()).map(CellPlan::twin);
    plan.cells.extend(twin);
    Ok(plan)
}

/// The runtimes that were asked for, and what can't be had. A library has one.
///
/// # Errors
/// Where a runtime that was asked for is unknown.
pub(super) fn probes(request: &Request) -> Result<(Vec<Probe>, Vec<LabSkipped>), PlanError> {
    let named = &request.options.interpreters;
    for (place, (name, _)) in named.iter().enumerate() {
        if named.iter().take(place).any(|(other, _)| other == name) {
            return Err(PlanError(format!("--interpreter {name}=...: {name} is given twice")));
        }
    }
    let runtime = request.options.runtime.as_deref();
    if let (Some(called), None) = (&request.options.library, runtime) {
        let why = "needs --runtime python, ruby, node or java";
        return Err(PlanError(format!("--library {called}: {why}")));
    }
    Ok(request.probes(&languages(runtime)?))
}

/// The runtimes of a name; all where none is given.
pub(crate) fn languages(name: Option<&str>) -> Result<Vec<Language>, PlanError> {
    let Some(name) = name else { return Ok(Language::ALL.to_vec()) };
    let known: Vec<&str> = Language::ALL.iter().map(|language| language.as_str()).collect();
    let unknown = || PlanError(format!("--runtime {name}: must be one of {}", known.join(", ")));
    Language::from_name(name).map(|language| vec![language]).ok_or_else(unknown)
}

/// Below 6 rounds there is no interval; a start of Java or Node takes a tenth of a second and more.
fn rounds(request: &Request) -> Rounds {
    if let Some(exactly) = request.options.rounds {
        return Rounds { min: exactly, max: exactly, budget: None };
    }
    match request.size {
        LabSize::Quick => Rounds { min: 6, max: 6, budget: None },
        LabSize::Default => Rounds { min: 10, max: 15, budget: Some(Duration::from_secs(240)) },
        LabSize::Full => Rounds { min: 15, max: 30, budget: Some(Duration::from_secs(900)) },
    }
}

fn add(plan: &mut ExperimentPlan, probe: &Probe, request: &Request) {
    let root: PathBuf = request.path("load").join(directory_name(&probe.name));
    let files = match Files::generate(&root, probe) {
        Ok(files) => files,
        Err(why) => {
            let why = format!("its files could not be made: {why}");
            plan.skipped.push(LabSkipped { what: probe.name.clone(), why });
            return;
        }
    };
    plan.facts.push(LabFact::new(probe.name.clone(), probe.version.clone()));
    for case in cases::cases(probe, &files) {
        if !case.is_in(request.size) {
            continue;
        }
        if probe.can(&case.needs()) {
            plan.cells.extend(case.cells(probe, request.size));
        } else {
            plan.skipped.push(left_out(probe, &case.needs()));
        }
    }
    if probe.language == Language::Java && !root.join("one.jsa").is_file() {
        plan.skipped.push(LabSkipped {
            what: format!("{} appcds", probe.name),
            why: format!(
                "it made no class data archive; Java 13 and later do, this is {}",
                probe.version
            ),
        });
    }
}

/// A name that was typed is a place below the directory, whatever it is.
fn directory_name(name: &str) -> String {
    name.replace('/', "-").trim_start_matches('.').to_owned()
}

/// What a runtime of this version can't do.
fn left_out(probe: &Probe, needs: &str) -> LabSkipped {
    let way = needs.rsplit(':').next().unwrap_or(needs);
    let why = match way {
        "compile-cache" => format!("needs Node 22.1 or later, this is {}", probe.version),
        "iseq" | "compile" => format!("needs CRuby; this is {}", probe.version),
        _ => format!("{} {} can't", probe.language.as_str(), probe.version),
    };
    LabSkipped { what: format!("{} {way}", probe.name), why }
}
