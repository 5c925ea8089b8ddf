//! `lab load --library`: a library of the host, loaded by its name.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use hotset_facts::{Factor, LabFact, LabUnit, WantedState};
use hotset_lab::experiment::{
    CellPlan, Contents, Expects, ExperimentPlan, ProbeCommand, TestFile, name,
};
use hotset_lab::probes::{Language, Probe, Start};

use crate::Request;
use serde::Deserialize;

/// What a probe does that loads a library.
const JOB: &str = "library";
/// Endings of what a runtime compiles; what it loads beside that is compiled already, or data.
const SOURCES: [&str; 5] = ["py", "rb", "js", "cjs", "mjs"];

/// What a probe says of a library that it loaded.
#[derive(Debug, Deserialize)]
struct Loaded {
    /// Modules, also those that come from no file of their own.
    #[serde(default)]
    modules: u64,
    #[serde(default)]
    files: Vec<LoadedFile>,
}

#[derive(Debug, Deserialize)]
struct LoadedFile {
    source: PathBuf,
    /// The compiled form, where that was read in its place.
    read: PathBuf,
}

/// A library as its runtime loads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Library {
    /// The words that load it.
    pub(crate) load: Vec<OsString>,
    /// The words that load nothing, for comparison.
    pub(crate) nothing: Vec<OsString>,
    /// The files that are read for it.
    pub(crate) files: Vec<PathBuf>,
    /// Those of them that are compiled while it loads.
    pub(crate) sources: Vec<PathBuf>,
    /// What it told, as names and values.
    pub(crate) facts: Vec<LabFact>,
}

impl Library {
    /// The library that was asked for, with its runtime as the host would start it.
    ///
    /// # Errors
    /// Where the runtime can't load it: what that says.
    pub(crate) fn of(probe: &Probe, called: &str) -> Result<Self, String> {
        let refused =
            |why: String| format!("--library {called}: {} can't load it: {why}", probe.name);
        let (load, nothing) = (argv(probe, called, &[]), argv(probe, "", &[]));
        let told =
            probe.ask(&start(probe, &[]), JOB, &[("name", called.into())]).map_err(refused)?;
        let loaded: Loaded =
            serde_json::from_slice(&told).map_err(|error| refused(error.to_string()))?;
        let compiled = |file: &&LoadedFile| file.read == file.source && is_source(&file.source);
        let sources: Vec<PathBuf> =
            loaded.files.iter().filter(compiled).map(|file| file.source.clone()).collect();
        let fact = |what: &str, number: u64| LabFact::new(format!("{what} of {called}"), number);
        let facts = if probe.language == Language::Java {
            vec![fact("classes", classes(probe, called)?)]
        } else {
            vec![
                fact("modules", loaded.modules),
                fact("files", loaded.files.len() as u64),
                LabFact::new(compiled_of(called), sources.len() as u64),
            ]
        };
        // A module of an archive is named below it.
        let read = loaded.files.into_iter().map(|file| file.read);
        let files = read.filter(|path| path.is_file()).collect();
        Ok(Self { load, nothing, files, sources, facts })
    }
}

/// The fact that tells how many files are compiled while a library loads.
pub(crate) fn compiled_of(called: &str) -> String {
    format!("files compiled while loading of {called}")
}

/// As the user's own programs are started: with the host's packages.
fn start(probe: &Probe, flags: &[&str]) -> Start {
    let flags = flags.iter().map(OsString::from).collect();
    let set = std::env::var_os("CLASSPATH").filter(|_| probe.language == Language::Java);
    Start { flags: Some(flags), class_path: set.iter().flat_map(std::env::split_paths).collect() }
}

fn argv(probe: &Probe, called: &str, flags: &[&str]) -> Vec<OsString> {
    probe.argv_with(&start(probe, flags), JOB, &[("name", called.into())])
}

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|ending| SOURCES.iter().any(|source| ending == *source))
}

/// Classes that come with one, by the runtime's own log.
fn classes(probe: &Probe, called: &str) -> Result<u64, String> {
    let count = |called: &str| -> Result<u64, String> {
        let argv = argv(probe, called, &["-Xlog:class+load=info:stderr"]);
        let output = Command::new(&argv[0]).args(&argv[1..]).output();
        let output = output.map_err(|error| format!("{}: {error}", probe.name))?;
        Ok(output.stderr.iter().filter(|&&byte| byte == b'\n').count() as u64)
    };
    Ok(count(called)?.saturating_sub(count("")?))
}

