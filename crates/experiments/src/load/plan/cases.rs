//! What each runtime is asked to do. What doesn't make sense for one is left out.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::case::Case;
use super::files::{CLASSES, EMPTIES, Files, Set, TOGETHER};
use super::sources::suffix;
use hotset_lab::probes::{Language, Probe, Start};

/// Lengths of the part of the search path that has nothing.
const SEARCHED: [u64; 4] = [0, 10, 50, 100];

/// All cases of a runtime, in the order of the table.
pub(super) fn cases(probe: &Probe, files: &Files) -> Vec<Case> {
    let mut cases = match probe.language {
        Language::C => c(files),
        Language::Go => Vec::new(),
        Language::Python => python(files),
        Language::Ruby => ruby(files),
        Language::Node => node(files),
        Language::Java => java(probe, files),
    };
    cases.extend(reading(probe.language, files));
    cases
}

/// Reading and asking: always the sources, which are of a like size in all languages.
fn reading(language: Language, files: &Files) -> Vec<Case> {
    let source = suffix(language);
    let hows: &[&'static str] = match language {
        Language::C => &["binary", "stdio"],
        Language::Go => &["binary"],
        _ => &["text", "binary", "legacy"],
    };
    let mut cases = vec![
        Case::read("read_empty", "binary", files, ("empty", EMPTIES, source)),
        Case::read("read_class", "binary", files, ("class", CLASSES, source)).quick(),
    ];
    cases.extend(hows.iter().map(|how| {
        let directory = if *how == "legacy" { "legacy" } else { "one" };
        Case::read("read_one", how, files, (directory, TOGETHER, source))
    }));
    cases.push(Case::exists(files, ("class", CLASSES, source)));
    cases.extend(behind_each(files, |_| Case::lookup(files, searched(language))));
    cases
}

/// What a search looks for, in the last directory of the path.
fn searched(language: Language) -> (&'static str, Set, &'static str) {
    match language {
        Language::Python => ("empty-pyc", EMPTIES, ".py"),
        Language::Java => ("empty-classes", EMPTIES, ".class"),
        _ => ("empty", EMPTIES, suffix(language)),
    }
}

/// A case behind more and more directories.
fn behind_each(files: &Files, case: impl Fn(u64) -> Case) -> impl Iterator<Item = Case> {
    SEARCHED.iter().map(move |&directories| {
        let case = case(directories).behind(directories, files);
        if [0, 100].contains(&directories) { case.quick() } else { case }
    })
}

/// Loaded without a search, the sources or what stands beside them.
fn plain(
    files: &Files,
    what: &'static str,
    how: (&'static str, &str),
    (directory, set): (&str, Set),
    ending: &str,
) -> Case {
    Case::load(what, how, files, (directory, set), files.of(directory, set, ending))
}

/// Searches behind more and more directories, and the same files by their full paths behind the most.
fn searches(files: &Files, by: &str, language: Language) -> Vec<Case> {
    let (directory, set, ending) = searched(language);
    let load = |how| plain(files, "search", how, (directory, set), ending);
    let mut cases: Vec<Case> = behind_each(files, |_| load(("path", by))).collect();
    cases.push(load(("known", "known")).behind(100, files).quick());
    cases
}

fn python(files: &Files) -> Vec<Case> {
    let compiled = |what, directory, set: Set| {
        let place = files.directory(directory);
        let read = set.names().flat_map(|name| compiled_of(&place, &name)).collect();
        Case::load(what, ("pyc", "import"), files, (directory, set), read)
    };
    let archived = |how, directory: &str| {
        let archive = files.directory(&format!("{directory}.zip"));
        Case::load("load_class", (how, "zip"), files, (directory, CLASSES), vec![archive])
    };
    let mut cases = vec![
        compiled("load_empty", "empty-pyc", EMPTIES),
        compiled("load_class", "class-pyc", CLASSES).quick(),
        plain(files, "load_class", ("source", "import"), ("class", CLASSES), ".py").quick(),
        archived("zip", "class"),
        archived("zip-pyc", "class-packed"),
        compiled("load_one", "one-pyc", TOGETHER).quick(),
        plain(files, "load_one", ("source", "import"), ("one", TOGETHER), ".py").quick(),
        Case::compile(files, ("one", TOGETHER), ".py").quick(),
    ];
    cases.extend(searches(files, "import", Language::Python));
    cases
}

/// The compiled modules of a source: beside it in Python 2, else in a directory where their names end in the interpreter's own
/// tag.
pub(super) fn compiled_of(place: &Path, name: &str) -> Vec<PathBuf> {
    let beside = place.join(format!("{name}.pyc"));
    if beside.is_file() {
        return vec![beside];
    }
    let begins = format!("{name}.");
    let entries = std::fs::read_dir(place.join("__pycache__")).into_iter().flatten().flatten();
    let names = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&begins));
    names.map(|entry| entry.path()).collect()
}

