//! Crates use what the table of ARCHITECTURE.md lets them use, and each says what it is.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{files, none_of, root};

/// A row of the table: the crate's name, and what it may use.
type Row = (String, BTreeSet<String>);

/// The rows of the table "crate | holds | may use | must not".
fn table(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let lines = text.lines().skip_while(|line| !line.starts_with("| crate |"));
    let rows = lines.skip(2).map_while(|line| line.strip_prefix('|'));
    let row = |line: &str| -> Row {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        assert!(cells.len() >= 4, "no row of four cells: {line}");
        let uses = cells[2].split([',', ' ']).map(|word| word.trim_matches('`').to_owned());
        (cells[0].trim_matches('`').to_owned(), uses.filter(|word| !word.is_empty()).collect())
    };
    rows.map(row).collect()
}

/// What a manifest names in `[dependencies]`.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let lines = manifest.lines().skip_while(|line| line.trim() != "[dependencies]").skip(1);
    let named = lines.take_while(|line| !line.starts_with('['));
    let name = |line: &str| line.split(['.', ' ', '=']).next().unwrap_or_default().to_owned();
    named.map(name).filter(|name| !name.is_empty() && !name.starts_with('#')).collect()
}

/// The crates' manifests by the crates' names.
fn manifests() -> BTreeMap<String, String> {
    let of = |path: &std::path::Path| path.parent()?.file_name()?.to_str().map(str::to_owned);
    let all = files("crates", "Cargo.toml").into_iter();
    all.map(|file| (of(&file.path).expect("a folder"), file.text)).collect()
}

/// What is wrong with a crate's dependencies.
fn strangers(name: &str, manifest: &str, may: &BTreeSet<String>) -> Vec<String> {
    let used = dependencies(manifest);
    let is_wrong = |used: &&String| match used.strip_prefix("hotset-") {
        Some(own) => !may.contains("all") && !may.contains(own),
        None => may.contains("std"),
    };
    let wrong = used.iter().filter(is_wrong);
    wrong
        .map(|used| {
            format!("crates/{name}/Cargo.toml: may not use {used}, by ARCHITECTURE.md's table")
        })
        .collect()
}

#[test]
fn crates_use_what_the_table_says() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let (table, manifests) = (table(&text), manifests());
    let mut wrong = Vec::new();
    for (name, manifest) in &manifests {
        match table.get(name) {
            Some(may) => wrong.extend(strangers(name, manifest, may)),
            None => wrong.push(format!("ARCHITECTURE.md: the table lacks `{name}`; add its row")),
        }
    }
    let gone = table.keys().filter(|name| !manifests.contains_key(*name));
    wrong.extend(
        gone.map(|name| format!("ARCHITECTURE.md: there is no crate `{name}`; drop its row")),
    );
    none_of(&wrong);
}

#[test]
fn a_crate_says_what_it_is_and_what_it_must_not_do() {
    let mut wrong = Vec::new();
    for name in manifests().keys() {
        let root = root().join("crates").join(name).join("src");
        let path = ["lib.rs", "main.rs"].map(|file| root.join(file));
        let path = path.iter().find(|path| path.exists()).expect("lib.rs or main.rs");
        let text = std::fs::read_to_string(path).expect("text");
        let said: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
        if said.len() < 5 || !said.join(" ").contains("must not") {
            wrong.push(format!(
                "{}: say in about ten lines of //! what the crate is, and what it \"must not\" do",
                path.display()
            ));
        }
    }
    none_of(&wrong);
}

#[test]
fn a_dependency_beyond_the_table_is_found() {
    let text = "x\n\n| crate | holds | may use | must not |\n|---|---|---|---|\n| `a` | words | `b`, libc | eat |\n| `c` | x | std | y |\n\nz";
    let table = table(text);
    assert_eq!(table.keys().collect::<Vec<_>>(), ["a", "c"]);
    let manifest = "[package]\nname = \"a\"\n\n[dependencies]\nhotset-b.workspace = true\nhotset-d.workspace = true\nlibc = \"0.2\"\n\n[lints]\n";
    let wrong = strangers("a", manifest, &table["a"]);
    assert_eq!(wrong, ["crates/a/Cargo.toml: may not use hotset-d, by ARCHITECTURE.md's table"]);
    assert_eq!(strangers("c", manifest, &table["c"]).len(), 3, "std alone");
}
