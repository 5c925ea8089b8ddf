//! `hotset size --verify`: the command runs under limits, as often as was said, and what is told of each run is so.

use std::process::Command;

use hotset_tests::scratch::text;
use hotset_tests::{MIB, Scratch, code, hotset, stderr};
use serde_json::Value;

/// Reads pages of a file, few of them often, and notes that it ran.
const PROGRAM: &str = "
import os, random, sys
with open(sys.argv[2], 'a') as log: log.write('run\\n')
file = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
pages = os.fstat(file).st_size // 4096
random.seed(7)
for _ in range(40000): os.pread(file, 4096, int(pages * random.random() ** 3) * 7919 % pages * 4096)
";

fn verify(words: &[&str], command: &[&str]) -> std::process::Output {
    let mut hotset = Command::new(hotset());
    hotset.args(["size", "--verify"]).args(words).arg("--").args(command).output().expect("hotset")
}

#[test]
fn each_limit_is_run_once_and_the_device_reads_what_was_predicted() {
    let scratch = Scratch::new("size-verify");
    scratch.file("data", 48 * MIB);
    let (data, log) = (scratch.path("data"), scratch.path("log"));
    let trace = scratch.path("kept.parquet");
    let prepared = format!("echo x >> {}", text(&scratch.path("prepared")));
    let words = ["--limit", "60M", "--limit", "40M", "--json", "-", "--prepare", &prepared, "-o"];
    let words: Vec<&str> = words.into_iter().chain([text(&trace)]).collect();
    let command = ["/usr/bin/python3", "-S", "-c", PROGRAM, text(&data), text(&log)];
    let output = verify(&words, &command);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let said = stderr(&output);
    assert!(said.contains("once under each of 2 memory limits"), "{said}");
    let lines = |path| std::fs::read_to_string(path).expect("a log").lines().count();
    // Its data was just written, so that it was cached when the first recording began.
    assert_eq!((lines(log), lines(scratch.path("prepared"))), (4, 4), "{said}");
    assert!(trace.exists(), "{said}");
    let verified = told["verified"].as_array().expect("runs");
    let limits: Vec<u64> =
        verified.iter().filter_map(|one| one["run"]["limit_bytes"].as_u64()).collect();
    assert_eq!(limits, [60 * MIB, 40 * MIB]);
    for one in verified {
        let run = &one["run"];
        assert_eq!(
            (&run["exit_code"], &run["killed"], &run["lost"]),
            (&0.into(), &0.into(), &0.into())
        );
        let peak = run["peak_bytes"].as_u64();
        assert!(
            peak.is_none_or(|peak| peak <= run["limit_bytes"].as_u64().unwrap_or(0)),
            "{run:#}"
        );
        let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{one:#}"));
        let predicted =
            number(&one["predicted"]["misses"]) + number(&one["predicted"]["beside_pages"]);
        let read = number(&run["totals"]["device"]["read_bytes"]) / 4096;
        let ratio = |predicted: u64| predicted as f64 / read as f64;
        // What else evicts pages makes the device read more.
        let least = if told["environment"]["evicts_idle_cache"] == true { 0.7 } else { 0.85 };
        // Pages that another program has mapped, such as the interpreter's, stay cached, and the run does not read them.
        let unread = predicted.saturating_sub(number(&run["stuck_pages"]));
        assert!(ratio(predicted) >= least, "{predicted} of {read}: {one:#}");
        assert!(ratio(unread) < 1.15, "{unread} of {read}: {one:#}");
    }
}

#[test]
fn a_run_that_has_too_little_memory_is_named() {
    // It holds 40 MiB only under a limit: the recording does not know.
    let script = "if grep -q hotset-limited /proc/self/cgroup; then
        x=$(head -c 40000000 /dev/zero | tr '\\0' x); fi; cat /etc/passwd > /dev/null; sleep 0.3; exit 3";
    let words = ["--limit", "16M", "--json", "-"];
    let output = verify(&words, &["/bin/sh", "-c", script]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(told["verified"][0]["run"]["killed"].as_u64() > Some(0), "{told:#}");
    assert!(stderr(&output).contains("was killed"), "{}", stderr(&output));
}

#[test]
fn what_can_t_be_verified_is_refused() {
    for (words, command, wanted, why) in [
        (&["--limit", "64K"][..], &["/bin/sleep", "0.3"][..], 2, "would be killed"),
        (&[], &["/no/such/program"], 127, "/no/such/program"),
        (&["--prepare", "exit 4"], &["/bin/true"], 1, "--prepare exit 4: failed"),
        (&["app.parquet"], &["/bin/true"], 2, "cannot be used with"),
        (&[], &[], 2, "CMD"),
    ] {
        let output = verify(words, command);
        assert_eq!(code(&output), wanted, "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    }
    let output = Command::new(hotset()).args(["size", "--verify", "x.parquet"]).output();
    let output = output.expect("hotset");
    assert_eq!(code(&output), 2, "{}", stderr(&output));
}
