//! `--sites`: each request is of the code that made it, and findings name it.

use std::path::{Path, PathBuf};
use std::process::Command;

use hotset_facts::trace::{Operation, Site};
use hotset_tests::scratch::text;
use hotset_tests::traced::{Trace, record};
use hotset_tests::{MIB, Scratch, hotset, read_json, stderr};

const ROUNDS: usize = 2_000;

/// On a host that is busy, a chain may be told later than its function is called again; then its requests have no site.
const FEW: usize = 500;

/// Builds the program beside this file.
fn siblings(scratch: &Scratch, flags: &[&str]) -> PathBuf {
    let program = scratch.path("siblings");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record_sites/siblings.c");
    let mut compiler = Command::new("cc");
    let output = compiler.args(flags).arg("-o").arg(&program).arg(source).output().expect("cc");
    assert!(output.status.success(), "{}", stderr(&output));
    program
}

/// Reads of the file by the function that called `wrap`.
fn callers<'a>(trace: &'a Trace, file: &'a Path) -> impl Iterator<Item = &'a str> {
    trace.of(file).filter(|traced| traced.record.operation == Operation::Pread).map(|traced| {
        let site = traced.record.site.and_then(|site| trace.lists.site(site));
        site.map_or("?", caller_of_wrap)
    })
}

fn caller_of_wrap(site: &Site) -> &str {
    let name = |at: usize| site.frames.get(at).and_then(|frame| frame.function.as_deref());
    let wrap = (0..site.frames.len()).find(|&at| name(at) == Some("wrap"));
    wrap.and_then(|at| name(at + 1)).unwrap_or("not by wrap")
}

fn assert_told_apart(flags: &[&str]) {
    let scratch = Scratch::new("record-sites");
    let program = siblings(&scratch, flags);
    let file = scratch.file("data", MIB);
    let words = [text(&program), text(&file), &ROUNDS.to_string()];
    let recorded = record(&scratch, &["--sites"], &words);
    let found: Vec<&str> = callers(&recorded.trace, &file).collect();
    let expected: Vec<&str> = (0..ROUNDS)
        .flat_map(|round| match round % 2 {
            0 => vec!["first", "second"],
            _ => vec!["first", "second", "third"],
        })
        .collect();
    assert_eq!(found.len(), expected.len());
    let wrong: Vec<_> = found
        .iter()
        .zip(&expected)
        .enumerate()
        .filter(|(_, (found, expected))| **found != "?" && found != expected)
        .collect();
    assert!(wrong.is_empty(), "{flags:?}: {} wrong, first {:?}", wrong.len(), wrong.first());
    let unknown = found.iter().filter(|found| **found == "?").count();
    assert!(unknown < FEW, "{flags:?}: {unknown} without a site, most of which were known in time");
}

#[test]
fn functions_that_call_from_the_same_depth_are_told_apart() {
    assert_told_apart(&["-O1", "-g"]);
    assert_told_apart(&["-O1", "-fno-omit-frame-pointer"]);
}

#[test]
fn a_run_counts_each_request_of_each_function_and_findings_name_it() {
    let scratch = Scratch::new("run-sites");
    let program = siblings(&scratch, &["-O1", "-g"]);
    let file = scratch.file("data", MIB);
    let profile = scratch.path("profile.json");
    let mut command = Command::new(hotset());
    command.args(["run", "--sites", "--json", text(&profile), "--"]);
    command.args([text(&program), text(&file), "20000"]);
    let output = command.output().expect("hotset");
    assert!(output.status.success(), "{}", stderr(&output));
    let profile = read_json(&profile);
    let sites = &profile["sites"];
    let calls = |function: &str| -> u64 {
        let rows = sites["rows"].as_array().expect("rows").iter();
        let of = |row: &&serde_json::Value| {
            let site = row["site"].as_u64().expect("a site") as usize;
            let frames = sites["sites"][site]["frames"].as_array().expect("frames");
            let at = frames.iter().position(|frame| frame["function"] == "wrap");
            row["path"] == text(&file)
                && at.is_some_and(|at| frames[at + 1]["function"] == function)
        };
        rows.filter(of).map(|row| row["calls"].as_u64().expect("calls")).sum()
    };
    let unknown = sites["unknown_requests"].as_u64().expect("a number");
    assert!(unknown < FEW as u64, "{unknown}");
    for (function, made) in [("first", 20_000), ("second", 20_000), ("third", 10_000)] {
        let counted = calls(function);
        assert!(counted <= made && counted + unknown >= made, "{function}: {counted} of {made}");
    }
    let shown = stderr(&output);
    assert!(shown.contains("Call sites"), "{shown}");
    assert!(shown.contains("wrap (siblings.c:12) < first < main"), "{shown}");
}

#[test]
fn sessions_without_sites_have_none() {
    let scratch = Scratch::new("no-sites");
    let file = scratch.file("data", MIB);
    let recorded = record(&scratch, &[], &["cat", text(&file)]);
    assert!(recorded.trace.lists.sites.is_empty());
    assert!(recorded.trace.records.iter().all(|traced| traced.record.site.is_none()));
    assert_eq!(recorded.profile["sites"], serde_json::Value::Null);
}
