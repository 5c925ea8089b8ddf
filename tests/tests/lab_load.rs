//! `hotset lab load`: what each cell makes its runtime do, against what the kernel saw. Counts only; times are nobody's truth.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hotset_experiments::{Options, Request, find, plan_of};
use hotset_facts::{LabSize, Level};
use hotset_lab::experiment::{CellPlan, ExperimentPlan, Place, ProbeCommand};
use hotset_lab::probes::Language;
use hotset_tests::cells::fact;
use hotset_tests::scratch::text;
use hotset_tests::{
    Scratch, as_nobody, code, hotset, number, profile_of, read_json, row_at, stderr,
};
use serde_json::Value;

fn plan(scratch: &Scratch, language: Language) -> ExperimentPlan {
    let place = Place::look(scratch.dir()).expect("place");
    let options = Options { runtime: Some(language.as_str().to_owned()), ..Options::default() };
    let request = Request { size: LabSize::Full, rounds: None, place, options };
    plan_of(find("load").expect("load"), &request).expect("plan")
}

fn level<'a>(cell: &'a CellPlan, factor: &str) -> &'a str {
    match cell.factors.iter().find(|known| known.name == factor).map(|known| &known.level) {
        Some(Level::Name(level)) => level,
        _ => "",
    }
}

fn directories(cell: &CellPlan) -> Option<u64> {
    match cell.factors.iter().find(|known| known.name == "directories").map(|known| &known.level) {
        Some(Level::Number(directories)) => Some(*directories),
        _ => None,
    }
}

fn profile(scratch: &Scratch, cell: &CellPlan) -> Value {
    let ProbeCommand::Program { argv } = &cell.probe else { panic!("{:?}", cell.factors) };
    profile_of(scratch, argv)
}

/// The warm cells that load, or read whole files.
fn cells<'a>(plan: &'a ExperimentPlan, begins: &'a str) -> impl Iterator<Item = &'a CellPlan> {
    plan.cells.iter().filter(move |cell| {
        level(cell, "what").starts_with(begins)
            && level(cell, "state") == "warm"
            && level(cell, "twin").is_empty()
    })
}

/// Regular files below the directory that were opened.
fn opened(profile: &Value, below: &Path) -> BTreeSet<PathBuf> {
    let rows = profile["files"].as_array().expect("files").iter();
    let opened = rows.filter(|row| row["kind"] == "regular" && number(row, "/opens") > 0);
    let paths = opened.filter_map(|row| row["path"].as_str().map(PathBuf::from));
    paths.filter(|path| path.starts_with(below)).collect()
}

/// 100 modules are 100 files and no other; one is one. What is read of each is all of it. At least so many files are read whole, and
/// so many cells have a count of their own: a newer runtime may have more ways.
fn opens_exactly_what_its_cells_name_and_reads_it_whole(language: Language, least: (u32, u32)) {
    let scratch = Scratch::new("load-files");
    let plan = plan(&scratch, language);
    assert!(!plan.facts.is_empty(), "{:?}", plan.skipped);
    let (mut read_whole, mut counted) = (0_u32, 0_u32);
    for cell in cells(&plan, "load_").chain(cells(&plan, "read_")) {
        let profile = profile(&scratch, cell);
        let named: BTreeSet<PathBuf> = cell.files.iter().cloned().collect();
        let factors = &cell.factors;
        assert_eq!(opened(&profile, &scratch.path("load")), named, "{factors:?}");
        // An object is mapped, an archive is read where it is needed.
        let in_part = ["dlopen", "jar", "appcds"].contains(&level(cell, "how"));
        for path in cell.files.iter().filter(|_| !in_part) {
            let size = path.metadata().expect("size").len();
            let read = number(row_at(&profile, path), "/read/bytes");
            read_whole += 1;
            assert!(read >= size, "{factors:?}: {} read {read} of {size}", path.display());
        }
        let count = if level(cell, "what").ends_with("one") { 1 } else { 100 };
        let archived = ["zip", "zip-pyc"].contains(&level(cell, "how"));
        if language != Language::Java && !archived {
            assert_eq!(named.len(), count, "{factors:?}");
            counted += 1;
        }
    }
    assert!(read_whole >= least.0 && counted >= least.1, "{read_whole}, {counted}");
}

/// A test for each: starting a runtime so often takes its time, and they can run side by side.
macro_rules! opens_exactly {
    ($($test:ident: $language:ident, $least:expr;)*) => {
        $(#[test]
        fn $test() {
            opens_exactly_what_its_cells_name_and_reads_it_whole(Language::$language, $least);
        })*

        #[test]
        fn every_runtime_has_its_test() {
            assert_eq!([$(Language::$language),*], Language::ALL);
        }
    };
}

