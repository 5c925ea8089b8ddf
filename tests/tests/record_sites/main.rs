//! `--sites`: each request is of the code that made it, and findings name it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hotset_facts::trace::{Operation, Site, SiteState};
use hotset_tests::scratch::text;
use hotset_tests::traced::{Trace, record};
use hotset_tests::{MIB, Scratch, hotset, read_json, stderr, stdout};

const ROUNDS: usize = 2_000;

/// Builds a program beside this file.
fn build(scratch: &Scratch, name: &str, flags: &[&str]) -> PathBuf {
    let program = scratch.path(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/record_sites/{name}.c"));
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
    let program = build(&scratch, "siblings", flags);
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
    let wrong = found.iter().zip(&expected).position(|(found, expected)| found != expected);
    let seen = wrong.map(|at| &found[at.saturating_sub(3)..found.len().min(at + 4)]);
    assert_eq!(wrong, None, "{flags:?}: {seen:?}");
}

#[test]
fn functions_that_call_from_the_same_depth_are_told_apart() {
    assert_told_apart(&["-O1", "-g"]);
    assert_told_apart(&["-O1", "-fno-omit-frame-pointer"]);
}

/// They have ended before anybody looks: where their code was is told with their stacks.
#[test]
fn programs_that_live_for_a_moment_have_all_their_sites() {
    let scratch = Scratch::new("record-sites-short");
    let program = build(&scratch, "siblings", &["-O1", "-g"]);
    let file = scratch.file("data", MIB);
    let line = format!(
        "unset LD_LIBRARY_PATH; i=0; while [ $i -lt 100 ]; do {} {} 2; i=$((i+1)); done",
        text(&program),
        text(&file)
    );
    let recorded = record(&scratch, &["--sites", "--buffer", "64M"], &["sh", "-c", &line]);
    let found: Vec<&str> = callers(&recorded.trace, &file).collect();
    let once = ["first", "second", "first", "second", "third"];
    assert_eq!(found, once.repeat(100));
}

/// The mapping that a function was made in is newer than all that was ever read of the process.
#[test]
fn code_made_at_run_time_is_found_in_a_mapping_that_is_new() {
    let scratch = Scratch::new("record-sites-made");
    for (kind, flags, names) in [
        ("rx", "-fno-omit-frame-pointer", ["", ""]),
        ("rwx", "-fno-omit-frame-pointer", ["", ""]),
        ("python", "-fomit-frame-pointer", ["py::", ":made.py"]),
    ] {
        let program = build(&scratch, "made", &["-O1", "-g", flags]);
        let file = scratch.file("data", MIB);
        let words = [text(&program), text(&file), "40", kind];
        let recorded = record(&scratch, &["--sites"], &words);
        fs::remove_file(stdout(&recorded.output).trim()).expect("its perf map");
        let found: Vec<&str> = callers(&recorded.trace, &file).collect();
        let expected: Vec<String> =
            (0..40).flat_map(|made| vec![names.join(&format!("made_{made}")); 2]).collect();
        assert_eq!(found, expected, "{kind}");
        let reads = recorded.trace.of(&file).filter(|one| one.record.operation == Operation::Pread);
        for read in reads {
            let site = read.record.site.and_then(|site| recorded.trace.lists.site(site));
            assert_eq!(site.map(|site| site.state), Some(SiteState::Whole), "{kind}: {site:#?}");
        }
    }
}

#[test]
fn a_run_counts_each_request_of_each_function_and_findings_name_it() {
    let scratch = Scratch::new("run-sites");
    let program = build(&scratch, "siblings", &["-O1", "-g"]);
    let file = scratch.file("data", MIB);
    let profile = scratch.path("profile.json");
    let mut command = Command::new(hotset());
    command.args(["run", "--sites", "--json", text(&profile), "--"]);
    // As many as the ring holds: on a busy host, nobody may read it meanwhile.
    command.args([text(&program), text(&file), "4000"]);
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
    assert_eq!(sites["unknown_requests"], 0);
    let made = [4_000, 4_000, 2_000];
    assert_eq!(["first", "second", "third"].map(calls), made);
    let shown = stderr(&output);
    assert!(shown.contains("Call sites"), "{shown}");
    assert!(shown.contains("wrap (siblings.c:12) < first < main"), "{shown}");
}

/// The reads of the file by function in a broken limit of a check, with what became of each since the baseline.
fn readers(limit: &serde_json::Value) -> Vec<(String, String, i64)> {
    let sites = limit["sites"].as_array().expect("sites");
    let one = |site: &serde_json::Value| {
        let frames = site["frames"].as_array().expect("frames");
        let at = frames.iter().position(|frame| frame["function"] == "wrap").expect("wrap");
        let function = frames[at + 1]["function"].as_str().expect("a function").to_owned();
        let change = site["change"].as_str().unwrap_or("").to_owned();
        (function, change, site["amount"].as_i64().expect("an amount"))
    };
    sites.iter().map(one).collect()
}

#[test]
fn a_check_names_the_code_behind_a_broken_limit() {
    let scratch = Scratch::new("check-sites");
    let program = build(&scratch, "siblings", &["-O1", "-g"]);
    let file = scratch.file("data", MIB);
    let check = |rounds: u32, limits: &str, more: &[&str]| {
        let (program, file) = (text(&program), text(&file));
        let head = "[[check]]\nname = \"siblings\"\nbaseline = \"before.json\"\n";
        let budget = format!("{head}command = [\"{program}\", \"{file}\", \"{rounds}\"]\n{limits}");
        fs::write(scratch.path("hotset.toml"), budget).expect("a budget");
        let mut command = Command::new(hotset());
        command.current_dir(scratch.path("")).args(["check", "--sites", "--json", "out.json"]);
        let output = command.args(more).output().expect("hotset");
        let attempt = read_json(&scratch.path("out.json"))["checks"][0]["attempts"][0].clone();
        assert_eq!(attempt["requests_without_site"], 0, "{}", stderr(&output));
        (attempt["limits"][0].clone(), stdout(&output))
    };
    let of_file = "[[check.file]]\npattern = \"data\"\nlimits.read.calls = 1\n";
    let (limit, told) = check(400, of_file, &[]);
    let now = [("first", 400), ("second", 400), ("third", 200)];
    let now = now.map(|(function, calls)| (function.to_owned(), String::new(), calls));
    assert_eq!(readers(&limit), now);
    assert!(told.contains("400 by wrap (siblings.c:12) < first < main"), "{told}");
    check(400, "", &["--update"]);
    let (limit, told) = check(404, "limits.read.calls = \"at most 0 % above the baseline\"\n", &[]);
    let grew = [("first", 4), ("second", 4), ("third", 2)];
    let grew = grew.map(|(function, calls)| (function.to_owned(), "grew".to_owned(), calls));
    assert_eq!(readers(&limit), grew);
    assert!(told.contains("+2 by wrap (siblings.c:12) < third < main"), "{told}");
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
