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

pub(super) use library::{Library, compiled_of, library_factors, runtime_of};

use std::path::PathBuf;

use hotset_facts::{LabFact, LabSize, LabSkipped};
use hotset_lab::experiment::{ExperimentPlan, Rounds, name};
use hotset_lab::probes::{Language, Probe};

use crate::Request;

use self::case::Case;
use self::files::Files;

/// Room for the files of one runtime, in bytes: Java's archive of classes takes the most of it.
const BYTES_A_RUNTIME: u64 = 24 << 20;

/// Makes the files of every runtime that the host has, and the plan. Takes some seconds: compilers run.
///
/// # Errors
/// Where no runtime can be had at all, or where one that was asked for is unknown.
pub(super) fn plan(request: &Request) -> Result<ExperimentPlan, String> {
    let (probes, skipped) = probes(request)?;
    let mut plan = ExperimentPlan::new(super::NAME, request.size, rounds(request));
    plan.skipped = skipped;
    plan.written_bytes = BYTES_A_RUNTIME * probes.len() as u64;
    if let Some(first) = request.options.libraries.first() {
        let probe = library::runtime_of(&probes, first).map_err(|why| {
            let missing = plan.skipped.iter().map(|left| format!("; {}: {}", left.what, left.why));
            why + &missing.collect::<String>()
        })?;
        plan.facts.push(LabFact::new(probe.name.clone(), probe.version.clone()));
        library::add_all(&mut plan, probe, request)?;
        return Ok(plan);
    }
    check_what(&request.options.what)?;
    for probe in &probes {
        add(&mut plan, probe, request);
    }
    if plan.cells.is_empty() {
        let why: Vec<_> = plan
            .skipped
            .iter()
            .map(|left_out| format!("{}: {}", left_out.what, left_out.why))
            .collect();
        return Err(match why.is_empty() {
            true => "--what: the chosen runtime does none of these".to_owned(),
            false => format!("no runtime can be measured: {}", why.join("; ")),
        });
    }
    // Of a cell that every size has.
    let many = name("what", "load_class");
    let has_many = plan.cells.iter().any(|cell| cell.factors.contains(&many));
    plan.add_twin(|cell| !has_many || cell.factors.contains(&many));
    Ok(plan)
}

/// Refuses what no runtime is asked to do.
fn check_what(asked: &[String]) -> Result<(), String> {
    match asked.iter().find(|what| !case::WHAT.contains(&what.as_str())) {
        Some(wrong) => Err(format!("--what {wrong}: expected one of {}", case::WHAT.join(", "))),
        None => Ok(()),
    }
}

/// The runtimes that were asked for, and what can't be had. Libraries have one.
///
/// # Errors
/// Where a runtime that was asked for is unknown, or an interpreter that was named can't be used.
pub(super) fn probes(request: &Request) -> Result<(Vec<Probe>, Vec<LabSkipped>), String> {
    let runtime = request.options.runtime.as_deref();
    if let (Some(called), None) = (request.options.libraries.first(), runtime) {
        let why = "needs --runtime python, ruby, node or java";
        return Err(format!("--library {called}: {why}"));
    }
    request.probes(&request.languages()?)
}

/// Below 6 rounds there is no interval; a start of Java or Node takes a tenth of a second and more.
fn rounds(request: &Request) -> Rounds {
    match request.size {
        LabSize::Quick => request.rounds_of_size(6, None),
        LabSize::Default => request.rounds(10, 15, 240),
        LabSize::Full => request.rounds(15, 30, 900),
    }
}

fn add(plan: &mut ExperimentPlan, probe: &Probe, request: &Request) {
    let root: PathBuf = request.path("load").join(directory_name(&probe.name));
    let files = match Files::generate(&root, probe) {
        Ok(files) => files,
        Err(why) => {
            let why = format!("its files could not be made: {why}");
            plan.skip(&probe.name, why);
            return;
        }
    };
    plan.facts.push(LabFact::new(probe.name.clone(), probe.version.clone()));
    for case in cases::cases(probe, &files) {
        if !case.is_in(request.size, &request.options.what) {
            continue;
        }
        match missing(probe, &case) {
            None => plan.cells.extend(case.cells(probe, request.size)),
            Some(way) => {
                let left_out = left_out(probe, &way);
                if !plan.skipped.contains(&left_out) {
                    plan.skipped.push(left_out);
                }
            }
        }
    }
    if probe.language == Language::Java && !root.join("one.jsa").is_file() {
        let version = &probe.version;
        plan.skip(
            format!("{} appcds", probe.name),
            format!(
                "no class data archive was created, which needs Java 13 or later; this is {version}"
            ),
        );
    }
}

/// A name that was typed is a place below the directory, whatever it is.
fn directory_name(name: &str) -> String {
    name.replace('/', "-").trim_start_matches('.').to_owned()
}

/// The way of a case that a runtime of this version does not have.
fn missing(probe: &Probe, case: &Case) -> Option<String> {
    if case.only_starts_as_usual(probe) {
        return Some(case.how().to_owned());
    }
    let needs = case.needs();
    let way = needs.rsplit(':').next().unwrap_or(&needs);
    (!probe.can(&needs)).then(|| way.to_owned())
}

/// What a runtime of this version can't do.
fn left_out(probe: &Probe, way: &str) -> LabSkipped {
    let version = &probe.version;
    let needs = match (probe.language, way) {
        (Language::Node, "compile-cache") => Some("Node 22.1 or later"),
        (Language::Ruby, "iseq") => Some("CRuby 2.3 or later"),
        (Language::Ruby, "compile") => Some("CRuby 1.9 or later"),
        (Language::Ruby, "text" | "legacy") => Some("Ruby 1.9 or later"),
        (Language::Ruby, "rubygems") => {
            Some("Ruby 1.9 or later, which also starts without RubyGems")
        }
        _ => None,
    };
    let why = match needs {
        Some(needs) => format!("needs {needs}; this is {version}"),
        None => format!("{} {version} can't", probe.language.as_str()),
    };
    LabSkipped::new(format!("{} {way}", probe.name), why)
}
