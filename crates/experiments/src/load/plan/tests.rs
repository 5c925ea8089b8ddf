use std::collections::BTreeSet;
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
    for what in ["load_class", "load_one", "search", "compile_one", "read_class", "lookup"] {
        assert!(quick.iter().any(|id| id.contains(what)), "{what}");
    }
}

/// The lengths of the path behind which the cells of a plan are.
fn lengths(plan: &ExperimentPlan, what: &str, how: &str) -> Vec<u64> {
    let cells = plan.cells.iter().filter(|cell| {
        let names = [name_of(cell, "what"), name_of(cell, "how"), name_of(cell, TWIN)];
        names == [what, how, ""]
    });
    let directories = |cell: &CellPlan| match cell.factors.iter().map(|known| &known.level).nth(3) {
        Some(Level::Number(directories)) => *directories,
        level => panic!("{level:?} is no number of directories"),
    };
    cells.map(directories).collect()
}

#[test]
fn lookups_are_measured_behind_the_same_directories_as_searches_and_where_there_is_no_search() {
    for (size, wanted) in [(LabSize::Quick, &[0, 100][..]), (LabSize::Default, &[0, 10, 50, 100])] {
        let scratch = Scratch::new();
        let python = plan(&request(&scratch, size, "python")).expect("plan");
        assert_eq!(lengths(&python, "lookup", "stat"), wanted);
        assert_eq!(lengths(&python, "search", "path"), wanted);
        let go = plan(&request(&scratch, size, "go")).expect("plan");
        assert_eq!(lengths(&go, "lookup", "stat"), wanted);
        let lookups = go.cells.iter().filter(|cell| name_of(cell, "what") == "lookup");
        for (cell, directories) in lookups.zip(wanted) {
            assert_eq!(cell.expects.operations, Some(100));
            assert_eq!(cell.expects.calls, [("exists", 100 * (directories + 1))]);
            assert_eq!((cell.state, cell.files.len()), (WantedState::Warm, 100));
        }
    }
}

/// A runtime that is not there, of which only the version matters.
fn old(language: Language, version: &str) -> Probe {
    Probe {
        name: "old".into(),
        language,
        version: version.into(),
        program: "/old".into(),
        found: "/old".into(),
        flags: Vec::new(),
        place: "/".into(),
        supports: vec!["readall:binary".into(), "load:require".into()],
    }
}

#[test]
fn what_an_old_version_cannot_do_is_left_out_with_the_version_that_can() {
    let cases = [
        (Language::Ruby, "iseq", "needs CRuby 2.3 or later; this is 1.9.3"),
        (Language::Ruby, "compile", "needs CRuby 1.9 or later; this is 1.9.3"),
        (Language::Ruby, "legacy", "needs Ruby 1.9 or later; this is 1.9.3"),
        (Language::Node, "compile-cache", "needs Node 22.1 or later; this is 1.9.3"),
        (Language::Go, "text", "go 1.9.3 can't"),
    ];
    for (language, way, why) in cases {
        let left_out = left_out(&old(language, "1.9.3"), way);
        assert_eq!((left_out.what.as_str(), left_out.why.as_str()), (&*format!("old {way}"), why));
    }
}

#[test]
fn a_ruby_that_has_no_start_without_rubygems_has_one_cell_for_both() {
    let scratch = Scratch::new();
    let files =
        Files::generate(&scratch.path("old"), &old(Language::Ruby, "1.8.7")).expect("files");
    let left_out = |probe: &Probe| -> BTreeSet<String> {
        let missing = |case| missing(probe, &case);
        cases::cases(probe, &files).into_iter().filter_map(missing).collect()
    };
    let mut ruby = old(Language::Ruby, "1.8.7");
    let wanted = ["rubygems", "iseq", "compile", "known", "text", "legacy", "exists"];
    assert_eq!(left_out(&ruby), wanted.map(str::to_owned).into());
    ruby.flags = vec!["--disable-gems".into()];
    assert_eq!(left_out(&ruby), wanted[1..].iter().map(|&way| way.to_owned()).collect());
}

#[test]
fn a_compiled_module_is_found_beside_its_source_as_in_python_2_and_in_the_directory_of_python_3() {
    let scratch = Scratch::new();
    let (old, new) = (scratch.path("old"), scratch.path("new/__pycache__"));
    for directory in [&old, &new] {
        fs::create_dir_all(directory).expect("directory");
    }
    let named = |path: &std::path::Path| fs::write(path, b"").expect("write");
    for name in ["e000", "e001", "e0001"] {
        named(&old.join(format!("{name}.pyc")));
        named(&new.join(format!("{name}.cpython-313.pyc")));
    }
    assert_eq!(cases::compiled_of(&old, "e000"), [old.join("e000.pyc")]);
    let of_new = cases::compiled_of(&scratch.path("new"), "e000");
    assert_eq!(of_new, [new.join("e000.cpython-313.pyc")]);
}

/// Python 2 refuses any other.
#[test]
fn a_python_source_that_is_not_ascii_names_its_encoding_in_its_first_lines() {
    for text in [sources::class(Language::Python, 7), sources::empty(Language::Python, 7)] {
        let mut first = text.lines().take(2);
        assert!(text.is_ascii() || first.any(|line| line == "# coding: utf-8"), "{text}");
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
    let scratch = Scratch::new();
    let error = request(&scratch, LabSize::Quick, "perl").languages().expect_err("unknown");
    assert!(error.contains("perl") && error.contains("python"), "{error}");
}

/// The start that the parts of a library are told from, and the whole.
#[test]
fn every_runtime_of_libraries_loads_one_and_loads_nothing() {
    for (runtime, called) in
        [("python", "json"), ("ruby", "set"), ("node", "fs"), ("java", "java.util.HashMap")]
    {
        let scratch = Scratch::new();
        let (all, _) = probes(&request(&scratch, LabSize::Quick, runtime)).expect("probes");
        let library = Library::of(runtime_of(&all, called).expect(runtime), called).expect(called);
        for argv in [&library.load, &library.nothing] {
            let output = Command::new(&argv[0]).args(&argv[1..]).output().expect("run");
            let words = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && words.is_empty(), "{argv:?}: {words}");
        }
    }
}

#[test]
fn nothing_is_planned_for_compiling_where_nothing_is_compiled() {
    let scratch = Scratch::new();
    let mut request = request(&scratch, LabSize::Quick, "node");
    request.options.libraries = vec!["fs".to_owned()];
    let plan = plan(&request).expect("plan");
    assert!(plan.cells.iter().all(|cell| name_of(cell, "part") == "total"), "{:?}", plan.cells);
    let why = "none of its files is compiled while it loads";
    assert!(plan.skipped.iter().any(|left| left.what == "fs, compiling" && left.why == why));
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
    let all = planned(&case::WHAT).expect("plan");
    let planned: BTreeSet<&str> = all.cells.iter().map(|cell| name_of(cell, "what")).collect();
    assert_eq!(planned, case::WHAT.into_iter().collect());
}
