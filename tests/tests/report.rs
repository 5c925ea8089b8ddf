//! `hotset report` of a profile as large as `run` writes it unless it is asked for more files.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use hotset_tests::scratch::text;
use hotset_tests::{MIB, Scratch, hotset, profile_of, stderr};
use serde_json::Value;

const FILES: usize = 10_000;
/// The most private memory that it may have, in KiB; the kernel refuses what is beyond.
const LIMIT_KIB: u64 = 40 << 10;

/// A profile with so many files, each as the first of a real one, and indented: 16 MB.
fn indented(scratch: &Scratch) -> String {
    let file = scratch.file("f", MIB);
    let mut profile = profile_of(scratch, &["cat", text(&file)]);
    let files = profile["files"].as_array().expect("files");
    let row = files.iter().find(|row| row["path"] == text(&file)).expect("the file").clone();
    profile["files"] = Value::from(vec!["here"]);
    let whole = serde_json::to_string_pretty(&profile).expect("JSON");
    let (before, after) = whole.split_once("\"here\"").expect("the place of the rows");
    let mut document = before.to_owned();
    for ino in 0..FILES {
        let mut row = row.clone();
        row["ino"] = ino.into();
        let comma = if ino > 0 { "," } else { "" };
        let row = serde_json::to_string_pretty(&row).expect("JSON");
        write!(document, "{comma}{row}").expect("a string");
    }
    document + after
}

#[test]
fn a_name_that_ends_in_gz_is_compressed_and_read_back() {
    let scratch = Scratch::new("report-gz");
    let file = scratch.file("f", MIB);
    let [json, page, again] = ["p.json.gz", "p.html", "again.html"].map(|name| scratch.path(name));
    let mut run = Command::new(hotset());
    run.args(["run", "-q", "--json", text(&json), "--html", text(&page), "--", "cat"]);
    let output = run.arg(&file).output().expect("hotset");
    assert!(output.status.success(), "{}", stderr(&output));
    let report = |json: &Path| {
        let words = ["report", text(json), "-o", text(&again)];
        Command::new(hotset()).args(words).output().expect("hotset")
    };
    let output = report(&json);
    assert!(output.status.success(), "{}", stderr(&output));
    let pages = [&page, &again].map(|page| std::fs::read(page).expect("a page"));
    assert!(pages[0] == pages[1], "the page of the run");
    // Another program can read it.
    let plain = Command::new("gzip").arg("-dc").arg(&json).output().expect("gzip");
    let profile: Value = serde_json::from_slice(&plain.stdout).expect("JSON");
    assert_eq!(profile["schema"], "hotset.profile/1");
    let whole = std::fs::read(&json).expect("compressed");
    assert!(whole.len() * 2 < plain.stdout.len(), "{} of {}", whole.len(), plain.stdout.len());
    std::fs::write(&json, &whole[..whole.len() / 2]).expect("cut");
    let output = report(&json);
    assert!(
        !output.status.success() && stderr(&output).contains("p.json.gz"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_large_profile_needs_little_more_than_its_text() {
    let scratch = Scratch::new("report-large");
    let (profile, page) = (scratch.path("p.json"), scratch.path("p.html"));
    let document = indented(&scratch);
    assert!(document.len() > 16_000_000, "{} bytes", document.len());
    std::fs::write(&profile, document).expect("write");
    let line = format!("ulimit -d {LIMIT_KIB}; exec \"$0\" report \"$1\" -o \"$2\"");
    let program = hotset();
    let words = ["-c", &line, text(&program), text(&profile), text(&page)];
    let output = Command::new("sh").args(words).output().expect("sh");
    assert!(output.status.success(), "{}", stderr(&output));
    let page = std::fs::read_to_string(&page).expect("a page");
    assert!(page.contains("</html>") && page.contains(text(&scratch.path("f"))), "it is whole");
}
