//! From what was typed to commands that can be run, with what surrounds them.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use hotset_facts::BenchCommand;
use hotset_facts::units::plural;
use hotset_lab::parameters::{Parameter, combinations, list, replace, scan};
use hotset_lab::shell::{self, Shell};
use hotset_lab::{
    CommandPlan, Hooks, Input, Invocation, Output, Streams, Surroundings, find_program,
};

use crate::args::{AroundArgs, BenchArgs, ParameterArgs};
use crate::exit::{Exit, Stop};

type Values = Vec<(String, String)>;

/// A command as it was typed, with the name that was given to it.
struct Given<'a> {
    typed: Typed,
    name: Option<&'a String>,
}

/// As it was typed.
enum Typed {
    Words(Vec<OsString>),
    Line(OsString),
}

/// Every command with every combination of the parameters that it uses, the reference first.
///
/// # Errors
/// Where a program is not found, or something was typed that can't be meant.
pub(super) fn planned(args: &BenchArgs) -> Result<Vec<CommandPlan>, Stop> {
    let around = &args.around;
    let shell = if around.no_shell { Ok(None) } else { Shell::named(&around.shell) };
    let shell = shell.map_err(Stop::not_runnable)?;
    check_names(around, 1 + args.vs.len())?;
    let given = given(args);
    check_counts(around, given.len())?;
    check_outputs(&around.output)?;
    check_input(around)?;
    let parameters = parameters(&args.parameters)?;
    let combinations = combinations(&parameters).map_err(|error| Stop::usage(error.to_string()))?;
    check_used(&parameters, &given, around)?;
    check_setup(&parameters, around)?;
    let mut all: Vec<CommandPlan> = Vec::new();
    let mut seen = HashSet::new();
    for values in combinations {
        for (place, given) in given.iter().enumerate() {
            let own = |(name, _): &&(String, String)| is_used(name, given, place, around);
            let values: Values = values.iter().filter(own).cloned().collect();
            if seen.insert((place, values.clone())) {
                all.push(one(given, place, &values, shell.as_ref(), around)?);
            }
        }
    }
    make_unique(&mut all);
    Ok(all)
}

fn given(args: &BenchArgs) -> Vec<Given<'_>> {
    let reference = args
        .reference
        .iter()
        .map(|line| Given { typed: Typed::Line(line.into()), name: args.reference_name.as_ref() });
    let lines = args.vs.iter().map(|line| Typed::Line(line.into()));
    let measured = std::iter::once(first(&args.command)).chain(lines).enumerate();
    let names = &args.around.command_name;
    reference
        .chain(measured.map(|(place, typed)| Given { typed, name: names.get(place) }))
        .collect()
}

/// One word with spaces that is no program's name is a line.
fn first(words: &[OsString]) -> Typed {
    match words {
        [line] if shell::has_space(line) && !Path::new(line).exists() => Typed::Line(line.clone()),
        words => Typed::Words(words.to_vec()),
    }
}

fn one(
    given: &Given<'_>,
    place: usize,
    values: &Values,
    shell: Option<&Shell>,
    around: &AroundArgs,
) -> Result<CommandPlan, Stop> {
    let (words, line) = match &given.typed {
        Typed::Words(words) => {
            let words: Vec<OsString> = words.iter().map(|word| replace(word, values)).collect();
            let line = match words.as_slice() {
                // With a shell, one word is its line.
                [word] if shell.is_some() => word.clone(),
                words => shell::join(words).map_err(Stop::not_runnable)?,
            };
            (words, line)
        }
        Typed::Line(line) => {
            let line = replace(line, values);
            (shell::split(&line).map_err(Stop::not_runnable)?, line)
        }
    };
    if line.as_encoded_bytes().trim_ascii().is_empty() || words.iter().all(|word| word.is_empty()) {
        return Err(Stop::usage("a command is empty; expected a program and its arguments"));
    }
    let invocation = match shell {
        Some(shell) => shell.run(&line),
        None => find(&words)?,
    };
    let name = match given.name {
        Some(name) => replace(name.as_ref(), values).to_string_lossy().into_owned(),
        None => line.to_string_lossy().into_owned(),
    };
    let command = BenchCommand {
        name,
        argv: invocation.argv,
        shell: shell.map(|shell| shell.typed.clone()),
        parameters: values.clone(),
    };
    let hooks = hooks(around, place, values, shell);
    let streams = streams(around, place);
    let (program, surroundings) = (invocation.program, Surroundings::default());
    Ok(CommandPlan { command, program, streams, hooks, surroundings })
}

