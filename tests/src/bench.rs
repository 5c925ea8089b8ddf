//! `hotset bench` as a user runs it, and what it says of each run.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::listing::said;
use crate::programs::hotset;
use crate::scratch::{Scratch, text};
use crate::{read_json, with_default_signals};

/// `hotset bench WORDS…`, to its end.
pub fn bench_says(words: &[&str]) -> Output {
    let mut command = Command::new(hotset());
    command.arg("bench").args(words);
    with_default_signals(&mut command);
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// The JSON of a session, which must end with this code, and what was printed.
pub fn session_ending(scratch: &Scratch, code: i32, words: &[&str]) -> (Value, Output) {
    let path = scratch.path("bench.json");
    let output = bench_says(&[&["--export-json", text(&path)], words].concat());
    assert_eq!(output.status.code(), Some(code), "{words:?}: {}", said(&output));
    (read_json(&path), output)
}

/// The JSON of a session that ends well.
pub fn session(scratch: &Scratch, words: &[&str]) -> Value {
    session_ending(scratch, 0, words).0
}

/// The results that are not repetitions of others, by state.
pub fn result_of<'a>(session: &'a Value, state: &str) -> &'a Value {
    let results = session["results"].as_array().expect("results");
    let found = results.iter().find(|result| result["state"] == state);
    found.unwrap_or_else(|| panic!("no {state} in {session}"))
}

/// The values of a list of numbers.
pub fn numbers(result: &Value, key: &str) -> Vec<f64> {
    let list = result[key].as_array().unwrap_or_else(|| panic!("no {key} in {result}"));
    list.iter().map(|one| one.as_f64().unwrap_or_else(|| panic!("{key}: {one}"))).collect()
}

/// The values of those runs that count; at least one must.
pub fn valid_numbers(result: &Value, key: &str) -> Vec<f64> {
    let valid = result["valid"].as_array().expect("valid");
    let all = numbers(result, key);
    assert_eq!(all.len(), valid.len(), "{result}");
    let kept = all.into_iter().zip(valid).filter(|(_, valid)| **valid == Value::Bool(true));
    let kept: Vec<f64> = kept.map(|(number, _)| number).collect();
    assert!(!kept.is_empty(), "no run counts: {result}");
    kept
}

/// The member of the first command's set with this path.
pub fn member<'a>(session: &'a Value, path: &Path) -> &'a Value {
    let members = session["files"][0]["members"].as_array().expect("members");
    let found = members.iter().find(|member| member["path"] == text(path));
    found.unwrap_or_else(|| panic!("no {} in {members:?}", path.display()))
}
