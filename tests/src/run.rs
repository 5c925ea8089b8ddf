//! Running the workload, alone or under hotset.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::invariants::assert_invariants;
use crate::programs::{hotset, workload};
use crate::scratch::{Scratch, text};

/// Runs a preparation case of the workload.
pub fn prepare(words: &[&str]) {
    let output = output_of(Command::new(workload()).args(words));
    assert!(output.status.success(), "workload {words:?}: {}", stderr(&output));
}

/// Runs a measured case without hotset and answers its truth.
pub fn measure(scratch: &Scratch, words: &[&str]) -> Value {
    let truth = scratch.path("truth.json");
    let output = output_of(Command::new(workload()).args(words).args(["--truth", text(&truth)]));
    assert!(output.status.success(), "workload {words:?}: {}", stderr(&output));
    read_json(&truth)
}

/// One run of the workload under hotset.
pub struct HotsetRun {
    /// What hotset wrote with `--json`.
    pub profile: Value,
    /// What the workload wrote with `--truth`.
    pub truth: Value,
    /// Exit status and both streams of hotset.
    pub output: Output,
}

/// `hotset run --json … [options] -- workload …`. Panics unless hotset passes on success.
pub fn run_hotset(scratch: &Scratch, options: &[&str], words: &[&str]) -> HotsetRun {
    let (profile, truth) = (scratch.path("profile.json"), scratch.path("truth.json"));
    let mut command = Command::new(hotset());
    command.args(["run", "--json", text(&profile)]).args(options).arg("--");
    command.arg(workload()).args(words).args(["--truth", text(&truth)]);
    let output = output_of(&mut command);
    assert!(output.status.success(), "{command:?}: {}: {}", output.status, stderr(&output));
    HotsetRun { profile: read_json(&profile), truth: read_json(&truth), output }
}

/// The profile of any command, which must succeed: `hotset run --json … -q -- WORDS…`.
pub fn profile_of<W: AsRef<OsStr>>(scratch: &Scratch, words: &[W]) -> Value {
    let path = scratch.path("profile.json");
    let mut command = Command::new(hotset());
    command.args(["run", "--json", text(&path), "-q", "--"]).args(words);
    let output = output_of(&mut command);
    assert!(output.status.success(), "{command:?}: {}: {}", output.status, stderr(&output));
    let profile = read_json(&path);
    assert_invariants(&profile);
    profile
}

fn output_of(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// The code that a program ended with; panics where a signal ended it.
pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("killed: {}", output.status))
}

/// What a program wrote to standard output.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A text with each run of white space as one space, so that a phrase is found wherever a line was broken.
pub fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a program said on standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What is written there; panics where it is no JSON.
pub fn read_json(path: &Path) -> Value {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