/// Finds the program of these words in PATH.
fn find(words: &[OsString]) -> Result<Invocation, Stop> {
    let found = find_program(words, std::env::var_os("PATH").as_deref());
    found.map_err(Stop::not_runnable).map_err(|stop| {
        let many = words.first().is_some_and(|word| shell::has_space(word));
        match stop.exit == Exit::NotFound && many {
            true => Stop {
                message: format!("{}; commands to compare it with are given by --vs", stop.message),
                ..stop
            },
            false => stop,
        }
    })
}

fn hooks(around: &AroundArgs, place: usize, values: &Values, shell: Option<&Shell>) -> Hooks {
    let run = |line: &String| {
        let line = replace(line.as_ref(), values);
        shell.cloned().unwrap_or_else(Shell::of_hooks).run(&line)
    };
    Hooks {
        setup: around.setup.as_ref().map(run),
        prepare: own_or_common(&around.prepare, place).map(run),
        conclude: own_or_common(&around.conclude, place).map(run),
        cleanup: around.cleanup.as_ref().map(run),
    }
}

fn streams(around: &AroundArgs, place: usize) -> Streams {
    let input = match around.input.as_os_str() {
        name if name == "null" => Input::Null,
        _ => Input::File(around.input.clone()),
    };
    let wanted = own_or_common(&around.output, place);
    let output = match wanted.and_then(|path| path.to_str()) {
        _ if around.show_output => Output::Inherit,
        Some("null") => Output::Null,
        Some("pipe") => Output::Tail,
        Some("inherit") => Output::Inherit,
        _ => wanted.map_or(Output::Null, |path| Output::File(path.clone())),
    };
    let errors = if around.show_output { Output::Inherit } else { Output::Tail };
    Streams { input, output, errors }
}

/// What was given once for all, or once for each.
fn own_or_common<T>(all: &[T], place: usize) -> Option<&T> {
    match all {
        [common] => Some(common),
        each => each.get(place),
    }
}

fn check_counts(around: &AroundArgs, commands: usize) -> Result<(), Stop> {
    for (name, given) in [
        ("--prepare", around.prepare.len()),
        ("--conclude", around.conclude.len()),
        ("--output", around.output.len()),
    ] {
        if given > 1 && given != commands {
            let each = match commands {
                1 => String::new(),
                _ => format!(" for all, or {commands} times, once for each command"),
            };
            return Err(Stop::usage(format!("{name} is given {given} times; expected once{each}")));
        }
    }
    Ok(())
}

/// A name alone is taken for a slip of a word, such as `inhert`, as hyperfine takes it.
fn check_outputs(outputs: &[PathBuf]) -> Result<(), Stop> {
    let known = ["null", "pipe", "inherit"];
    let is_slip = |output: &&PathBuf| {
        let name = output.as_os_str();
        !name.as_encoded_bytes().contains(&b'/') && !known.iter().any(|word| name == *word)
    };
    match outputs.iter().find(is_slip) {
        None => Ok(()),
        Some(output) => {
            let output = output.display();
            Err(Stop::usage(format!(
                "--output {output}: expected null, pipe, inherit, or a path such as ./{output}"
            )))
        }
    }
}

/// Refuses an input that is not there, unless something that runs before the commands may make it.
fn check_input(around: &AroundArgs) -> Result<(), Stop> {
    let may_be_made = around.setup.is_some() || !around.prepare.is_empty();
    let path = &around.input;
    if may_be_made || path.as_os_str() == "null" {
        return Ok(());
    }
    // Opening a pipe would wait for its other end.
    match fs::metadata(path) {
        Ok(_) => Ok(()),
        Err(error) => Err(Stop::own(format_args!("--input {}: {error}", path.display()))),
    }
}

