//! The budget, found and read, with the baselines that it names.

use std::fs;
use std::path::{Path, PathBuf};

use hotset_analysis::diff::Side;
use hotset_control::Patterns;
use hotset_facts::budget::{Budget, Check};
use hotset_view::read_profile;
use hotset_view::wire::documents;

use crate::exit::{Exit, Stop};
use crate::output;

/// The name that is looked for.
const NAME: &str = "hotset.toml";
/// No budget is this large; what is, is something else.
const MAX_BYTES: u64 = 16 << 20;

/// A budget that was read.
pub(super) struct Found {
    /// The file.
    pub(super) path: PathBuf,
    /// Where it is, which its paths are relative to.
    pub(super) directory: PathBuf,
    /// As it stands there.
    pub(super) text: String,
    /// What it means.
    pub(super) budget: Budget,
}

/// Reads the budget that was named, or the nearest.
pub(super) fn find(named: Option<&Path>) -> Result<Found, Stop> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => nearest()?,
    };
    let wrong =
        |why: &dyn std::fmt::Display| Stop::usage(format_args!("{}: {why}", path.display()));
    let length = fs::metadata(&path).map_err(|error| wrong(&error))?.len();
    if length > MAX_BYTES {
        return Err(wrong(&"more than 16 MiB; expected a budget"));
    }
    let bytes = fs::read(&path).map_err(|error| wrong(&error))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong(&"not UTF-8; expected TOML"))?;
    let budget = hotset_budget::read(&text).map_err(|error| wrong(&error))?;
    budget.checks.iter().try_for_each(patterns).map_err(|error| wrong(&error))?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = parent.unwrap_or(Path::new(".")).to_owned();
    Ok(Found { path, directory, text, budget })
}

/// Refuses a pattern that is none: it would fit no file, and its limits would be held.
fn patterns(check: &Check) -> Result<(), String> {
    for files in &check.file {
        let all: Vec<String> = [&files.pattern].into_iter().chain(&files.except).cloned().collect();
        Patterns::new(&all).map_err(|error| format!("check \"{}\": {error}", check.name))?;
    }
    Ok(())
}

/// The budget of this directory, or of the nearest above.
fn nearest() -> Result<PathBuf, Stop> {
    if Path::new(NAME).exists() {
        return Ok(NAME.into());
    }
    let here = std::env::current_dir().map_err(Stop::own)?;
    let above = here.ancestors().skip(1).map(|directory| directory.join(NAME));
    above.into_iter().find(|path| path.exists()).ok_or_else(|| {
        Stop::usage(format_args!(
            "there is no {NAME} in {} or above; `hotset check --init -- CMD > {NAME}` writes one",
            here.display()
        ))
    })
}

/// The baseline of a check. One that is not there yet is said, and limits above it are not held.
pub(super) fn baseline(found: &Found, check: &Check) -> Result<Option<Side>, Stop> {
    let Some(file) = &check.baseline else { return Ok(None) };
    let path = found.directory.join(file);
    let wrong = |why: &dyn std::fmt::Display| {
        Stop::new(Exit::Usage, format_args!("{}: {why}", path.display()))
    };
    let bytes = match fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            output::say(format_args!(
                "{}: the baseline of \"{}\" is not there; `hotset check --update` writes it",
                path.display(),
                check.name
            ));
            return Ok(None);
        }
        read => read.map_err(|error| wrong(&error))?,
    };
    let all = documents(&bytes).map_err(|error| wrong(&error))?;
    let [document] = all.as_slice() else {
        return Err(wrong(&format_args!("holds {} results; expected one profile", all.len())));
    };
    let read = read_profile(document).map_err(|error| wrong(&error))?;
    Ok(Some(Side::of_profile(&read.profile).read_from(Some(&path), &read.version)))
}