opens_exactly! {
    c_opens_exactly_the_files_that_are_named: C, (202, 7);
    go_opens_exactly_the_files_that_are_named: Go, (201, 3);
    python_opens_exactly_the_files_that_are_named: Python, (507, 10);
    ruby_opens_exactly_the_files_that_are_named: Ruby, (605, 11);
    node_opens_exactly_the_files_that_are_named: Node, (505, 10);
    java_opens_exactly_the_files_that_are_named: Java, (403, 0);
}

/// Lookups that fail in a directory without the file. Python asks whether the directory has changed, which doesn't fail;
/// Node tries endings and a package, of which versions differ.
fn failing_lookups(language: Language) -> RangeInclusive<u64> {
    match language {
        Language::Ruby | Language::Java => 1..=1,
        Language::Node => 4..=6,
        _ => 0..=0,
    }
}

/// Files that are searched for: Java's probe stands last on the class path itself, with its nested interface.
fn searched(language: Language) -> u64 {
    if language == Language::Java { 102 } else { 100 }
}

#[test]
fn each_directory_before_the_right_one_costs_the_same_lookups_for_each_file() {
    for language in [Language::Python, Language::Ruby, Language::Node, Language::Java] {
        let scratch = Scratch::new("load-search");
        let plan = plan(&scratch, language);
        let count = |how: &str, wanted: u64| {
            let cell = cells(&plan, "search")
                .find(|cell| level(cell, "how") == how && directories(cell) == Some(wanted));
            let cell = cell.unwrap_or_else(|| panic!("{language:?} {how} {wanted}"));
            let profile = profile(&scratch, cell);
            let seen = |what: &str| number(&profile, &format!("/lookups/{what}"));
            (seen("failed"), seen("calls"))
        };
        let (failed_0, calls_0) = count("path", 0);
        for wanted in [10, 50, 100] {
            let misses = searched(language) * wanted;
            let (failed, calls) = count("path", wanted);
            let (failed, calls) = (failed - failed_0, calls - calls_0);
            assert_eq!(failed % misses, 0, "{language:?} {wanted}: {failed}");
            let each = failed / misses;
            assert!(failing_lookups(language).contains(&each), "{language:?} {wanted}: {failed}");
            // Besides, each directory may be looked at once for itself, component by component.
            let expected = each.max(1) * misses;
            let bounds = expected..=expected + 32 * wanted;
            assert!(bounds.contains(&calls), "{language:?} {wanted}: {calls}");
        }
        if language != Language::Java {
            let (known, _) = count("known", 100);
            assert!(known <= failed_0, "{language:?}: {known} failed though the paths were known");
        }
    }
}

#[test]
fn lookups_alone_fail_once_for_each_file_and_directory() {
    for language in Language::ALL {
        let scratch = Scratch::new("load-lookup");
        let plan = plan(&scratch, language);
        let failed = |wanted: u64| {
            let cell = cells(&plan, "lookup").find(|cell| directories(cell) == Some(wanted));
            let cell = cell.unwrap_or_else(|| panic!("{language:?} {wanted}"));
            number(&profile(&scratch, cell), "/lookups/failed")
        };
        let none = failed(0);
        for wanted in [10, 50, 100] {
            let beyond = failed(wanted) - none;
            assert_eq!(beyond, 100 * wanted, "{language:?} {wanted}, {none} without any");
        }
    }
}

/// `hotset lab load` with these words, and what it wrote.
fn lab(scratch: &Scratch, words: &[&str]) -> Value {
    let path = scratch.path("lab.json");
    let mut command = std::process::Command::new(hotset());
    command.args(["lab", "load", "--quick", "--rounds", "3", "-q", "--dir"]).arg(scratch.dir());
    let output = command.arg("--json").arg(&path).args(words).output().expect("hotset");
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    read_json(&path)
}

fn found(session: &Value, name: &str) -> u64 {
    fact(session, name).as_u64().unwrap_or_else(|| panic!("{name} is a number"))
}

/// What Python itself says of a library in a process of its own: modules, and those that have a file.
fn modules_of(library: &str) -> (u64, u64) {
    let program = "import sys; known = set(sys.modules); __import__(sys.argv[1])\n\
        new = [sys.modules[name] for name in sys.modules if name not in known]\n\
        specs = [module.__spec__ for module in new if module.__spec__]\n\
        print(len(new), sum(spec.has_location for spec in specs))";
    let output = std::process::Command::new("python3")
        .args(["-B", "-c", program, library])
        .output()
        .expect("python3");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    let numbers: Vec<u64> =
        said.split_whitespace().map(|word| word.parse().expect("number")).collect();
    (numbers[0], numbers[1])
}

