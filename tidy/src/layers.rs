//! Crates use what the table of ARCHITECTURE.md lets them use, and each says what it is.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{files, none_of, root};

/// A row of the table: the crate's name, and what it may use. `all` is any crate, `any other` any that is not of the project.
type Row = (String, BTreeSet<String>);

/// The rows of the table "crate | holds | may use | must not".
fn table(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let lines = text.lines().skip_while(|line| !line.starts_with("| crate |"));
    let rows = lines.skip(2).map_while(|line| line.strip_prefix('|'));
    let row = |line: &str| -> Row {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        assert!(cells.len() >= 4, "no row of four cells: {line}");
        // What it is used for may stand behind a name.
        let uses = cells[2].split(", ").filter_map(|use_| use_.split(" (").next());
        (cells[0].trim_matches('`').to_owned(), uses.map(str::to_owned).collect())
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

/// Where a crate's dependencies and its row of the table differ.
fn differences(name: &str, manifest: &str, may: &BTreeSet<String>) -> Vec<String> {
    let used = dependencies(manifest);
    let named = |used: &str| used.strip_prefix("hotset-").unwrap_or(used).to_owned();
    let is_allowed = |used: &String| {
        let is_own = used.starts_with("hotset-");
        may.contains("all") || may.contains(&named(used)) || !is_own && may.contains("any other")
    };
    let strangers = used.iter().filter(|used| !is_allowed(used)).map(|used| {
        format!("crates/{name}/Cargo.toml: may not use {used}, by ARCHITECTURE.md's table")
    });
    let known: BTreeSet<String> = used.iter().map(|used| named(used)).collect();
    let is_word = |word: &str| matches!(word, "all" | "any other");
    let unused = may.iter().filter(|word| !is_word(word) && !known.contains(*word));
    let unused = unused.map(|word| {
        format!("ARCHITECTURE.md: `{name}` does not use {word}; drop it from the table")
    });
    strangers.chain(unused).collect()
}

#[test]
fn crates_use_what_the_table_says() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let (table, manifests) = (table(&text), manifests());
    let mut wrong = Vec::new();
    for (name, manifest) in &manifests {
        match table.get(name) {
            Some(may) => wrong.extend(differences(name, manifest, may)),
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
fn a_dependency_that_the_table_does_not_name_is_found() {
    let row = |uses: &str| {
        let text = format!(
            "x\n\n| crate | holds | may use | must not |\n|---|---|---|---|\n| `a` | words | {uses} | eat |\n\nz"
        );
        table(&text).remove("a").expect("a row")
    };
    let manifest = "[package]\nname = \"a\"\n\n[dependencies]\nhotset-b.workspace = true\nhotset-d.workspace = true\nlibc = \"0.2\"\n\n[lints]\n";
    let wrong = |uses: &str| differences("a", manifest, &row(uses));
    let may_not =
        |used| format!("crates/a/Cargo.toml: may not use {used}, by ARCHITECTURE.md's table");
    assert_eq!(wrong("b, libc (for b)"), [may_not("hotset-d")]);
    assert_eq!(wrong("b, d"), [may_not("libc")]);
    assert_eq!(wrong("b, any other"), [may_not("hotset-d")]);
    let unused = "ARCHITECTURE.md: `a` does not use serde; drop it from the table";
    assert_eq!(wrong("b, d, libc, serde"), [unused]);
    assert!(wrong("all").is_empty());
}