fn ruby(files: &Files) -> Vec<Case> {
    let gems = Start { flags: Some(Vec::new()), ..Start::default() };
    let mut cases = vec![
        plain(files, "load_empty", ("source", "require"), ("empty", EMPTIES), ".rb"),
        plain(files, "load_class", ("source", "require"), ("class", CLASSES), ".rb").quick(),
        plain(files, "load_class", ("rubygems", "require"), ("class", CLASSES), ".rb")
            .started(gems),
        plain(files, "load_class", ("iseq", "iseq"), ("class", CLASSES), ".yarb").quick(),
        plain(files, "load_one", ("source", "require"), ("one", TOGETHER), ".rb").quick(),
        plain(files, "load_one", ("iseq", "iseq"), ("one", TOGETHER), ".yarb"),
        Case::compile(files, ("one", TOGETHER), ".rb").quick(),
    ];
    cases.extend(searches(files, "require", Language::Ruby));
    cases
}

fn node(files: &Files) -> Vec<Case> {
    let kept = |what, directory, set| {
        let mut read = files.of(directory, set, ".js");
        read.extend(below(&files.directory(&format!("{directory}.cache"))));
        Case::load(what, ("compile-cache", "compile-cache"), files, (directory, set), read)
    };
    let mut cases = vec![
        plain(files, "load_empty", ("require", "require"), ("empty", EMPTIES), ".js"),
        plain(files, "load_class", ("require", "require"), ("class", CLASSES), ".js").quick(),
        plain(files, "load_class", ("esm", "esm"), ("class-esm", CLASSES), ".mjs"),
        kept("load_class", "class", CLASSES),
        plain(files, "load_one", ("require", "require"), ("one", TOGETHER), ".js").quick(),
        plain(files, "load_one", ("esm", "esm"), ("one-esm", TOGETHER), ".mjs"),
        kept("load_one", "one", TOGETHER),
        Case::compile(files, ("one", TOGETHER), ".js").quick(),
    ];
    cases.extend(searches(files, "path", Language::Node));
    cases
}

/// All files below a directory.
fn below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(below(&entry.path())),
            Ok(_) => found.push(entry.path()),
            Err(_) => {}
        }
    }
    found
}

fn java(probe: &Probe, files: &Files) -> Vec<Case> {
    let along = |path: Vec<PathBuf>| Start { class_path: path, ..Start::default() };
    let from = |what, directory, set| {
        plain(files, what, ("classes", "class"), (directory, set), ".class")
            .started(along(vec![files.directory(directory)]))
    };
    let jar = files.directory("one.jar");
    let archive = files.directory("one.jsa");
    // In Java the one file is an archive of all classes.
    let in_one = |how, read| Case::load("load_one", (how, "class"), files, ("", CLASSES), read);
    let mut cases = vec![
        from("load_empty", "empty-classes", EMPTIES),
        from("load_class", "class-classes", CLASSES).quick(),
        in_one("jar", vec![jar.clone()]).started(along(vec![jar.clone()])).quick(),
    ];
    if archive.is_file() {
        let mut flag = OsString::from("-XX:SharedArchiveFile=");
        flag.push(&archive);
        let flags = probe.flags.iter().cloned().chain([flag]).collect();
        let start = Start { flags: Some(flags), class_path: vec![jar] };
        // The archive of classes is only asked whether it is still the same.
        cases.push(in_one("appcds", vec![archive]).started(start).reads_partly().quick());
    }
    let (directory, set, ending) = searched(Language::Java);
    cases.extend(behind_each(files, |directories| {
        let empties = (0..directories).map(|number| files.directory(&format!("path/d{number:03}")));
        let path = empties.chain([files.directory(directory)]).collect();
        plain(files, "search", ("path", "class"), (directory, set), ending).started(along(path))
    }));
    cases
}

fn c(files: &Files) -> Vec<Case> {
    let how = ("dlopen", "dlopen");
    vec![
        plain(files, "load_empty", how, ("empty", EMPTIES), ".so").reads_partly(),
        plain(files, "load_class", how, ("class", CLASSES), ".so").reads_partly().quick(),
        plain(files, "load_one", how, ("one", TOGETHER), ".so").reads_partly().quick(),
    ]
}
