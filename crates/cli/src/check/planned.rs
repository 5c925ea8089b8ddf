//! From a check to a command that can be run.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use hotset_facts::BenchCommand;
use hotset_facts::budget::{Check, Words};
use hotset_lab::shell::{Shell, split};
use hotset_lab::{
    CommandPlan, Hooks, Input, Invocation, Output, Streams, Surroundings, find_program,
};

/// The command of a check, whose paths are relative to `directory`.
///
/// # Errors
/// Where there is no such program or directory, or a quote is not closed.
pub(super) fn planned(check: &Check, directory: &Path) -> io::Result<CommandPlan> {
    let place = match &check.directory {
        Some(inner) => directory.join(inner),
        None => directory.to_owned(),
    };
    let place = std::fs::canonicalize(&place).map_err(|error| {
        io::Error::new(error.kind(), format!("directory {}: {error}", place.display()))
    })?;
    let invocation = find(words(&check.command)?, &place, check)?;
    let command = BenchCommand {
        name: check.name.clone(),
        argv: invocation.argv,
        shell: None,
        parameters: Vec::new(),
    };
    let prepare = check.prepare.as_ref().map(|prepare| hook(prepare, &place, check)).transpose()?;
    let variables = check.env.iter().map(|(name, value)| (name.into(), value.into()));
    let surroundings =
        Surroundings { variables: variables.collect(), directory: Some(place.clone()) };
    let streams =
        Streams { input: Input::Null, output: output(check, &place), errors: Output::Tail };
    let hooks = Hooks { prepare, ..Hooks::default() };
    Ok(CommandPlan { command, program: invocation.program, streams, hooks, surroundings })
}

fn output(check: &Check, place: &Path) -> Output {
    match check.output.as_deref() {
        None | Some("null") => Output::Null,
        Some("inherit") => Output::Inherit,
        Some(file) => Output::File(place.join(file)),
    }
}

fn words(words: &Words) -> io::Result<Vec<OsString>> {
    match words {
        Words::Line(line) => split(line.as_ref()),
        Words::List(words) => Ok(words.iter().map(OsString::from).collect()),
    }
}

/// A line is the shell's: it stands around the command, and is not counted.
fn hook(prepare: &Words, place: &Path, check: &Check) -> io::Result<Invocation> {
    match prepare {
        Words::Line(line) => Ok(Shell::of_hooks().run(line.as_ref())),
        Words::List(_) => find(words(prepare)?, place, check),
    }
}

/// Finds a program: with a slash from the check's directory on, else by the PATH that it will have.
fn find(argv: Vec<OsString>, place: &Path, check: &Check) -> io::Result<Invocation> {
    let search = match check.env.get("PATH") {
        Some(own) => Some(own.into()),
        None => std::env::var_os("PATH"),
    };
    let mut from = argv.clone();
    if let Some(first) = from.first_mut()
        && first.as_encoded_bytes().contains(&b'/')
    {
        *first = place.join(PathBuf::from(&*first)).into();
    }
    let program = find_program(&from, search.as_deref())?.program;
    Ok(Invocation { program, argv })
}
