//! Finding runtimes on the host.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hotset_facts::LabSkipped;
use serde::Deserialize;

use super::build::build;
use super::language::Language;
use super::probe::{Probe, Start};
use crate::program::{can_run, check, on_path};

/// An interpreter that was named: `--interpreter NAME=PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    /// What it is called in results.
    pub name: String,
    /// The program.
    pub path: PathBuf,
}

/// What a probe says of itself.
#[derive(Debug, Deserialize)]
struct About {
    version: String,
    executable: PathBuf,
    supports: Vec<String>,
}

/// Every runtime that the host has, with those that were named beside it; and what can't be had. One that was named like its
/// language stands in the place of the host's. What has to be built is kept below `cache`.
pub fn find(
    languages: &[Language],
    named: &[Interpreter],
    cache: &Path,
) -> (Vec<Probe>, Vec<LabSkipped>) {
    let (mut probes, mut skipped) = (Vec::new(), Vec::new());
    let mut take = |what: &str, found: Result<Probe, String>| match found {
        Ok(probe) => probes.push(probe),
        Err(why) => skipped.push(LabSkipped::new(what, why)),
    };
    for language in languages {
        let named: Vec<_> =
            named.iter().filter(|named| language_of(named) == Some(*language)).collect();
        if !named.iter().any(|named| named.name == language.as_str()) {
            take(language.as_str(), on_host(*language, cache));
        }
        for interpreter in &named {
            let found = runnable(interpreter)
                .and_then(|path| ready(&interpreter.name, *language, &path, cache));
            take(&interpreter.name, found);
        }
    }
    for stranger in named.iter().filter(|named| language_of(named).is_none()) {
        take(&stranger.name, runnable(stranger).and_then(|_| Err(unknown(stranger))));
    }
    (probes, skipped)
}

fn on_host(language: Language, cache: &Path) -> Result<Probe, String> {
    let places = || language.places().iter().map(PathBuf::from);
    let program = language.programs().iter().find_map(|name| {
        on_path(name).or_else(|| places().map(|place| place.join(name)).find(|path| can_run(path)))
    });
    let (names, package) = (language.programs().join(", "), language.package());
    let program = program.ok_or_else(|| {
        format!("none of {names} is on PATH; on Debian: apt-get install {package}")
    })?;
    ready(language.as_str(), language, &program, cache)
        .map_err(|why| format!("{why}; on Debian: apt-get install {package}"))
}

/// The program of an interpreter; a word without a slash is searched for on PATH.
fn runnable(interpreter: &Interpreter) -> Result<PathBuf, String> {
    let path = &interpreter.path;
    let on_path = path.to_str().filter(|word| !word.contains('/')).and_then(on_path);
    on_path.map_or_else(|| check(path).map_err(|error| error.to_string()), Ok)
}

fn language_of(interpreter: &Interpreter) -> Option<Language> {
    Language::of_program(interpreter.path.file_name()?.to_str()?)
}

fn unknown(stranger: &Interpreter) -> String {
    let known: Vec<&str> =
        Language::ALL.iter().flat_map(|language| language.programs()).copied().collect();
    format!(
        "{}: by its name it is none of {}, with a version behind it or not",
        stranger.path.display(),
        known.join(", ")
    )
}

fn ready(name: &str, language: Language, program: &Path, cache: &Path) -> Result<Probe, String> {
    let place = build(language, program, cache)?;
    let own = match language {
        Language::C | Language::Go => place.join("probe"),
        _ => program.to_owned(),
    };
    let mut probe = Probe {
        name: name.to_owned(),
        language,
        version: String::new(),
        program: own,
        found: program.to_owned(),
        flags: Vec::new(),
        place,
        supports: Vec::new(),
    };
    let about = start(&mut probe)?;
    // A version manager's shim would be timed with what it starts.
    (probe.program, probe.version, probe.supports) =
        (about.executable, about.version, about.supports);
    Ok(probe)
}

/// Starts it with the first of its language's flags that its version knows, and keeps these.
fn start(probe: &mut Probe) -> Result<About, String> {
    let mut refused = String::new();
    for flags in probe.language.flags() {
        probe.flags = flags.iter().map(OsString::from).collect();
        match about(probe) {
            Ok(about) => return Ok(about),
            Err(why) => refused = why,
        }
    }
    Err(refused)
}

fn about(probe: &Probe) -> Result<About, String> {
    let words = probe.ask(&Start::default(), "about", &[])?;
    serde_json::from_slice(&words)
        .map_err(|error| format!("{}: what it says isn't of the contract: {error}", probe.name))
}
