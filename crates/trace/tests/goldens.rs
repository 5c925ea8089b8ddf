//! Inputs of a few lines, each named after its trap or fault, beside what the import of it tells.
//! `UPDATE_GOLDENS=1` writes them.
#![allow(clippy::expect_used, clippy::disallowed_methods, reason = "tests read their data")]

mod common;

use std::path::{Path, PathBuf};

use hotset_trace::import::sniff;

/// Every input below a folder, but for what is told of it.
fn inputs(format: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(format);
    let entries = std::fs::read_dir(&folder).expect("a folder of inputs");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut inputs: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending != "told")).collect();
    inputs.sort();
    inputs
}

fn check(format: &str) {
    let inputs = inputs(format);
    assert!(inputs.len() >= 3, "{format}: {} inputs", inputs.len());
    for input in inputs {
        let bytes = std::fs::read(&input).expect("the input");
        let told = common::told(&common::import(format, &bytes));
        let golden = input.with_extension("told");
        if std::env::var_os("UPDATE_GOLDENS").is_some() {
            std::fs::write(&golden, &told).expect("a golden written");
        }
        let expected = std::fs::read_to_string(&golden).unwrap_or_default();
        assert_eq!(told, expected, "{}", golden.display());
        let name = input.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        // What is wrong with one of a few binary records is wrong with all that a sniffer sees.
        if !name.starts_with("wrong-") && (format, name) != ("oracle", "refused-records") {
            assert_eq!(sniff(&bytes).map(|format| format.name), Some(format), "{name}");
        }
    }
}

#[test]
fn strace() {
    check("strace");
}

#[test]
fn fio() {
    check("fio");
}

#[test]
fn csv() {
    check("csv");
}

#[test]
fn blkparse() {
    check("blkparse");
}

#[test]
fn oracle() {
    check("oracle");
}
