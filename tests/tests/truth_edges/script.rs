//! A Python script under hotset, beside what the script says that it did.

use std::path::Path;

use hotset_tests::run::profile_of;
use hotset_tests::scratch::text;
use hotset_tests::{Evictions, Scratch, evict_verified, number, read_json, until};
use serde_json::Value;

pub(crate) fn row<'a>(profile: &'a Value, path: &Path) -> &'a Value {
    let rows = profile["files"].as_array().expect("files");
    rows.iter().find(|row| row["path"] == text(path)).expect("the file's row")
}

/// Runs a Python program on a file that is not cached; what it writes to its second word is the truth.
pub(crate) fn python(scratch: &Scratch, path: &Path, script: &str) -> (Value, Value) {
    until("nothing else read the file or evicted it", || {
        std::fs::File::open(path).and_then(|file| file.sync_all()).expect("sync");
        evict_verified(path);
        let evictions = Evictions::of(&[path]);
        let truth = scratch.path("truth.json");
        let profile = profile_of(scratch, &["python3", "-c", script, text(path), text(&truth)]);
        let row = row(&profile, path).clone();
        let undisturbed = number(&row, "/cached_before") == 0 && evictions.none();
        undisturbed.then(|| (row, read_json(&truth)))
    })
}
