//! `hotset bench` as a user meets it: what is printed and written, exit codes, and what goes wrong.

use std::fs;
use std::os::unix::fs::chown;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use hotset_tests::bench::{
    bench_says, member, numbers, result_of, session, session_ending, valid_numbers,
};
use hotset_tests::listing::said;
use hotset_tests::scratch::text;
use hotset_tests::{
    Evictions, MIB, NOBODY, Scratch, as_nobody, hotset, is_same, read_json, stderr, stdout, until,
    until_ok, warm_verified, with_default_signals,
};
use hotset_validate::violations;
use serde_json::Value;

const SCHEMA: &str = include_str!("../../schema/bench-1.schema.json");

fn assert_valid(what: &str, session: &Value) {
    assert_eq!(violations(SCHEMA, session), [""; 0], "{what}");
}

#[test]
fn show_files_names_what_is_read_and_nothing_else() {
    let scratch = Scratch::new("bench-files");
    let (read, mapped) = (scratch.file("read", MIB), scratch.file("other", MIB));
    let (opened, written) = (scratch.file("opened", 100), scratch.path("written"));
    let line = format!(
        "cat {} {} > {}; : < {}",
        text(&read),
        text(&mapped),
        text(&written),
        text(&opened)
    );
    for how in [&[][..], &["--no-bpf"]] {
        let output = bench_says(&[how, &["--show-files", "--", "sh", "-c", &line]].concat());
        assert!(output.status.success(), "{}", said(&output));
        let shown = stdout(&output);
        let scratches: Vec<&str> = shown
            .lines()
            .filter_map(|line| line.split_once(text(scratch.dir())))
            .filter_map(|(_, name)| name.split_whitespace().next())
            .filter(|name| name.len() > 1 && !shown.starts_with(name))
            .collect();
        let named = |name: &str| scratches.iter().any(|shown| *shown == format!("/{name}"));
        assert!(named("read") && named("other") && !named("written"), "{shown}");
        // A tracer sees that a file was opened, and not whether it was read.
        assert_eq!(named("opened"), !how.is_empty(), "{shown}");
        assert!(shown.contains("bin/cat\n") || shown.contains("bin/cat "), "{shown}");
        assert!(!written.with_extension("json").exists());
    }
}

#[test]
fn every_export_is_written_and_the_json_is_hyperfines() {
    let scratch = Scratch::new("bench-exports");
    let file = scratch.file("data", MIB);
    let (csv, markdown) = (scratch.path("out.csv"), scratch.path("out.md"));
    let words = [
        "-r",
        "6",
        "--vs",
        "wc {x} DATA",
        "-L",
        "x",
        "-c,-l",
        "--export-csv",
        text(&csv),
        "--export-markdown",
        text(&markdown),
        "-n",
        "first {x}",
        "--",
        "cat",
        text(&file),
    ];
    let words: Vec<String> = words.iter().map(|word| word.replace("DATA", text(&file))).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (session, output) = session_ending(&scratch, 0, &words);
    assert_valid("session", &session);
    // Four commands in two states, and the first one twice in each.
    let results = session["results"].as_array().expect("results");
    assert_eq!(results.len(), 10);
    for result in results {
        // What hyperfine's own scripts read.
        let length = |key: &str| result[key].as_array().expect(key).len();
        let (counted, excluded) = (length("times"), length("times_excluded"));
        assert!(counted + excluded >= 6);
        let times = numbers(result, "times");
        let mean = times.iter().sum::<f64>() / counted as f64;
        assert!(result["mean"].as_f64().is_none_or(|said| (said - mean).abs() < 1e-9), "{result}");
        for key in ["mean", "stddev", "median", "min", "max", "user", "system"] {
            assert!(result[key].is_f64(), "{key}: {result}");
        }
        assert_eq!(["exit_codes", "memory_usage_byte"].map(length), [counted; 2], "{result}");
        assert_eq!(["valid", "reasons"].map(length), [counted + excluded; 2], "{result}");
        assert!(result["parameters"]["x"].is_string() && result["command"].is_string());
    }
    assert_eq!(results[0]["name"], "first -c");
    assert!(session["comparisons"].as_array().is_some_and(|all| all.len() >= 4));
    assert_eq!(fs::read_to_string(&csv).expect("CSV").lines().count(), 11);
    assert_eq!(fs::read_to_string(&markdown).expect("Markdown").lines().count(), 12);
    let said_of_both = ["faster than", "B/A"].map(|words| stdout(&output).contains(words));
    assert!(said_of_both.contains(&true), "{}", said(&output));
    assert!(stdout(&output).lines().all(|line| line.chars().count() <= 100), "{}", stdout(&output));
}

