//! What documents link to, and what files of the project they name, is there.

use std::path::{Component, Path, PathBuf};

use crate::source::{Source, at, files, none_of, root};

/// Folders whose files are named in code words, as `crates/sys`.
const FOLDERS: [&str; 9] =
    ["bench/", "crates/", "demo/", "deploy/", "docs/", "fuzz/", "python/", "schema/", "tests/"];

/// All documents.
fn documents() -> Vec<Source> {
    let mut found = files(".", ".md");
    found.retain(|file| !file.path.starts_with("crates/view/assets"));
    found
}

/// The lines that are no code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((index + 1, line))
    })
}

/// The targets of a line's links and images.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let starts = line.match_indices("](").map(|(start, _)| &line[start + 2..]);
    starts.filter_map(|rest| Some(rest.split_once(')')?.0))
}

/// A heading's anchor, as hosts of Markdown make it: letters, digits, `_` and `-`; spaces become `-`.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn has_anchor(text: &str, wanted: &str) -> bool {
    let headings = prose(text).filter(|(_, line)| line.starts_with('#'));
    let mut anchors = headings.map(|(_, line)| anchor(line.trim_start_matches('#')));
    anchors.any(|anchor| anchor == wanted) || text.contains(&format!("id=\"{wanted}\""))
}

/// `a/b/../c` as `a/c`.
fn tidied(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(tidied.pop()),
            Component::CurDir => {}
            other => tidied.push(other),
        }
    }
    tidied
}

/// What is wrong with a link, if anything is.
fn broken(file: &Source, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let folder = file.path.parent().unwrap_or(Path::new(""));
    let path = if path.is_empty() { file.path.clone() } else { tidied(&folder.join(path)) };
    if !root().join(&path).exists() {
        return Some(format!("there is no {}", path.display()));
    }
    if anchor.is_empty() || path.extension().is_none_or(|ending| ending != "md") {
        return None;
    }
    let text = std::fs::read_to_string(root().join(&path)).expect("a document");
    (!has_anchor(&text, anchor)).then(|| format!("{} has no heading #{anchor}", path.display()))
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    for file in documents() {
        for (line, text) in prose(&file.text) {
            let broken = targets(text).filter_map(|target| broken(&file, target));
            wrong.extend(broken.map(|why| format!("{}: {why}", at(&file.path, line))));
        }
    }
    none_of(&wrong);
}

#[test]
fn files_that_are_named_are_there() {
    let mut wrong = Vec::new();
    for file in documents() {
        for (line, text) in prose(&file.text) {
            for word in text.split('`').skip(1).step_by(2) {
                let is_path = FOLDERS.iter().any(|folder| word.starts_with(folder))
                    && !word.contains(['*', ' ', '{', '<', '$', '…', '(']);
                let below = file.path.parent().unwrap_or(Path::new("")).join(word);
                if is_path && !root().join(word).exists() && !root().join(below).exists() {
                    wrong.push(format!("{}: there is no {word}", at(&file.path, line)));
                }
            }
        }
    }
    none_of(&wrong);
}

/// The files that a word names below a crate, such as `cli/args/{mod,ls}.rs`; none where it names no crate's, or `NAME`'s.
fn below_crates(word: &str) -> Vec<String> {
    let Some((name, _)) = word.split_once('/') else { return Vec::new() };
    let is_one = root().join("crates").join(name).is_dir() && !word.contains("NAME");
    match word.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
        _ if !is_one => Vec::new(),
        Some((before, (all, after))) => {
            all.split(',').map(|one| format!("{before}{one}{after}")).collect()
        }
        None => vec![word.to_owned()],
    }
}

/// Whether a file or module is there, with or without `src` behind the crate's name.
fn is_below_crates(file: &str) -> bool {
    let Some((name, rest)) = file.split_once('/') else { return false };
    let folder = root().join("crates").join(name);
    [
        folder.join(rest),
        folder.join("src").join(rest),
        folder.join("src").join(format!("{rest}.rs")),
    ]
    .iter()
    .any(|path| path.exists())
}

#[test]
fn architecture_walks_through_files_that_are_there() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let mut wrong = Vec::new();
    let mut named = 0;
    for (line, text) in prose(&text) {
        let words = text.split('`').skip(1).step_by(2).flat_map(below_crates);
        for file in words.inspect(|_| named += 1).filter(|file| !is_below_crates(file)) {
            wrong.push(format!("{}: there is no {file}", at(Path::new("ARCHITECTURE.md"), line)));
        }
    }
    none_of(&wrong);
    assert!(named > 30, "three walks name more than {named} files");
}

#[test]
fn what_is_broken_is_found() {
    let text = "# A b, c\n\nSee [x](#a-b-c), [y](#none), [z](docs/none.md) and [w](https://example.org).\n";
    let file = Source { path: "README.md".into(), text: text.to_owned() };
    let line = file.text.lines().nth(2).expect("a line");
    assert!(has_anchor(&file.text, "a-b-c"));
    assert_eq!(targets(line).count(), 4);
    let broken: Vec<String> = targets(line).filter_map(|target| broken(&file, target)).collect();
    assert!(broken.iter().any(|why| why == "there is no docs/none.md"), "{broken:?}");
    assert!(!broken.iter().any(|why| why.contains("example.org")), "{broken:?}");
    assert_eq!(below_crates("cli/args/{mod,ls}.rs"), ["cli/args/mod.rs", "cli/args/ls.rs"]);
    assert!(below_crates("cli/args/NAME.rs").is_empty() && below_crates("tests/tests").is_empty());
    assert!(is_below_crates("cli/args/ls.rs") && is_below_crates("observe/bpf"));
    assert!(!is_below_crates("cli/args/none.rs"));
}
