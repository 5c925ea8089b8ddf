//! Real outputs against the schema that users have.

use hotset_tests::scratch::text;
use hotset_tests::{Scratch, hotset, read_json, stderr};
use hotset_validate::violations;
use serde_json::{Value, json};
use std::process::Command;

const SCHEMA: &str = include_str!("../../schema/profile-1.schema.json");

const CONTROL_SCHEMA: &str = include_str!("../../schema/control-1.schema.json");

fn profile_with(scratch: &Scratch, words: &[&str]) -> Value {
    let path = scratch.path("p.json");
    let mut command = Command::new(hotset());
    command.args([words[0], "--json", text(&path), "-q"]).args(&words[1..]);
    let output = command.output().expect("hotset");
    assert!(path.exists(), "{words:?}: {}", stderr(&output));
    let profile = read_json(&path);
    std::fs::remove_file(&path).expect("remove");
    profile
}

const SCRIPT: &str = "cat /etc/passwd /no/such/file; dd if=/dev/zero of=out bs=4k count=9; exit 3";

#[test]
fn what_run_writes_is_valid() {
    let scratch = Scratch::new("schema-run");
    let script = format!("cd {}; {SCRIPT}", text(scratch.dir()));
    for options in [&[][..], &["--no-bpf"], &["--max-rows", "16"]] {
        let words = [&["run"], options, &["--", "sh", "-c", &script]].concat();
        assert_eq!(violations(SCHEMA, &profile_with(&scratch, &words)), [""; 0], "{options:?}");
    }
    let killed = profile_with(&scratch, &["run", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(violations(SCHEMA, &killed), [""; 0]);
}

#[test]
fn what_attach_writes_is_valid() {
    let scratch = Scratch::new("schema-attach");
    let own = std::process::id().to_string();
    for target in [&["--system"][..], &["--pid", &own]] {
        let words = [&["attach", "--duration", "200ms"], target].concat();
        assert_eq!(violations(SCHEMA, &profile_with(&scratch, &words)), [""; 0], "{target:?}");
    }
}

/// The schema must be able to refuse.
#[test]
fn a_profile_that_lost_a_key_or_gained_one_is_not_valid() {
    let scratch = Scratch::new("schema-strict");
    let profile = profile_with(&scratch, &["run", "--", "true"]);
    let mut without = profile.clone();
    without["totals"]["read"].as_object_mut().expect("an object").remove("misses");
    assert_ne!(violations(SCHEMA, &without), [""; 0]);
    let mut beyond = profile.clone();
    beyond["totals"]["read"]["guessed"] = json!(1);
    assert_ne!(violations(SCHEMA, &beyond), [""; 0]);
    let mut words = profile;
    words["totals"]["read"]["misses"] = json!("12");
    assert_ne!(violations(SCHEMA, &words), [""; 0]);
}

#[test]
fn what_warm_and_evict_write_is_valid_and_strict() {
    let scratch = Scratch::new("schema-control");
    let file = scratch.path("dirty");
    let runs = [
        &["warm", "--budget", "0"][..],
        &["warm"],
        &["warm", "/no/such"],
        &["evict"],
        &["evict", "--sync"],
    ];
    for words in runs {
        std::fs::write(&file, [7; 9000]).expect("write");
        let output = Command::new(hotset()).args(words).args(["--json", text(&file)]).output();
        let output = output.expect("hotset");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(report["files"][0]["pages"], 3, "{words:?}");
        assert_eq!(violations(CONTROL_SCHEMA, &report), [""; 0], "{words:?}");
        let mut without = report.clone();
        without["totals"].as_object_mut().expect("an object").remove("cached_after");
        assert_ne!(violations(CONTROL_SCHEMA, &without), [""; 0], "{words:?}");
        let mut beyond = report.clone();
        beyond["files"][0]["guessed"] = json!(1);
        assert_ne!(violations(CONTROL_SCHEMA, &beyond), [""; 0], "{words:?}");
    }
}
