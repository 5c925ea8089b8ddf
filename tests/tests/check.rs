//! `hotset check` as a user has it: a budget made, held, broken by each kind of change, and made right again; and what can't be meant.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hotset_tests::held::Mapped;
use hotset_tests::scratch::text;
use hotset_tests::{Scratch, code, hotset, stderr, stdout};
use serde_json::Value;

/// hotset in a directory, with what it is told.
fn in_directory(directory: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(hotset());
    command.args(words).current_dir(directory).env_remove("GITHUB_STEP_SUMMARY");
    command.output().expect("hotset")
}

fn check(scratch: &Scratch, words: &[&str]) -> Output {
    in_directory(&scratch.path(""), &[&["check"], words].concat())
}

/// A budget file in the scratch directory.
fn budget(scratch: &Scratch, text: &str) -> PathBuf {
    let file = scratch.path("hotset.toml");
    fs::write(&file, text).expect("a budget");
    file
}

/// A script that `hotset.toml` can name, and its reference run.
fn script(scratch: &Scratch, lines: &str) {
    fs::write(scratch.path("work.sh"), lines).expect("a script");
}

fn checked(scratch: &Scratch, wanted: i32) -> Value {
    let output = check(scratch, &["-q", "--json", "-"]);
    assert_eq!(code(&output), wanted, "{}{}", stdout(&output), stderr(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The numbers of the first check's last run that were not held.
fn broken(report: &Value) -> Vec<String> {
    let attempts = report["checks"][0]["attempts"].as_array().expect("attempts");
    let limits = attempts.last().expect("a run")["limits"].as_array().expect("limits");
    let failing = limits.iter().filter(|limit| limit["verdict"] == "broken");
    failing.map(|limit| limit["number"].as_str().expect("a name").to_owned()).collect()
}

const WORK: &str = "cat data >/dev/null; cat other >/dev/null\n";

/// A script that reads two files, and a budget that was made of it.
fn made(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    fs::write(scratch.path("data"), vec![7; 300_000]).expect("a file");
    fs::write(scratch.path("other"), vec![7; 5_000]).expect("a file");
    script(&scratch, WORK);
    let words = [
        "--init",
        "--runs",
        "3",
        "--baseline",
        ".hotset/work.json",
        "--name",
        "work",
        "--",
        "sh",
        "work.sh",
    ];
    let output = check(&scratch, &words);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    budget(&scratch, &stdout(&output));
    scratch
}

#[test]
fn a_budget_is_held_and_each_kind_of_change_breaks_it() {
    let scratch = made("check-changes");
    let text = fs::read_to_string(scratch.path("hotset.toml")).expect("the budget");
    assert!(text.contains("read.bytes     = \"at most "), "{text}");
    assert!(text.contains("# from_device: no limit"), "{text}");
    for _ in 0..3 {
        assert_eq!(broken(&checked(&scratch, 0)), [""; 0]);
    }
    fs::write(scratch.path("third"), "x").expect("a file");
    for (more, wanted) in [
        // The shell looks a program up, which reads and opens more than the file.
        ("read line < third", &["files.opened", "read.bytes", "read.calls"][..]),
        ("test -e missing || true", &["lookups.calls", "lookups.failed"]),
        ("sync -d data", &["processes", "sync.calls"]),
        ("echo x > written", &["write.bytes", "write.calls"]),
    ] {
        script(&scratch, &format!("{WORK}{more}\n"));
        let found = broken(&checked(&scratch, 1));
        for number in wanted {
            assert!(found.iter().any(|found| found == number), "{more}: no {number} in {found:?}");
        }
        script(&scratch, WORK);
        assert_eq!(broken(&checked(&scratch, 0)), [""; 0], "after {more}");
    }
}

#[test]
fn a_failure_names_what_came_and_an_update_accepts_it() {
    let scratch = made("check-update");
    fs::write(scratch.path("third"), "x\n").expect("a file");
    script(&scratch, &format!("{WORK}read line < third\n"));
    let output = check(&scratch, &[]);
    let told = stdout(&output);
    assert_eq!(code(&output), 1, "{told}");
    assert!(told.contains("third (not in the baseline)"), "{told}");
    let before = fs::read_to_string(scratch.path("hotset.toml")).expect("the budget");
    let output = check(&scratch, &["-q", "--update"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let after = fs::read_to_string(scratch.path("hotset.toml")).expect("the budget");
    let changed = before.lines().zip(after.lines()).filter(|(old, new)| old != new);
    let lines: Vec<String> = changed.map(|(old, new)| format!("-{old}\n+{new}\n")).collect();
    assert!(lines.len() >= 3, "{lines:?}");
    assert_eq!(stdout(&output), lines.concat());
    assert_eq!(broken(&checked(&scratch, 0)), [""; 0]);
    let again = check(&scratch, &["-q", "--update"]);
    assert_eq!((code(&again), stdout(&again)), (0, String::new()), "{}", stderr(&again));
}

#[test]
fn one_sensor_counts_each_command_by_itself() {
    let scratch = Scratch::new("check-each");
    for name in ["a", "b"] {
        fs::write(scratch.path(name), vec![1; 70_000]).expect("a file");
    }
    let one = |name: &str, file: &str| {
        format!(
            "[[check]]\nname = \"{name}\"\ncommand = \"cat {file}\"\nlimits.read.bytes = 0\n\
             [[check.file]]\npattern = \"{file}\"\nlimits.read.bytes = \"exactly 70000 B\"\n\
             [[check.process]]\nname = \"cat\"\nlimits.read.calls = \"at least 1\"\n"
        )
    };
    budget(&scratch, &[one("1", "a"), one("2", "b"), one("3", "a"), one("4", "b")].concat());
    let report = checked(&scratch, 1);
    let totals: Vec<u64> = report["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .map(|check| {
            let limits = &check["attempts"][0]["limits"];
            assert_eq!(limits[1]["verdict"], "held", "{check}");
            assert_eq!(limits[2]["verdict"], "held", "{check}");
            limits[0]["value"].as_u64().expect("bytes")
        })
        .collect();
    assert!(totals[0] >= 70_000 && totals.iter().all(|&total| total == totals[0]), "{totals:?}");
    // What another command says of the same.
    let output =
        in_directory(&scratch.path(""), &["run", "-q", "--json", "p.json", "--", "cat", "a"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let profile = fs::read(scratch.path("p.json")).expect("a profile");
    let profile: Value = serde_json::from_slice(&profile).expect("JSON");
    assert_eq!(profile["totals"]["read"]["bytes"].as_u64(), Some(totals[0]));
}

#[test]
fn what_is_left_running_is_not_the_next_commands() {
    let scratch = Scratch::new("check-left");
    fs::write(scratch.path("data"), vec![1; 4096]).expect("a file");
    let left = "(while :; do cat data; sleep 0.01; done) >/dev/null 2>&1 & echo $! > pid";
    budget(
        &scratch,
        &format!(
            "[[check]]\nname = \"leaves\"\ncommand = [\"sh\", \"-c\", \"{left}\"]\n\
             [[check]]\nname = \"reads nothing of it\"\ncommand = \"sleep 0.5\"\n\
             [[check.file]]\npattern = \"data\"\nlimits.read.calls = 0\n"
        ),
    );
    let report = checked(&scratch, 0);
    let pid = fs::read_to_string(scratch.path("pid")).expect("a PID");
    let killed = Command::new("kill").arg(pid.trim()).status().expect("kill");
    assert!(killed.success(), "it ran all the time");
    assert_eq!(report["checks"][1]["attempts"][0]["limits"][0]["value"], 0);
}

#[test]
fn states_are_set_before_each_run() {
    let scratch = Scratch::new("check-states");
    fs::write(scratch.path("data"), vec![1; 1 << 20]).expect("a file");
    let flushed = fs::File::open(scratch.path("data")).and_then(|file| file.sync_all());
    flushed.expect("on the disk");
    let one = |state: &str, limit: &str| {
        format!(
            "[[check]]\nname = \"{state}\"\ncommand = \"cat data\"\nstate = \"{state}\"\nfiles = [\"data\"]\n\
             [[check.file]]\npattern = \"data\"\nlimits.from_device = \"{limit}\"\n"
        )
    };
    let cold = one("cold", "exactly 1 MiB");
    budget(&scratch, &[cold, one("warm", "exactly 0")].concat());
    let report = checked(&scratch, 0);
    assert_eq!(report["checks"][0]["attempts"][0]["reached"]["cached_pages"], 0, "{report}");
    assert_eq!(report["checks"][1]["attempts"][0]["reached"]["cached_pages"], 256, "{report}");
}

/// What is read of a file whose pages another program has mapped depends on that program.
#[test]
fn a_cold_budget_leaves_out_files_that_others_have_cached() {
    let scratch = Scratch::new("check-shared");
    for name in ["own", "shared [1]"] {
        let file = scratch.file(name, 1 << 20);
        fs::File::open(file).and_then(|file| file.sync_all()).expect("on the disk");
    }
    let mapped = Mapped::whole(&scratch.path("shared [1]"));
    let words = ["--init", "--runs", "3", "--state", "cold", "--", "cat", "own", "shared [1]"];
    let made = check(&scratch, &words);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let text = stdout(&made);
    assert!(text.contains("shared [[]1[]]\","), "{text}");
    budget(&scratch, &text);
    drop(mapped);
    assert_eq!(broken(&checked(&scratch, 0)), [""; 0], "{text}");
    // More than all that a run of cat reads besides, of which others may have a part cached by now.
    let more = scratch.file("more", 1 << 20);
    fs::File::open(&more).and_then(|file| file.sync_all()).expect("on the disk");
    budget(&scratch, &text.replace("\"own\"", "\"own\", \"more\""));
    let report = checked(&scratch, 1);
    assert!(broken(&report).contains(&"from_device".to_owned()), "{text}");
}

#[test]
fn commands_that_fail_or_never_end_are_failures_of_their_own() {
    let scratch = Scratch::new("check-fails");
    budget(
        &scratch,
        "[[check]]\nname = \"fails\"\ncommand = [\"sh\", \"-c\", \"echo sorry >&2; exit 3\"]\n\
         [[check]]\nname = \"as it should\"\ncommand = [\"sh\", \"-c\", \"exit 3\"]\nexit-code = 3\n\
         [[check]]\nname = \"never ends\"\ncommand = [\"sh\", \"-c\", \"sleep 1000 & sleep 1000\"]\ntimeout = \"300ms\"\n\
         [[check]]\nname = \"is not there\"\ncommand = \"./nothing\"\n\
         [[check]]\nname = \"nowhere\"\ncommand = \"true\"\ndirectory = \"nowhere\"\n\
         [[check]]\nname = \"prepared\"\ncommand = \"cat made\"\nprepare = \"echo $WORD > made\"\nenv = { WORD = \"x\" }\n\
         [[check]]\nname = \"not prepared\"\ncommand = \"true\"\nprepare = \"exit 1\"\n",
    );
    let report = checked(&scratch, 1);
    let outcomes: Vec<&str> = report["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .map(|check| check["outcome"].as_str().expect("a word"))
        .collect();
    assert_eq!(
        outcomes,
        ["command_failed", "passed", "timed_out", "not_run", "not_run", "passed", "not_run"]
    );
    assert_eq!(report["checks"][0]["attempts"][0]["output_tail"], "sorry\n");
    let told = stdout(&check(&scratch, &[]));
    assert!(told.contains("sorry") && told.contains("7 checks: 2 passed, 5 failed"), "{told}");
    assert!(told.contains("nothing: "), "{told}");
}

#[test]
fn a_check_that_fails_is_run_again_and_each_run_is_told() {
    let scratch = Scratch::new("check-retries");
    let line = "test -e once && exit 0; : > once; cat hotset.toml";
    budget(
        &scratch,
        &format!(
            "[[check]]\nname = \"flaky\"\ncommand = [\"sh\", \"-c\", \"{line}\"]\n\
             [[check.file]]\npattern = \"hotset.toml\"\nlimits.read.calls = 0\n"
        ),
    );
    let output = check(
        &scratch,
        &["--retries", "2", "--tap", "t.tap", "--junit", "j.xml", "--json", "c.json"],
    );
    let told = stdout(&output);
    assert_eq!(code(&output), 0, "{told}");
    assert!(
        told.contains("held, but only in run 2") && told.contains("run 1: read.calls"),
        "{told}"
    );
    let tap = fs::read_to_string(scratch.path("t.tap")).expect("TAP");
    assert!(tap.starts_with("TAP version 14\n1..1\nok 1 - flaky\n# "), "{tap}");
    let read = "import sys, xml.etree.ElementTree as t; r = t.parse(sys.argv[1]).getroot(); \
                print(r.tag, r.get('tests'), r.get('failures'), r.find('testsuite/testcase').get('name'))";
    let parsed = Command::new("python3").args(["-c", read]).arg(scratch.path("j.xml")).output();
    assert_eq!(stdout(&parsed.expect("python3")), "testsuites 1 0 flaky\n");
    let json: Value =
        serde_json::from_slice(&fs::read(scratch.path("c.json")).expect("JSON")).expect("JSON");
    assert_eq!(json["checks"][0]["outcome"], "passed_on_retry");
}

#[test]
fn junit_fits_its_schema_and_other_programs_read_it() {
    let scratch = Scratch::new("check-junit");
    budget(
        &scratch,
        "[[check]]\nname = \"held & <sure>\"\ncommand = \"true\"\n\
         [[check]]\nname = \"broken\"\ncommand = \"cat hotset.toml\"\nlimits.files.opened = 0\n\
         [[check]]\nname = \"failed\"\ncommand = [\"sh\", \"-c\", 'printf \"\\033[1m<x>\\001\" >&2; exit 3']\n\
         [[check]]\nname = \"late\"\ncommand = \"sleep 100\"\ntimeout = \"100ms\"\n\
         [[check]]\nname = \"absent\"\ncommand = \"./absent\"\n",
    );
    assert_eq!(code(&check(&scratch, &["-q", "--junit", "j.xml"])), 1);
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/junit.xsd");
    let mut validator = Command::new("xmllint");
    validator.args(["--noout", "--schema", text(&schema), text(&scratch.path("j.xml"))]);
    let output = validator.output().expect("xmllint");
    assert!(output.status.success(), "{}", stderr(&output));
    let read = "import sys, junitparser\n\
                for suite in junitparser.JUnitXml.fromfile(sys.argv[1]):\n \
                for case in suite: print(case.name, *[type(result).__name__ for result in case.result])";
    let mut reader = Command::new("/usr/bin/python3");
    let output = reader.args(["-c", read, text(&scratch.path("j.xml"))]).output().expect("python3");
    let cases = "held & <sure>\nbroken Failure\nfailed Failure\nlate Failure\nabsent Error\n";
    assert_eq!(stdout(&output), cases, "{}", stderr(&output));
}

#[test]
fn without_the_sensor_what_only_it_counts_fails_unless_the_budget_allows_it() {
    let scratch = Scratch::new("check-without");
    budget(
        &scratch,
        "[[check]]\nname = \"a\"\ncommand = \"true\"\nlimits.device.read_bytes = \"at most 1 GiB\"\nlimits.sync.calls = \"at most 1, if measured\"\n",
    );
    let output = check(&scratch, &["--no-bpf", "-v"]);
    let told = stdout(&output);
    assert_eq!(code(&output), 0, "{told}");
    assert!(told.contains("without the sensor: --no-bpf was given"), "{told}");
    assert!(told.contains("sync.calls: not measured"), "{told}");
    budget(&scratch, "[[check]]\nname = \"a\"\ncommand = \"true\"\nlimits.sync.calls = 1\n");
    let output = check(&scratch, &["--no-bpf"]);
    assert_eq!(code(&output), 1);
    let words: Vec<String> = stdout(&output).split_whitespace().map(str::to_owned).collect();
    assert!(
        words.join(" ").contains("\", if measured\" in the limit would allow that"),
        "{words:?}"
    );
}

#[test]
fn github_reads_annotations_and_a_summary() {
    let scratch = Scratch::new("check-github");
    budget(&scratch, "[[check]]\nname = \"a\"\ncommand = \"true\"\nlimits.processes = 0\n");
    let summary = scratch.path("summary.md");
    fs::write(&summary, "before\n").expect("a file");
    let mut command = Command::new(hotset());
    command
        .args(["check", "--github"])
        .current_dir(scratch.path(""))
        .env("GITHUB_STEP_SUMMARY", &summary);
    let output = command.output().expect("hotset");
    assert_eq!(code(&output), 1);
    let told = stdout(&output);
    assert!(told.starts_with("::error file=hotset.toml,title=hotset check%3A a::"), "{told}");
    assert!(stderr(&output).contains("1 check: 0 passed, 1 failed"), "{}", stderr(&output));
    let summary = fs::read_to_string(&summary).expect("the summary");
    assert!(summary.starts_with("before\n### hotset check\n"), "{summary}");
}

#[test]
fn what_can_not_be_meant_is_refused_with_what_would_be_right() {
    let scratch = Scratch::new("check-refused");
    for (text, words) in [
        ("", "no check is in it"),
        ("[[check]]\nname = \"a\"\ncomand = \"true\"\n", "line 3: unknown field `comand`"),
        (
            "[[check]]\nname = \"a\"\ncommand = \"true\"\nlimits.read.call = 1\n",
            "did you mean \"read.calls\"?",
        ),
        (
            "[[check]]\nname = \"a\"\ncommand = \"true\"\nbaseline = \"b.json\"\n[check.limits]\nopens = \"at most 4 MiB\"\n",
            "expected a number without a unit",
        ),
        (
            "[[check]]\nname = \"a\"\ncommand = \"true\"\nbaseline = \"hotset.toml\"\n",
            "hotset.toml: ",
        ),
    ] {
        budget(&scratch, text);
        let output = check(&scratch, &[]);
        let said = stderr(&output);
        assert_eq!(code(&output), 2, "{text}: {said}");
        assert!(said.contains("hotset.toml: ") && said.contains(words), "{text}: {said}");
    }
    let file = budget(&scratch, "[[check]]\nname = \"a\"\ncommand = \"true\"\n");
    for (words, why) in [
        (&["b"][..], "there is no check \"b\"; expected a"),
        (&["--json", "hotset.toml"], "is read, and the result would replace it"),
        (&["--json", "-", "--tap", "-"], "more than one result goes to standard output"),
        (&["--file", "nothing.toml"], "nothing.toml: No such file"),
    ] {
        let output = check(&scratch, words);
        assert_eq!(code(&output), 2, "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    }
    assert_eq!(fs::read_to_string(&file).expect("the budget").lines().count(), 3);
    let output = check(&scratch, &["--json", "/nowhere/x.json"]);
    assert_eq!(code(&output), 125, "{}", stderr(&output));
    fs::remove_file(&file).expect("removed");
    let output = check(&scratch, &["--file", text(&file)]);
    assert_eq!(code(&output), 2);
    let output = check(&scratch, &["--init", "--", "sh", "-c", "exit 4"]);
    assert_eq!((code(&output), stdout(&output)), (1, String::new()), "{}", stderr(&output));
}
