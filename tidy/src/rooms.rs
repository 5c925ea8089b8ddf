//! ARCHITECTURE.md names every module of every crate.

use std::collections::BTreeMap;
use std::fs::read_dir;

use crate::source::{none_of, root};

/// What the section "The rooms" says of each crate.
fn rooms(text: &str) -> BTreeMap<&str, &str> {
    let section = text.split("\n## The rooms\n").nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    section.split("\n- **").skip(1).filter_map(|item| item.split_once("**")).collect()
}

/// The modules in a crate's `src`, without those that are tests or serve them.
fn modules(name: &str) -> Vec<String> {
    let source = root().join("crates").join(name).join("src");
    let entries = read_dir(source).expect("src").map(|entry| entry.expect("an entry").file_name());
    let stems = entries.filter_map(|file| Some(file.to_str()?.trim_end_matches(".rs").to_owned()));
    let is_room = |stem: &String| {
        !matches!(stem.as_str(), "lib" | "main" | "snapshots" | "testing" | "test_support")
            && !stem.ends_with("tests")
    };
    stems.filter(is_room).collect()
}

#[test]
fn architecture_names_every_module() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let rooms = rooms(&text);
    let mut wrong = Vec::new();
    for folder in read_dir(root().join("crates")).expect("crates") {
        let name = folder.expect("a crate").file_name().into_string().expect("a name");
        let said = rooms.get(name.as_str()).copied().unwrap_or_default();
        for module in modules(&name) {
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
fn a_module_that_is_not_named_is_found() {
    let text = "# A\n\n## The rooms\n\n- **sys**: `proc` (/proc),\n  `cache`.\n- **lab**: `rounds`.\n\n## B\n- **b**: `x`.\n";
    let rooms = rooms(text);
    assert_eq!(rooms.len(), 2);
    assert!(rooms["sys"].contains("`cache`") && !rooms["lab"].contains("`cache`"));
    assert!(modules("sys").contains(&"cache".to_owned()));
}
