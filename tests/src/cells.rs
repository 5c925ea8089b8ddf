//! The cells of `hotset lab --json`, for tests of what was counted.

use std::process::Command;

use serde_json::Value;

use crate::scratch::text;
use crate::{Scratch, hotset, read_json, stderr};

/// Doubts about a time alone, which a busy host raises.
const NOISE: [&str; 2] = ["cpu-taken", "slow-pages"];

/// What `hotset lab EXPERIMENT` writes with `--json`, and what it prints. It leaves nothing in its directory.
pub fn measured(experiment: &str, scratch: &Scratch, words: &[&str]) -> (Value, String) {
    let path = scratch.path("lab.json");
    let work = scratch.path("work");
    std::fs::create_dir_all(&work).expect("directory");
    let mut command = Command::new(hotset());
    command.args(["lab", experiment, "--json", text(&path), "--dir", text(&work)]).args(words);
    let output = command.output().expect("hotset");
    assert!(output.status.success(), "{command:?}: {}", stderr(&output));
    let left = std::fs::read_dir(&work).expect("directory").count();
    assert_eq!(left, 0, "it cleans up after itself");
    (read_json(&path), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// All cells of an experiment.
pub fn cells(session: &Value) -> &Vec<Value> {
    session["cells"].as_array().expect("cells")
}

/// The cell of an id.
pub fn cell<'a>(session: &'a Value, id: &str) -> &'a Value {
    let found = cells(session).iter().find(|cell| cell["id"] == id);
    found.unwrap_or_else(|| panic!("no {id}"))
}

/// The samples that count, or would on a quiet host, by their places in the lists of `runs`; at least one must.
pub fn counted(cell: &Value) -> Vec<usize> {
    let doubts = cell["runs"]["doubts"].as_array().unwrap_or_else(|| panic!("doubts in {cell}"));
    let noise = |doubt: &Value| NOISE.iter().any(|code| doubt["code"] == *code);
    let counts = |doubts: &Value| doubts.as_array().is_some_and(|all| all.iter().all(noise));
    let kept: Vec<usize> =
        doubts.iter().enumerate().filter(|(_, one)| counts(one)).map(|(at, _)| at).collect();
    assert!(!kept.is_empty(), "no sample counts: {cell}");
    kept
}

/// A number of a sample: `wall_ns`, or of the state before it, `reached_before.pages`.
pub fn of_run(cell: &Value, key: &str, at: usize) -> Option<u64> {
    match key.split_once('.') {
        Some((key, part)) => cell["runs"][key][at][part].as_u64(),
        None => cell["runs"][key][at].as_u64(),
    }
}

/// What was found beside the cells: `ruby`, or `dd cold: misses`.
pub fn fact<'a>(session: &'a Value, name: &str) -> &'a Value {
    let facts = session["facts"].as_array().expect("facts");
    let name_of = |fact: &Value| {
        let part = |key: &str, sign: &str| fact[key].as_str().map(|part| format!("{sign}{part}"));
        let parts = [part("subject", ""), part("condition", " "), part("quantity", ": ")];
        parts.into_iter().flatten().collect::<String>()
    };
    let found = facts.iter().find(|fact| name_of(fact) == name);
    found.map_or_else(|| panic!("no {name} in {facts:?}"), |fact| &fact["value"])
}

/// A number of each of these samples.
pub fn each(cell: &Value, key: &str) -> Vec<u64> {
    let known = |at| of_run(cell, key, at).unwrap_or_else(|| panic!("{key}: {cell}"));
    counted(cell).into_iter().map(known).collect()
}

/// Every sample that counts has this number.
pub fn all_are(cell: &Value, key: &str, wanted: u64) {
    let values = each(cell, key);
    assert!(
        values.iter().all(|&value| value == wanted),
        "{key}: {values:?} and not {wanted}: {cell}"
    );
}