fn check_names(around: &AroundArgs, commands: usize) -> Result<(), Stop> {
    match around.command_name.len() {
        names if names > commands => {
            let (names, commands) =
                (plural(names as u64, "name"), plural(commands as u64, "command"));
            Err(Stop::usage(format!("{names} for {commands}")))
        }
        _ => Ok(()),
    }
}

fn parameters(args: &ParameterArgs) -> Result<Vec<Parameter>, Stop> {
    let mut all = Vec::new();
    for words in args.parameter_scan.chunks(3) {
        let [name, from, to] = words else { continue };
        let values = scan(from, to, args.parameter_step_size.as_deref())
            .map_err(|error| Stop::usage(format!("--parameter-scan {name}: {error}")))?;
        all.push(Parameter { name: name.clone(), values });
    }
    for words in args.parameter_list.chunks(2) {
        let [name, values] = words else { continue };
        all.push(Parameter { name: name.clone(), values: list(values) });
    }
    Ok(all)
}

/// A parameter that stands nowhere is a slip: every value would be the same benchmark.
fn check_used(
    parameters: &[Parameter],
    given: &[Given<'_>],
    around: &AroundArgs,
) -> Result<(), Stop> {
    let used = |name: &str| {
        let mut given = given.iter().enumerate();
        given.any(|(place, given)| is_used(name, given, place, around))
    };
    match parameters.iter().find(|parameter| !used(&parameter.name)) {
        None => Ok(()),
        Some(Parameter { name, .. }) => Err(Stop::usage(format!(
            "no command contains {{{name}}}; add it or remove the parameter"
        ))),
    }
}

/// True if what is run for this command, or its name, changes with the parameter.
fn is_used(name: &str, given: &Given<'_>, place: usize, around: &AroundArgs) -> bool {
    let mark = [(name.to_owned(), String::new())];
    let has = |text: &OsStr| replace(text, &mark) != *text;
    let typed = match &given.typed {
        Typed::Words(words) => words.iter().any(|word| has(word)),
        Typed::Line(line) => has(line),
    };
    let lines = [
        around.setup.as_ref(),
        own_or_common(&around.prepare, place),
        own_or_common(&around.conclude, place),
        around.cleanup.as_ref(),
        given.name,
    ];
    typed || lines.into_iter().flatten().any(|line| has(line.as_ref()))
}

/// All set-ups run before the first round: of one that differs from command to command, the last would hold for all.
fn check_setup(parameters: &[Parameter], around: &AroundArgs) -> Result<(), Stop> {
    let Some(setup) = &around.setup else { return Ok(()) };
    let differs = |parameter: &&Parameter| {
        let of = |value: &String| {
            let values = vec![(parameter.name.clone(), value.clone())];
            replace(setup.as_ref(), &values)
        };
        let mut lines = parameter.values.iter().map(of);
        let first = lines.next();
        lines.any(|line| Some(line) != first)
    };
    match parameters.iter().find(differs) {
        None => Ok(()),
        Some(Parameter { name, .. }) => Err(Stop::usage(format!(
            "--setup {setup:?} depends on {{{name}}}, but all set-ups run before the first round, so that the last one would \
             hold for every command; use --prepare, which runs before each run, or one benchmark per value"
        ))),
    }
}

/// Two commands of one name are told apart by their values, which only a hook may use, and else by a number.
fn make_unique(all: &mut [CommandPlan]) {
    let names: Vec<String> = all.iter().map(|planned| planned.command.name.clone()).collect();
    for planned in all.iter_mut() {
        let command = &mut planned.command;
        let is_unique = names.iter().filter(|name| **name == command.name).count() == 1;
        if !is_unique && !command.parameters.is_empty() {
            let values = command.parameters.iter().map(|(name, value)| format!("{name}={value}"));
            let values = values.collect::<Vec<_>>().join(", ");
            command.name.push_str(&format!(" ({values})"));
        }
    }
    let mut seen: HashMap<String, usize> = HashMap::new();
    for planned in all {
        let times = seen.entry(planned.command.name.clone()).or_default();
        *times += 1;
        if *times > 1 {
            planned.command.name.push_str(&format!(" ({times})"));
        }
    }
}

#[cfg(test)]
mod tests;
