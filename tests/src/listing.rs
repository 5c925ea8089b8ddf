//! `hotset ls` and the commands that change what it shows, beside what the kernel says of the same file.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::json::number;
use crate::pageflags::{PageCounts, page_counts, resident_pages};
use crate::programs::hotset;
use crate::run::stderr;
use crate::scratch::text;
use crate::state::until;

/// `hotset WORDS…`, to its end.
pub fn hotset_says<W: AsRef<OsStr>>(words: &[W]) -> Output {
    let mut command = Command::new(hotset());
    command.args(words);
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Both streams, for messages.
pub fn said(output: &Output) -> String {
    format!(
        "{}\nstdout: {}\nstderr: {}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        stderr(output)
    )
}

/// What `hotset ls --json` prints with these words, with its exit code.
pub fn listing<W: AsRef<OsStr>>(words: &[W]) -> (Value, i32) {
    let mut all = vec![OsStr::new("ls"), OsStr::new("--json")];
    all.extend(words.iter().map(AsRef::as_ref));
    let output = hotset_says(&all);
    listing_of(&output)
}

/// The same of a run that has ended.
pub fn listing_of(output: &Output) -> (Value, i32) {
    let listing: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", said(output)));
    assert_eq!(listing["schema"], "hotset.residency/1", "{listing}");
    (listing, output.status.code().expect("an exit code"))
}

/// The only row of a listing.
pub fn only_row(listing: &Value) -> &Value {
    let rows = listing["files"].as_array().unwrap_or_else(|| panic!("no files in {listing}"));
    assert_eq!(rows.len(), 1, "{listing}");
    &rows[0]
}

/// Asks hotset and then the kernel about a file, again where something else changed the state between; asserts that they
/// agree, and answers the kernel's counts.
pub fn assert_listed_truly(path: &Path) -> PageCounts {
    until("nothing else changed what is cached", || {
        let before = resident_pages(path);
        let (listing, code) = listing(&[path]);
        let after = resident_pages(path);
        let truth = page_counts(path);
        let still = before == after && count(&after) == truth.cached;
        still.then(|| {
            assert_eq!(code, 0, "{listing}");
            assert_row(&listing, path, after.len() as u64, truth);
            truth
        })
    })
}

fn assert_row(listing: &Value, path: &Path, pages: u64, truth: PageCounts) {
    let row = only_row(listing);
    let both = || format!("{row}\ntrue {truth:?}");
    let stat = rustix::fs::stat(path).expect("stat");
    assert_eq!(row["path"], text(path), "{}", both());
    assert_eq!(number(row, "/ino"), stat.st_ino, "{}", both());
    assert_eq!(number(row, "/size_bytes"), stat.st_size as u64, "{}", both());
    assert_eq!(number(row, "/pages"), pages, "{}", both());
    assert_eq!(number(row, "/cached_pages"), truth.cached, "{}", both());
    // What only cachestat(2) knows is null, never zero, where only mincore(2) could answer.
    match row["source"].as_str() {
        Some("cachestat") => {
            assert_eq!(number(row, "/dirty_pages"), truth.dirty, "{}", both());
            assert_eq!(number(row, "/writeback_pages"), truth.writeback, "{}", both());
        }
        Some("mincore") => {
            for name in ["dirty_pages", "writeback_pages", "evicted_pages"] {
                assert!(row[name].is_null(), "{name}: {}", both());
            }
        }
        _ => panic!("source: {}", both()),
    }
    let totals = &listing["totals"];
    for (pointer, row_pointer) in
        [("/pages", "/pages"), ("/cached_pages", "/cached_pages"), ("/size_bytes", "/size_bytes")]
    {
        assert_eq!(number(totals, pointer), number(row, row_pointer), "{totals} {}", both());
    }
    assert_eq!(number(totals, "/files"), 1, "{listing}");
}

/// How many pages are there.
pub fn count(resident: &[bool]) -> u64 {
    resident.iter().filter(|here| **here).count() as u64
}
