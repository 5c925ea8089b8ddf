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

/// What bench says where it has fewer valid runs than a comparison requires.
const TOO_FEW_RUNS: [&str; 2] = ["a comparison requires 6 valid runs", "fewer than 6 valid runs"];

/// `hotset bench WORDS…`, up to five times more while there are too few valid runs: a host whose load changes can spoil most of a session's.
pub fn bench_says_of_enough_runs(words: &[&str]) -> Output {
    let has_enough = |output: &Output| {
        let told = said(output).split_whitespace().collect::<Vec<_>>().join(" ");
        !TOO_FEW_RUNS.iter().any(|few| told.contains(few))
    };
    let sessions = (0..5).map(|_| bench_says(words)).find(has_enough);
    sessions.unwrap_or_else(|| bench_says(words))
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

/// The result that is not a repetition of another, by state; with what `runs` say of it in lists in the order of its `valid`.
pub fn result_of(session: &Value, state: &str) -> Value {
    let results = session["results"].as_array().expect("results");
    let at = results.iter().position(|result| result["state"] == state);
    let at = at.unwrap_or_else(|| panic!("no {state} in {session}"));
    let runs = session["runs"].as_array().expect("runs").iter();
    let runs: Vec<&Value> = runs.filter(|run| run["condition"] == at).collect();
    let share = |run: &&Value| -> Option<f64> {
        let state = &run["reached_before"];
        let pages = state["pages"].as_f64().filter(|pages| *pages > 0.0)?;
        Some(state["cached_pages"].as_f64()? / pages)
    };
    let page = session["environment"]["page_size_bytes"].as_u64();
    let added = |run: &&Value| -> Option<u64> {
        let cached = |key: &str| run[key]["cached_pages"].as_u64();
        Some(cached("reached_after")?.saturating_sub(cached("reached_before")?) * page?)
    };
    let mut result = results[at].clone();
    result["reached_before"] = runs.iter().map(share).collect();
    result["newly_cached_bytes"] = runs.iter().map(added).collect();
    result["device_bytes"] = runs.iter().map(|run| run["device_read_bytes"].clone()).collect();
    result["major_faults"] = runs.iter().map(|run| run["major_faults"].clone()).collect();
    result
}

/// The values of a list of numbers.
pub fn numbers(result: &Value, key: &str) -> Vec<f64> {
    let list = result[key].as_array().unwrap_or_else(|| panic!("no {key} in {result}"));
    list.iter().map(|number| number.as_f64().unwrap_or_else(|| panic!("{key}: {number}"))).collect()
}

/// Reasons against a run that only its time suffers from.
const NOISE: [&str; 4] = ["cpu-pressure", "involuntary-switches", "slow-pages", "steal"];

/// The values of those runs that count, or would on a host without noise; at least one must.
pub fn valid_numbers(result: &Value, key: &str) -> Vec<f64> {
    let list = |key: &str| result[key].as_array().expect("a list");
    let all = numbers(result, key);
    assert!(all.len() == list("valid").len() && all.len() == list("reasons").len(), "{result}");
    let is_noise = |reason: &Value| reason.as_str().is_some_and(|name| NOISE.contains(&name));
    let counts =
        |reasons: &Value| reasons.as_array().is_some_and(|reasons| reasons.iter().all(is_noise));
    let verdicts = list("valid").iter().zip(list("reasons"));
    let kept: Vec<f64> = all
        .into_iter()
        .zip(verdicts)
        .filter(|(_, (valid, reasons))| **valid == Value::Bool(true) || counts(reasons))
        .map(|(number, _)| number)
        .collect();
    assert!(!kept.is_empty(), "no run counts: {result}");
    kept
}

/// The member of the first command's set that is this file, under whichever of its names it was learned.
pub fn member<'a>(session: &'a Value, path: &Path) -> &'a Value {
    let members = session["files"][0]["members"].as_array().expect("members");
    let ino = std::fs::metadata(path).ok().map(|file| std::os::unix::fs::MetadataExt::ino(&file));
    let is_it = |member: &&Value| {
        member["path"] == text(path) || ino.is_some_and(|ino| member["ino"].as_u64() == Some(ino))
    };
    let found = members.iter().find(is_it);
    found.unwrap_or_else(|| panic!("no {} in {members:?}", path.display()))
}