#[test]
fn json_takes_standard_output_and_the_summary_goes_beside_it() {
    let output = bench_says(&["-r", "3", "--json", "--", "true"]);
    let session: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_valid("three runs", &session);
    assert!(stderr(&output).contains("3 rounds in random order"), "{}", said(&output));
    // With a lock of its own: it would say that it waits for another test's bench.
    let scratch = Scratch::new("bench-quiet");
    let mut command = Command::new(hotset());
    command.args(["bench", "-r", "3", "-q", "--", "true"]).env("XDG_RUNTIME_DIR", scratch.dir());
    let output = command.output().expect("hotset");
    assert_eq!((output.stdout.len(), stderr(&output).as_str()), (0, ""), "{}", said(&output));
}

#[test]
fn a_failing_command_ends_the_session_with_its_code_and_its_last_words() {
    let output = bench_says(&["--", "sh", "-c", "echo no such luck >&2; exit 3"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(stderr(&output).contains("exited with 3") && stderr(&output).contains("no such luck"));
    let scratch = Scratch::new("bench-failing");
    let count = scratch.path("count");
    // Well in both learning runs, and four times after them.
    let line = format!(
        "echo >> {0}; [ $(wc -l < {0}) -lt 7 ] || {{ echo full >&2; exit 9; }}",
        text(&count)
    );
    let (session, output) = session_ending(&scratch, 9, &["--", "sh", "-c", &line]);
    assert_valid("failed", &session);
    assert_eq!(session["stop"]["reason"], "failed");
    assert_eq!(session["stop"]["exit_code"], 9);
    assert!(stdout(&output).contains("exited with 9") && stdout(&output).contains("  full"));
    let (session, _) = session_ending(&scratch, 0, &["-i", "-r", "3", "--", "false"]);
    let runs = session["runs"].as_array().expect("runs").iter();
    let codes: Vec<f64> = runs.map(|run| run["exit_code"].as_f64().expect("a code")).collect();
    assert!(codes.iter().all(|&code| code == 1.0), "{codes:?}");
    let killed = bench_says(&["--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(killed.status.code(), Some(137), "{}", said(&killed));
}

#[test]
fn a_run_that_fails_is_told_and_not_counted() {
    let scratch = Scratch::new("bench-fails-later");
    let (log, json) = (scratch.path("log"), scratch.path("out.json"));
    // Two learning runs and a round of two, and then it fails.
    let line = format!("echo 1 >> {0}; test $(grep -c 1 {0}) -lt 6", text(&log));
    let words = ["-q", "--state", "as-is", "-r", "4", "--export-json", text(&json), "--"];
    let output = bench_says(&[&words[..], &["sh", "-c", &line]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(stderr(&output).contains("exited with 1"), "{}", said(&output));
    let session = read_json(&json);
    assert_valid("failed", &session);
    let failed = session["runs"].as_array().expect("runs").last().expect("a run").clone();
    assert_eq!(failed["exit_code"], 1);
    let result = &session["results"][failed["condition"].as_u64().expect("a place") as usize];
    let last = |key: &str| result[key].as_array().and_then(|list| list.last()).expect(key);
    let says_so = last("reasons").as_array().is_some_and(|all| all.contains(&"failed".into()));
    assert!(says_so && last("valid") == &Value::Bool(false), "{result}");
    assert_eq!(result["valid"].as_array().map(Vec::len), Some(2), "{result}");
    assert!(numbers(result, "exit_codes").iter().all(|&code| code == 0.0), "{result}");
}

#[test]
fn as_is_changes_nothing_and_fewer_rounds_than_an_interval_needs_are_possible() {
    let scratch = Scratch::new("bench-as-is");
    let file = scratch.file("data", MIB);
    let json = scratch.path("out.json");
    let log = scratch.path("log");
    let line = format!("cat {} > /dev/null; echo >> {}", text(&file), text(&log));
    let words = ["--state", "as-is", "-M", "3", "--no-noise-floor", "--export-json", text(&json)];
    until_ok("nobody else evicts the file", || {
        warm_verified(&file);
        let evictions = Evictions::of(&[&file]);
        let _ = fs::remove_file(&log);
        let output = bench_says(&[&words[..], &["--", "sh", "-c", &line]].concat());
        assert!(output.status.success(), "{}", said(&output));
        let result = result_of(&read_json(&json), "as-is");
        assert!(numbers(&result, "times").len() <= 3, "{result}");
        is_same(valid_numbers(&result, "device_bytes").len() >= 3, true, &result)?;
        // What hotset itself evicts is another process's doing, too: then no attempt is answered.
        is_same(evictions.none(), true, &"evictions by another process")
    });
}

#[test]
fn what_can_not_be_done_is_refused_before_anything_runs() {
    let scratch = Scratch::new("bench-refused");
    let mark = scratch.path("mark");
    let touch = ["touch", text(&mark)];
    for (code, words, why) in [
        (127, &["no-such-command"][..], "not found"),
        (127, &["ls -l x", "wc"], "--vs"),
        (126, &["/etc/passwd"], "executable"),
        (2, &["--vs", "it's", "--", touch[0], touch[1]], "quote"),
        (2, &["-L", "x", "1,2", "--", touch[0], touch[1]], "{x}"),
        (2, &["-m", "5", "-M", "3", "--", touch[0], touch[1]], "--min-runs 5 is more than"),
        (125, &["--input", "/no/such", "--", touch[0], touch[1]], "--input /no/such: No such file"),
        (2, &["--state", "hot", "--", touch[0], touch[1]], "cold-all"),
        (2, &["--json", "--export-csv", "-", "--", touch[0], touch[1]], "standard output"),
        (125, &["--export-json", "/no/such/x", "--", touch[0], touch[1]], "/no/such"),
        (125, &["--setup", "exit 4", "--", touch[0], touch[1]], "--setup"),
        (125, &["--files", "/no/such", "--", touch[0], touch[1]], "--files /no/such: No such file"),
    ] {
        let output = bench_says(words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", said(&output));
        assert!(stderr(&output).contains(why), "{words:?}: {}", said(&output));
        assert!(!mark.exists(), "{words:?}");
    }
}

#[test]
fn files_that_are_made_before_each_run_need_not_be_there() {
    let scratch = Scratch::new("bench-prepared");
    let file = scratch.path("made");
    let prepare = format!("touch {}", text(&file));
    let words = ["-r", "1", "--files", text(&file), "--prepare", &prepare, "--", "true"];
    let output = bench_says(&words);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

#[test]
fn an_export_that_is_not_written_costs_the_exit_code_and_not_the_summary() {
    let output = bench_says(&["-r", "3", "--export-json", "/dev/full", "--", "true"]);
    assert_eq!(output.status.code(), Some(125), "{}", said(&output));
    assert!(stderr(&output).contains("an export was not written: /dev/full"), "{}", said(&output));
    assert!(stdout(&output).contains("Medians"), "{}", said(&output));
}

#[test]
fn a_summary_that_is_not_written_is_a_failure_that_is_said() {
    let bench = ["bench", "-r", "3", "--", "true"];
    let files = ["bench", "--show-files", "--", "true"];
    let lab = ["lab", "reread", "--quick", "--rounds", "1", "--sizes", "5000", "--count", "2"];
    for (words, code) in [(&bench[..], 125), (&files, 125), (&lab, 1)] {
        let full = fs::File::options().write(true).open("/dev/full").expect("/dev/full");
        let output = Command::new(hotset()).args(words).stdout(full).output().expect("hotset");
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", said(&output));
        let why = "the summary was not written: standard output: No space left";
        assert!(stderr(&output).contains(why), "{words:?}: {}", said(&output));
    }
}

#[test]
fn a_reader_that_went_away_had_what_it_wanted() {
    for words in [&["--"][..], &["--json", "--"]] {
        let mut command = Command::new(hotset());
        command.args(["bench", "-r", "3"]).args(words).arg("true");
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hotset");
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().expect("hotset").code(), Some(0), "{words:?}");
    }
}

#[test]
fn what_goes_away_after_it_was_found_ends_bench_as_env_would() {
    let scratch = Scratch::new("bench-gone");
    let data = scratch.file("data", MIB);
    for how in [&[][..], &["--no-bpf"], &["--files", text(&data)]] {
        let gone = scratch.script("gone", "#!/bin/sh\n");
        let remove = format!("rm {}", text(&gone));
        let output = bench_says(&[how, &["-s", &remove, "--", text(&gone)]].concat());
        assert_eq!(output.status.code(), Some(127), "{how:?}: {}", said(&output));
        let why = format!("can't run {}: No such file", text(&gone));
        assert!(stderr(&output).contains(&why), "{how:?}: {}", said(&output));
        let input = scratch.file("input", 1);
        let remove = format!("rm {}", text(&input));
        let words = ["-s", &remove, "--input", text(&input), "--", "cat"];
        let output = bench_says(&[how, &words].concat());
        assert_eq!(output.status.code(), Some(125), "{how:?}: {}", said(&output));
        let why = format!("can't run cat: {}: No such file", text(&input));
        assert!(stderr(&output).contains(&why), "{how:?}: {}", said(&output));
    }
}

/// Silence would look like a hang, and so it is said under `-q` too.
#[test]
fn whoever_waits_for_another_session_says_so() {
    let scratch = Scratch::new("bench-waits");
    let lock = scratch.path("hotset-bench.lock");
    fs::write(&lock, "77\n").expect("lock");
    let held = fs::File::open(&lock).expect("lock");
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).expect("flock");
    for words in [&["bench", "-q", "--", "true"][..], &["lab", "-q", "reread", "--quick"]] {
        let errors = scratch.path("stderr");
        let mut command = Command::new(hotset());
        command.args(words).env("XDG_RUNTIME_DIR", scratch.dir());
        command.stderr(fs::File::create(&errors).expect("file"));
        let mut child = with_default_signals(&mut command).spawn().expect("hotset");
        let said = || fs::read_to_string(&errors).expect("errors");
        for _ in 0..600 {
            if !said().is_empty() {
                break;
            }
            sleep(Duration::from_millis(50));
        }
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("kill");
        assert_eq!(child.wait().expect("hotset").code(), Some(130), "{words:?}: {}", said());
        let why = "waiting for another measurement of this user to end (process 77)";
        assert!(said().contains(why), "{words:?}: {}", said());
    }
}

#[test]
fn what_surrounds_a_command_runs_when_it_should() {
    let scratch = Scratch::new("bench-around");
    let log = scratch.path("log");
    let note = |word: &str| format!("echo {word} >> {}", text(&log));
    let [setup, prepare, conclude, cleanup, run] =
        ["setup", "prepare", "conclude", "cleanup", "run"].map(note);
    let words = [
        "-r",
        "3",
        "--state",
        "as-is",
        "--no-noise-floor",
        "-s",
        &setup,
        "-p",
        &prepare,
        "-C",
        &conclude,
        "-c",
        &cleanup,
        "-S",
        "sh",
        &run,
    ];
    session(&scratch, &words);
    let log = fs::read_to_string(&log).expect("log");
    let runs = log.matches("prepare\nrun\nconclude\n").count();
    // Twice to learn, and three rounds, some perhaps repeated.
    assert!(runs >= 5, "{log}");
    assert_eq!(log, format!("setup\n{}cleanup\n", "prepare\nrun\nconclude\n".repeat(runs)));
}

#[test]
fn a_stranger_benches_own_files_by_tracing() {
    let scratch = Scratch::new("bench-stranger");
    let file = scratch.file("data", 8 * MIB);
    chown(&file, Some(NOBODY), Some(NOBODY)).expect("chown");
    let output = as_nobody(scratch.dir())
        .args(["bench", "-r", "6", "--json", "--", "cat", text(&file)])
        .env("XDG_RUNTIME_DIR", "/nonexistent")
        .output()
        .expect("unshare");
    assert!(output.status.success(), "{}", said(&output));
    assert!(stderr(&output).contains("by tracing"), "{}", said(&output));
    let session: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_valid("unprivileged", &session);
    assert_eq!(member(&session, &file)["read"], true);
    let (cold, warm) = (&result_of(&session, "cold"), &result_of(&session, "warm"));
    assert!(
        valid_numbers(cold, "device_bytes").iter().all(|&read| read >= (8 * MIB) as f64),
        "{cold}"
    );
    assert!(valid_numbers(warm, "device_bytes").iter().all(|&read| read == 0.0), "{warm}");
}

#[test]
fn an_interrupt_keeps_the_results_so_far() {
    let scratch = Scratch::new("bench-interrupt");
    let (log, json) = (scratch.path("log"), scratch.path("out.json"));
    let line = format!("echo >> {}; sleep 0.02", text(&log));
    let mut command = Command::new(hotset());
    command.args(["bench", "-r", "100000", "--export-json", text(&json), "--", "sh", "-c", &line]);
    // A lock of its own: another bench of this user may take minutes.
    let child = with_default_signals(&mut command)
        .env("XDG_RUNTIME_DIR", scratch.dir())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("hotset");
    for _ in 0..600 {
        if fs::read_to_string(&log).is_ok_and(|log| log.lines().count() > 12) {
            break;
        }
        sleep(Duration::from_millis(50));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("kill");
    let output = child.wait_with_output().expect("hotset");
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert!(stdout(&output).contains("interrupted"), "{}", said(&output));
    let session = until("the export is there", || json.exists().then(|| read_json(&json)));
    assert_valid("interrupted", &session);
    assert_eq!(session["stop"]["reason"], "interrupted");
    assert!(numbers(&result_of(&session, "cold"), "device_bytes").len() >= 2);
}