/// The one runtime of a request for a library: the last one of those that were named, else the host's.
///
/// # Errors
/// Where there is none that loads libraries by their names.
pub(crate) fn runtime_of<'a>(probes: &'a [Probe], called: &str) -> Result<&'a Probe, String> {
    let can = |probe: &&Probe| !matches!(probe.language, Language::C | Language::Go);
    probes.iter().rfind(can).ok_or_else(|| {
        let why = "needs --runtime python, ruby, node or java, and one that is installed";
        format!("--library {called}: {why}")
    })
}

/// Adds the cells of every library that was asked for, each once.
///
/// # Errors
/// As [`Library::of`].
pub(super) fn add_all(
    plan: &mut ExperimentPlan,
    probe: &Probe,
    request: &Request,
) -> Result<(), String> {
    let libraries = &request.options.libraries;
    for (place, called) in libraries.iter().enumerate() {
        if !libraries.iter().take(place).any(|other| other == called) {
            let list = request.path(&format!("sources-{place}"));
            add(plan, probe, called, list)?;
        }
    }
    Ok(())
}

/// Adds the cells of a library: the whole, warm and cold, and compiling what is compiled while it loads. The names of its sources
/// stand in the file `list`.
///
/// # Errors
/// As [`Library::of`].
fn add(
    plan: &mut ExperimentPlan,
    probe: &Probe,
    called: &str,
    list: PathBuf,
) -> Result<(), String> {
    let library = Library::of(probe, called)?;
    plan.facts.extend(library.facts.clone());
    let cell = |part: &str, state: WantedState, argv: Vec<OsString>, expects: Expects| {
        let probe_command = ProbeCommand::Program { argv };
        let mut cell =
            CellPlan::new(library_factors(probe, called, part, state), state, probe_command);
        cell.unit = LabUnit::Nanoseconds;
        cell.files = library.files.clone();
        cell.expects = expects;
        cell
    };
    let whole = || library.load.clone();
    if library.files.is_empty() {
        let why = "its modules come from archives that every program of the runtime maps, or from the runtime itself";
        plan.skip(format!("{called}, cold"), why);
        plan.cells.push(cell("total", WantedState::AsIs, whole(), Expects::warm()));
    } else {
        // Objects are mapped and archives are read in part: how much comes from the device isn't known before.
        plan.cells.push(cell("total", WantedState::Warm, whole(), Expects::warm()));
        plan.cells.push(cell("total", WantedState::Cold, whole(), Expects::default()));
    }
    if !probe.can("compilefiles") {
        let why = "it has no compiler that can be timed separately";
        plan.skip(format!("{called}, compiling"), why);
        return Ok(());
    }
    if library.sources.is_empty() {
        let why = "none of its files is compiled while it loads";
        plan.skip(format!("{called}, compiling"), why);
        return Ok(());
    }
    let lines =
        library.sources.iter().flat_map(|path| [path.as_os_str().as_encoded_bytes(), b"\n"]);
    plan.prepare.push(TestFile {
        path: list.clone(),
        contents: Contents::Bytes(lines.collect::<Vec<_>>().concat()),
    });
    let argv = probe.argv("compilefiles", &[("list", list.into())]);
    plan.cells.push(cell("compile", warm_or_as_is(&library), argv, Expects::warm()));
    Ok(())
}

fn warm_or_as_is(library: &Library) -> WantedState {
    if library.files.is_empty() { WantedState::AsIs } else { WantedState::Warm }
}

/// The factors of a part of loading a library; `as-is` where it has no files whose state could be set counts as warm, which
/// the device reads of each sample show.
pub(crate) fn library_factors(
    probe: &Probe,
    called: &str,
    part: &str,
    state: WantedState,
) -> Vec<Factor> {
    vec![
        name("runtime", probe.name.clone()),
        name("what", "library"),
        name("library", called),
        name("part", part),
        name("state", if state == WantedState::Cold { "cold" } else { "warm" }),
    ]
}
