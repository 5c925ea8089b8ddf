//! The cells of `hotset lab --json`, for tests of what was counted.

use serde_json::Value;

/// Doubts about a time alone, which a busy host raises.
const NOISE: [&str; 2] = ["cpu-taken", "slow-pages"];

/// All cells of an experiment.
pub fn cells(session: &Value) -> &Vec<Value> {
    session["cells"].as_array().expect("cells")
}

/// The cell of an id.
pub fn cell<'a>(session: &'a Value, id: &str) -> &'a Value {
    let found = cells(session).iter().find(|cell| cell["id"] == id);
    found.unwrap_or_else(|| panic!("no {id}"))
}

/// A number of each sample that counts, or would on a quiet host; at least one must.
pub fn each(cell: &Value, key: &str) -> Vec<u64> {
    let runs = &cell["runs"];
    let list = |key: &str| runs[key].as_array().unwrap_or_else(|| panic!("{key} in {cell}"));
    let noise = |doubt: &Value| NOISE.iter().any(|code| doubt["code"] == *code);
    let counts = |doubts: &Value| doubts.as_array().is_some_and(|all| all.iter().all(noise));
    let kept: Vec<u64> = list(key)
        .iter()
        .zip(list("doubts"))
        .filter(|(_, doubts)| counts(doubts))
        .map(|(value, _)| value.as_u64().unwrap_or_else(|| panic!("{key}: {cell}")))
        .collect();
    assert!(!kept.is_empty(), "no sample counts: {cell}");
    kept
}

/// Every sample that counts has this number.
pub fn all_are(cell: &Value, key: &str, wanted: u64) {
    let values = each(cell, key);
    assert!(
        values.iter().all(|&value| value == wanted),
        "{key}: {values:?} and not {wanted}: {cell}"
    );
}
