//! ARCHITECTURE.md names every module of every crate, and every experiment is registered.

use std::collections::BTreeMap;
use std::fs::{read_dir, read_to_string};

use crate::source::{none_of, root};

/// What the section "The rooms" says of each crate.
fn rooms(text: &str) -> BTreeMap<&str, &str> {
    let section = text.split("\n## The rooms\n").nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    section.split("\n- **").skip(1).filter_map(|item| item.split_once("**")).collect()
}

/// A module in a crate's `src`.
struct Module {
    name: String,
    is_folder: bool,
}

/// The modules in a crate's `src`, without those that are tests or serve them.
fn modules(name: &str) -> Vec<Module> {
    let source = root().join("crates").join(name).join("src");
    let paths = read_dir(source).expect("src").map(|entry| entry.expect("an entry").path());
    let all = paths.filter_map(|path| {
        let name = path.file_stem()?.to_str()?.to_owned();
        Some(Module { name, is_folder: path.is_dir() })
    });
    let is_room = |module: &Module| {
        let name = module.name.as_str();
        !matches!(name, "lib" | "main" | "snapshots" | "testing" | "test_support")
            && !name.ends_with("tests")
    };
    all.filter(is_room).collect()
}

/// What the crate's root lacks for an experiment, whose folder nothing else leads to.
fn unregistered(crate_root: &str, experiment: &str) -> Option<String> {
    let parts = [
        ("`mod`", format!("\nmod {experiment};\n")),
        ("entry in `ALL`", format!("&{experiment}::")),
    ];
    let lacking = parts.iter().filter(|(_, code)| !crate_root.contains(code));
    let lacking: Vec<&str> = lacking.map(|(what, _)| *what).collect();
    let place = "crates/experiments/src/lib.rs";
    (!lacking.is_empty())
        .then(|| format!("{place}: give `{experiment}` its {}", lacking.join(" and its ")))
}

#[test]
fn architecture_names_every_module() {
    let text = read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let rooms = rooms(&text);
    let mut wrong = Vec::new();
    for folder in read_dir(root().join("crates")).expect("crates") {
        let name = folder.expect("a crate").file_name().into_string().expect("a name");
        let said = rooms.get(name.as_str()).copied().unwrap_or_default();
        // An experiment is a folder that says itself what it asks.
        let is_experiment = |module: &Module| name == "experiments" && module.is_folder;
        for module in modules(&name).iter().filter(|module| !is_experiment(module)) {
            let module = &module.name;
            if !said.contains(&format!("`{module}`")) {
                wrong.push(format!(
                    "ARCHITECTURE.md, \"The rooms\": say what {name}'s `{module}` holds"
                ));
            }
        }
    }
    none_of(&wrong);
}

#[test]
fn every_experiment_is_registered() {
    let text = read_to_string(root().join("crates/experiments/src/lib.rs")).expect("lib.rs");
    let folders = modules("experiments").into_iter().filter(|module| module.is_folder);
    let wrong = folders.filter_map(|folder| unregistered(&text, &folder.name));
    none_of(&wrong.collect::<Vec<_>>());
}

#[test]
fn a_module_that_is_not_named_is_found() {
    let text = "# A\n\n## The rooms\n\n- **sys**: `proc` (/proc),\n  `cache`.\n- **lab**: `rounds`.\n\n## B\n- **b**: `x`.\n";
    let rooms = rooms(text);
    assert_eq!(rooms.len(), 2);
    assert!(rooms["sys"].contains("`cache`") && !rooms["lab"].contains("`cache`"));
    let modules = modules("sys");
    let is_folder =
        |name: &str| modules.iter().find(|one| one.name == name).map(|one| one.is_folder);
    assert_eq!((is_folder("cache"), is_folder("damon")), (Some(true), Some(false)));
}

#[test]
fn an_experiment_that_is_not_registered_is_told_what_it_lacks() {
    let text = "mod access;\nmod ahead;\n\nstatic ALL: &[&Experiment] = &[&access::ACCESS];\n";
    let text = format!("//! All.\n{text}");
    let lacking = |experiment| unregistered(&text, experiment);
    let place = "crates/experiments/src/lib.rs";
    assert_eq!(lacking("access"), None);
    assert_eq!(lacking("ahead"), Some(format!("{place}: give `ahead` its entry in `ALL`")));
    let both = format!("{place}: give `behind` its `mod` and its entry in `ALL`");
    assert_eq!(lacking("behind"), Some(both));
}
