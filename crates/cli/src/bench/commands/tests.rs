//! What is typed and what it becomes.

use clap::Parser;

use super::*;
use crate::args::{Cli, Command};
use crate::exit::Exit;

fn from(words: &[&str]) -> Result<Vec<CommandPlan>, Stop> {
    let cli = Cli::try_parse_from([&["hotset", "bench"], words].concat()).expect("arguments");
    let Command::Bench(args) = cli.command else { panic!("bench") };
    planned(&args)
}

fn lines(words: &[&str]) -> Vec<String> {
    let line = |planned: &CommandPlan| {
        let words = planned.command.argv.iter();
        words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join("|")
    };
    from(words).expect("commands").iter().map(line).collect()
}

fn refused(words: &[&str]) -> String {
    match from(words) {
        Err(Stop { exit: Exit::Usage, message }) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn words_stay_words_and_lines_are_split() {
    let two = lines(&["--vs", "sh -c 'a b'", "--", "ls", "a b", "-l"]);
    assert_eq!(two, ["ls|a b|-l", "sh|-c|a b"]);
    assert_eq!(lines(&["ls -l 'x y'"]), ["ls|-l|x y"]);
    assert_eq!(lines(&["-S", "sh", "ls | wc"]), ["sh|-c|ls | wc"]);
    assert_eq!(lines(&["-S", "sh -e", "--", "ls", "a b"]), ["sh|-e|-c|ls 'a b'"]);
}

#[test]
fn parameters_make_commands() {
    let all =
        lines(&["-L", "x", "1,2", "-P", "y", "3", "4", "--vs", "env {x}", "--", "ls", "{x}{y}"]);
    // A scan stands before the lists, as in hyperfine.
    assert_eq!(all, ["ls|13", "env|1", "ls|14", "ls|23", "env|2", "ls|24"]);
    let names = from(&["-L", "x", "1,2", "--vs", "env", "--", "ls", "{x}"]).expect("commands");
    let names: Vec<_> = names.iter().map(|planned| planned.command.name.as_str()).collect();
    assert_eq!(names, ["ls 1", "env", "ls 2"]);
    assert!(refused(&["-L", "x", "1,2", "--", "ls"]).contains("{x}"));
    assert!(refused(&["-P", "x", "2", "1", "--", "ls", "{x}"]).contains("empty"));
    for unused_too in ["{x}", "y"] {
        let words = ["-L", "x", "1", "-L", "x", "2", "--", "ls", unused_too];
        assert!(refused(&words).contains("twice"));
    }
}

#[test]
fn slips_are_refused() {
    assert!(refused(&["--", ""]).contains("empty"));
    assert!(refused(&["--vs", " ", "--", "ls"]).contains("empty"));
    assert!(refused(&["-S", "sh", " "]).contains("empty"));
    assert!(refused(&["--output", "inhert", "--", "ls"]).ends_with("such as ./inhert"));
}

#[test]
fn a_command_is_measured_once_for_each_value_that_changes_it() {
    let with = |more: &[&str]| {
        lines(&[&["-L", "x", "1,2", "--vs", "env"], more, &["--", "ls", "{x}"]].concat())
    };
    assert_eq!(with(&[]), ["ls|1", "env", "ls|2"]);
    assert_eq!(with(&["-p", "touch {x}"]), ["ls|1", "env", "ls|2", "env"]);
    assert_eq!(with(&["-p", "touch {x}", "-p", "true"]), ["ls|1", "env", "ls|2"]);
    assert_eq!(with(&["-n", "a", "-n", "b {x}"]), ["ls|1", "env", "ls|2", "env"]);
}

#[test]
fn the_reference_is_the_first_command_and_named_by_itself() {
    let words = ["--reference", "env", "--reference-name", "base", "-n", "one", "-L", "x", "1,2"];
    let all = from(&[&words[..], &["--", "ls", "{x}"]].concat()).expect("commands");
    let names: Vec<_> = all.iter().map(|planned| planned.command.name.as_str()).collect();
    assert_eq!(names, ["base", "one (x=1)", "one (x=2)"]);
    let hooks = ["-p", "a", "-p", "b", "--reference", "env", "--", "ls"];
    assert_eq!(from(&hooks).expect("one for each").len(), 2);
    assert!(refused(&["-p", "a", "-p", "b", "--", "ls"]).ends_with("expected once"));
    assert!(refused(&["-n", "a", "-n", "b", "--reference", "env", "--", "ls"]).contains("2 names"));
}

/// `--setup 'git checkout {branch}'` would leave the last branch for all commands.
#[test]
fn a_setup_that_differs_between_commands_is_refused() {
    let with =
        |setup: &str, values: &str| from(&["-L", "x", values, "--setup", setup, "--", "ls", "{x}"]);
    for setup in ["make {x}", "make {x} {x}"] {
        let words = ["-L", "x", "1,2", "--setup", setup, "--", "ls", "{x}"];
        assert!(refused(&words).contains("use --prepare"), "{}", refused(&words));
    }
    assert!(with("make {x}", "1").is_ok(), "there is one");
    assert!(with("make", "1,2").is_ok() && with("make {y}", "1,2").is_ok());
}

#[test]
fn what_surrounds_a_command_is_common_or_its_own() {
    let prepared = |words: &[&str]| -> Vec<OsString> {
        let all = from(words).expect("commands");
        let line =
            |one: &CommandPlan| one.hooks.prepare.as_ref().and_then(|run| run.argv.last().cloned());
        all.iter().filter_map(line).collect()
    };
    assert_eq!(prepared(&["-p", "x", "--vs", "ls", "--", "ls"]), ["x", "x"]);
    assert_eq!(prepared(&["-p", "x", "-p", "y", "--vs", "ls", "--", "ls"]), ["x", "y"]);
    let thrice = ["-p", "x", "-p", "y", "-p", "z", "--vs", "ls", "--", "ls"];
    assert!(refused(&thrice).contains("--prepare is given 3 times"));
    assert!(refused(&["-n", "a", "-n", "b", "--", "ls"]).contains("2 names"));
}

#[test]
fn streams_have_hyperfines_names() {
    let output = |words: &[&str]| from(words).expect("commands")[0].streams.clone();
    assert_eq!(output(&["ls"]), Streams::default());
    assert_eq!(output(&["--output", "pipe", "ls"]).output, Output::Tail);
    assert_eq!(output(&["--output", "./x", "ls"]).output, Output::File("./x".into()));
    let shown = output(&["--show-output", "ls"]);
    assert_eq!((shown.output, shown.errors), (Output::Inherit, Output::Inherit));
    assert_eq!(output(&["--input", "/dev/zero", "ls"]).input, Input::File("/dev/zero".into()));
    let made = ["--prepare", "touch in", "--input", "in", "ls"];
    assert_eq!(output(&made).input, Input::File("in".into()));
}

#[test]
fn two_commands_in_hyperfines_manner_are_told_what_to_do() {
    let Err(Stop { exit: Exit::NotFound, message: why }) = from(&["no such", "thing"]) else {
        panic!()
    };
    assert!(why.contains("--vs"), "{why}");
}
