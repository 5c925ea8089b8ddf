//! One version: the workspace's. What names it elsewhere, because nothing can fill it in there, names the same.

use std::path::Path;

use crate::source::{Source, at, files, none_of, root};

/// What stands before the version of hotset where a file names it.
const NAMED_BY: [(&str, &str); 6] = [
    ("Cargo.toml", "{ version = \"="),
    ("deploy/kubernetes/daemonset.yaml", "/hotset:"),
    ("docs/install.md", "hotset_"),
    ("docs/install.md", "hotset-"),
    ("fuzz/Cargo.toml", "version = \""),
    ("CHANGELOG.md", "## ["),
];

/// The version in the manifest of the workspace.
fn version() -> String {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    let (_, package) = manifest.split_once("[workspace.package]").expect("a package");
    let (_, version) = package.split_once("version = \"").expect("a version");
    version.split('"').next().expect("its end").to_owned()
}

/// What looks like a version behind one of these, by line.
fn named<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = (usize, &'a str)> + 'a {
    text.lines().enumerate().flat_map(move |(index, line)| {
        line.match_indices(before).filter_map(move |(place, _)| {
            let rest = &line[place + before.len()..];
            let end = rest.find(|sign: char| !sign.is_ascii_digit() && sign != '.');
            let named = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
            (named.split('.').count() == 3).then_some((index + 1, named))
        })
    })
}

#[test]
fn what_names_the_version_names_the_workspace_s() {
    let expected = version();
    let mut wrong = Vec::new();
    for (path, before) in NAMED_BY {
        let text = std::fs::read_to_string(root().join(path)).expect(path);
        let mut all = named(&text, before).peekable();
        if all.peek().is_none() {
            wrong.push(format!("{path}: names no version after `{before}` any more"));
        }
        // Older releases stand below the newest one.
        let all: Vec<_> =
            if path == "CHANGELOG.md" { all.take(1).collect() } else { all.collect() };
        for (line, found) in all.into_iter().filter(|(_, found)| *found != expected) {
            wrong.push(format!("{}: {found}; expected {expected}", at(Path::new(path), line)));
        }
    }
    none_of(&wrong);
}

#[test]
fn a_manifest_takes_the_version_of_the_workspace() {
    let own = |file: &Source| {
        let ours = file.path.starts_with("fuzz") || file.path == Path::new("Cargo.toml");
        (!ours && !file.text.contains("version.workspace = true"))
            .then(|| format!("{}: write `version.workspace = true`", file.path.display()))
    };
    none_of(&files(".", "Cargo.toml").iter().filter_map(own).collect::<Vec<_>>());
}

#[test]
fn a_version_is_found_where_it_stands() {
    let text = "a hotset-0.1.0-1.rpm, hotset-export and\nhotset-2.10.3.oci.tar hotset-1.2";
    let found: Vec<_> = named(text, "hotset-").collect();
    assert_eq!(found, [(1, "0.1.0"), (2, "2.10.3")]);
}