#[test]
fn a_library_is_as_many_files_as_its_runtime_says_and_its_parts_are_told_apart() {
    let scratch = Scratch::new("load-library");
    let library = "xml.etree.ElementTree";
    let session = lab(&scratch, &["--library", library, "--runtime", "python"]);
    let told = (
        found(&session, &format!("modules of {library}")),
        found(&session, &format!("files of {library}")),
    );
    assert_eq!(told, modules_of(library));
    let cells = session["cells"].as_array().expect("cells");
    let mut parts: BTreeSet<(&str, &str)> = cells
        .iter()
        .filter_map(|cell| {
            Some((cell["factors"]["part"].as_str()?, cell["factors"]["state"].as_str()?))
        })
        .collect();
    // On a busy host lookups may drown in the time of a start: then that is said, and of them alone.
    for skipped in session["skipped"].as_array().expect("skipped") {
        // Python compiled its modules when it was installed: nothing is compiled while they load.
        if skipped["what"] == format!("{library}, compiling") {
            assert_eq!(found(&session, &format!("files compiled while loading of {library}")), 0);
            assert!(parts.insert(("compile", "warm")), "is told, and not: {skipped}");
            continue;
        }
        let is_of = |state: &&str| {
            skipped["what"] == format!("python, library, {library}, lookup, {state}")
        };
        let state = ["warm", "cold"].into_iter().find(is_of).expect("lookups alone");
        assert!(skipped["why"].as_str().is_some_and(|why| why.contains("start")), "{skipped}");
        assert!(parts.insert(("lookup", state)), "{state} is told, and not: {skipped}");
    }
    let mut wanted = BTreeSet::from([("compile", "warm")]);
    wanted.extend(
        ["total", "lookup", "read"].iter().flat_map(|&part| [(part, "warm"), (part, "cold")]),
    );
    assert_eq!(parts, wanted);
}

#[test]
fn several_libraries_are_told_apart_in_one_session() {
    let scratch = Scratch::new("load-libraries");
    let libraries = ["json", "xml.dom.minidom"];
    let session = lab(&scratch, &["--library", &libraries.join(","), "--runtime", "python"]);
    for library in libraries {
        let files = found(&session, &format!("files of {library}"));
        let modules = found(&session, &format!("modules of {library}"));
        assert_eq!((modules, files), modules_of(library), "{library}");
        let id = format!("load/python/library/{library}/total/warm");
        let cells = session["cells"].as_array().expect("cells");
        assert!(cells.iter().any(|cell| cell["id"] == id.as_str()), "{id}");
    }
}

#[test]
fn a_library_that_is_not_there_or_has_no_runtime_is_refused_with_what_would_be_right() {
    for (words, wanted) in [
        (&["--library", "nonexistent_library", "--runtime", "ruby"][..], "nonexistent_library"),
        (&["--library", "json"][..], "--runtime"),
        (&["--runtime", "perl"][..], "python"),
    ] {
        let scratch = Scratch::new("load-refused");
        let mut command = std::process::Command::new(hotset());
        command.args(["lab", "load", "--quick", "-q", "--dir"]).arg(scratch.dir());
        let output = command.args(words).output().expect("hotset");
        assert!(!output.status.success(), "{words:?}");
        assert!(stderr(&output).contains(wanted), "{words:?}: {}", stderr(&output));
        let left = std::fs::read_dir(scratch.dir()).expect("directory").count();
        assert_eq!(left, 0, "{words:?}: something is left behind");
    }
}

/// Of files of others, an ordinary user can't tell what is cached: not even the state of one sample could be verified.
#[test]
fn another_user_is_refused_what_no_sample_would_be_valid_of() {
    let scratch = Scratch::new("lab-nobody");
    let mut command = as_nobody(scratch.dir());
    std::fs::set_permissions(scratch.dir(), PermissionsExt::from_mode(0o777)).expect("chmod");
    command.args(["lab", "load", "--quick", "--library", "json", "--runtime", "python"]);
    command.args(["--dir", text(scratch.dir())]).env("HOME", scratch.dir());
    let output = command.output().expect("unshare");
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    let why = "tells what is cached only to a file's owner";
    assert!(stderr(&output).contains(why), "{}", stderr(&output));
}
