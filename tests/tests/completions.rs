//! Completion as shells do it: hotset's own words, and behind `--` the command that it runs.

use std::process::Command;

use hotset_tests::listing::said;
use hotset_tests::scratch::text;
use hotset_tests::{Scratch, hotset, stdout};

fn script(scratch: &Scratch, shell: &str) -> String {
    let output = Command::new(hotset()).args(["completions", shell]).output().expect("hotset");
    assert!(output.status.success(), "{}", said(&output));
    let path = scratch.path(shell);
    std::fs::write(&path, &output.stdout).expect("script");
    text(&path).to_owned()
}

/// Lines that begin with what stands under the cursor, and something that must be among them.
const CASES: [(&str, &str); 7] = [
    ("hotset ben", "bench"),
    ("hotset bench --sta", "--state"),
    ("hotset lab dir", "direct"),
    ("hotset trace imp", "import"),
    ("hotset trace import --from blkp", "blkparse"),
    ("hotset run -- readlin", "readlink"),
    ("hotset bench --runs 3 -- readlin", "readlink"),
];

fn assert_completes(shell: &str, complete: impl Fn(&str) -> Command) {
    for (line, wanted) in CASES {
        let output = complete(line).output().expect(shell);
        let found = stdout(&output);
        let words: Vec<&str> = found.split_whitespace().collect();
        assert!(words.contains(&wanted), "{shell}: {line}: {}", said(&output));
    }
}

#[test]
fn bash_completes_options_and_the_command_that_is_run() {
    let scratch = Scratch::new("completions-bash");
    let script = script(&scratch, "bash");
    assert_completes("bash", |line| {
        let code = format!(
            "source {script}; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _hotset_or_command hotset \"${{COMP_WORDS[COMP_CWORD]}}\" \
             \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-c", &code]);
        bash
    });
}

#[test]
fn fish_completes_options_and_the_command_that_is_run() {
    let scratch = Scratch::new("completions-fish");
    let script = script(&scratch, "fish");
    assert_completes("fish", |line| {
        let mut fish = Command::new("fish");
        let code = format!("source {script}; complete -C '{line}'");
        fish.args(["--no-config", "-c", &code]).env("HOME", scratch.dir());
        fish
    });
}
