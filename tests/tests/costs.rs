//! What operations cost on this host: measured once, and never while something stops hotset at each of its calls.

use std::fs;
use std::process::Command;

use hotset_tests::scratch::text;
use hotset_tests::{MIB, Scratch, code, hotset, read_json, stderr};
use serde_json::Value;

/// What the rule that asks for costs says of a run of 10,000 small reads.
fn small_reads(scratch: &Scratch, before: &[&str]) -> Value {
    let (data, json) = (scratch.path("data"), scratch.path("run.json"));
    let (input, binary) = (format!("if={}", text(&data)), hotset());
    let run = ["run", "-q", "--json", text(&json), "--", "dd", &input, "of=/dev/null", "bs=100"];
    let words: Vec<&str> =
        before.iter().copied().chain([text(binary.as_ref())]).chain(run).collect();
    let mut command = Command::new(words[0]);
    let output = command.args(&words[1..]).env("XDG_CACHE_HOME", scratch.path("cache")).output();
    let output = output.unwrap_or_else(|error| panic!("this test needs {}: {error}", words[0]));
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    // A rule that found something has no verdict.
    let verdicts = read_json(&json)["verdicts"].as_array().expect("verdicts").clone();
    verdicts.into_iter().find(|row| row["rule"] == "small-reads").unwrap_or_default()
}

#[test]
fn a_run_of_hotset_that_is_traced_leaves_no_costs_to_the_others() {
    let scratch = Scratch::new("costs");
    scratch.file("data", MIB);
    let kept = scratch.path("cache/hotset/costs.json");
    // Without -f: the command itself is as fast as ever.
    let strace = ["strace", "-qq", "-o", "/dev/null"];
    let traced = small_reads(&scratch, &strace);
    assert!(traced.to_string().contains("a tracer, such as strace"), "{traced:#}");
    assert!(!kept.exists());
    let free = small_reads(&scratch, &[]);
    assert!(!free.to_string().contains("tracer"), "{free:#}");
    let costs = read_json(&kept);
    let syscall_ns = costs["syscall_ns"].as_f64().expect("a number");
    assert!(syscall_ns < 5_000.0, "{costs:#}");
    // What was measured before is used.
    let text = fs::read_to_string(&kept).expect("costs");
    let known = small_reads(&scratch, &strace);
    assert!(!known.to_string().contains("tracer"), "{known:#}");
    assert_eq!(fs::read_to_string(&kept).expect("costs"), text);
}
