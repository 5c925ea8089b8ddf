use std::fs;
use std::process::Command;

use hotset_facts::{Level, TWIN, WantedState};
use hotset_lab::experiment::{CellPlan, Place, ProbeCommand, cell_id};

use super::*;
use crate::testing::Scratch;
use crate::{Options, Request};

fn request(scratch: &Scratch, size: LabSize, runtime: &str) -> Request {
    let directory = scratch.path("lab");
    fs::create_dir_all(&directory).expect("directory");
    let place = Place::look(&directory).expect("place");
    let options = Options { runtime: Some(runtime.to_owned()), ..Options::default() };
    Request { size, rounds: None, place, options }
}

fn name_of<'a>(cell: &'a CellPlan, factor: &str) -> &'a str {
    let found = cell.factors.iter().find(|known| known.name == factor);
    match found.map(|known| &known.level) {
        Some(Level::Name(level)) => level,
        _ => "",
    }
}

/// A test a runtime, so that they run beside each other: each starts its runtime some dozens of times.
macro_rules! every_cell_runs_and_reports_what_the_plan_expects {
    ($($test:ident: $language:ident,)*) => {
        $(#[test] fn $test() { every_cell_runs(Language::$language); })*

        #[test]
        fn every_runtime_has_its_test() {
            assert_eq!([$(Language::$language),*], Language::ALL);
        }
    };
}

every_cell_runs_and_reports_what_the_plan_expects! {
    every_cell_of_c_runs: C,
    every_cell_of_go_runs: Go,
    every_cell_of_python_runs: Python,
    every_cell_of_ruby_runs: Ruby,
    every_cell_of_node_runs: Node,
    every_cell_of_java_runs: Java,
}

/// Every cell does what it says, once, and has an id of its own.
fn every_cell_runs(language: Language) {
    let scratch = Scratch::new();
    let plan = plan(&request(&scratch, LabSize::Full, language.as_str())).expect("plan");
    assert_eq!(plan.facts.len(), 1, "{language:?}: {:?}", plan.skipped);
    let mut ids: Vec<_> =
        plan.cells.iter().map(|cell| cell_id(plan.experiment, &cell.factors)).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), plan.cells.len(), "{language:?}");
    for cell in &plan.cells {
        if cell.state == WantedState::Warm {
            runs(cell);
        }
        assert!(cell.files.iter().all(|path| path.is_file()), "{:?}", cell.factors);
        let read = ["load_class", "load_one", "read_class"].contains(&name_of(cell, "what"));
        assert!(!read || !cell.files.is_empty(), "{:?}", cell.factors);
    }
    let twins = plan.cells.iter().filter(|cell| name_of(cell, TWIN) == "a/a").count();
    assert_eq!(twins, 1);
}

fn runs(cell: &CellPlan) {
    let ProbeCommand::Program { argv } = &cell.probe else { panic!("{cell:?}") };
    let output = Command::new(&argv[0]).args(&argv[1..]).output().expect("run");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && words.is_empty(), "{argv:?}: {words}");
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(said["operations"].as_u64(), cell.expects.operations, "{argv:?}");
    for (name, count) in &cell.expects.calls {
        assert_eq!(said["calls"][name].as_u64(), Some(*count), "{argv:?}");
    }
    assert_eq!(said["repetitions_ns"].as_array().map(Vec::len), Some(1), "{argv:?}");
}

#[test]
fn the_quick_size_is_a_part_of_the_others() {
    let scratch = Scratch::new();
    let ids = |size| -> Vec<String> {
        let plan = plan(&request(&scratch, size, "python")).expect("plan");
        plan.cells.iter().map(|cell| cell_id(plan.experiment, &cell.factors)).collect()
    };
    let (quick, full) = (ids(LabSize::Quick), ids(LabSize::Full));
    assert!(quick.len() < full.len() && quick.iter().all(|id| full.contains(id)), "{quick:?}");
    for what in ["load_class", "load_one", "search", "compile_one", "read_class"] {
        assert!(quick.iter().any(|id| id.contains(what)), "{what}");
    }
}

#[test]
fn the_legacy_file_is_windows_31j_and_says_the_same() {
    let scratch = Scratch::new();
    plan(&request(&scratch, LabSize::Quick, "python")).expect("plan");
    let root = scratch.path("lab").join("load/python");
    let program = "import sys; a, b = sys.argv[1:]\n\
        assert open(a, encoding='utf-8').read() == open(b, encoding='cp932').read()";
    let status = Command::new("python3")
        .args(["-c", program])
        .args([root.join("one/o000.py"), root.join("legacy/o000.py")])
        .status();
    assert!(status.expect("python3").success());
}

#[test]
fn an_unknown_runtime_is_refused_with_those_that_are_known() {
    let error = languages(Some("perl")).expect_err("unknown");
    assert!(error.contains("perl") && error.contains("python"), "{error}");
}

#[test]
fn what_was_asked_for_is_all_that_is_planned() {
    let scratch = Scratch::new();
    let planned = |what: &[&str]| {
        let mut request = request(&scratch, LabSize::Quick, "python");
        request.options.what = what.iter().map(|&what| what.to_owned()).collect();
        plan(&request)
    };
    let made = planned(&["exists", "read_one"]).expect("plan");
    let mut what: Vec<&str> = made.cells.iter().map(|cell| name_of(cell, "what")).collect();
    what.sort_unstable();
    what.dedup();
    assert_eq!(what, ["exists", "read_one"]);
    let error = planned(&["require"]).expect_err("unknown");
    assert!(error.starts_with("--what require: expected one of load_empty"), "{error}");
    // No name is left that no runtime has.
    for name in case::WHAT {
        assert!(planned(&[name]).is_ok_and(|plan| !plan.cells.is_empty()), "{name}");
    }
}
