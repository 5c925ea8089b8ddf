//! `hotset check` without the sensor: what tracing counts is what the sensor counts, and what it can't count is said.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use hotset_tests::nobody::{NOBODY, as_nobody};
use hotset_tests::scratch::text;
use hotset_tests::{Scratch, code, hotset, is_same, stderr, stdout, until_ok};
use serde_json::Value;

/// What both count.
const COUNTED: [&str; 5] =
    ["lookups.calls", "lookups.failed", "files.opened", "opens", "processes"];

/// A check without a limit that can be broken, so that the JSON has what was counted.
fn unlimited(name: &str, command: &str) -> String {
    let limits = COUNTED.map(|number| format!("limits.{number} = \"at least 0\"\n"));
    format!("[[check]]\nname = '{name}'\ncommand = {command}\n{}", limits.concat())
}

fn budget(scratch: &Scratch, text: &str) {
    fs::write(scratch.path("hotset.toml"), text).expect("a budget");
}

/// `hotset check` of the scratch directory's budget, begun as these words say.
fn check_by(mut command: Command, scratch: &Scratch, words: &[&str]) -> Output {
    let file = scratch.path("hotset.toml");
    command.args(["check", "--file", text(&file)]).args(words);
    on_its_own(&mut command).output().expect("hotset")
}

/// Without what the one who runs the tests has: a directory for the lock that nobody may not use, and libraries that every program
/// looks for in the build first.
fn on_its_own(command: &mut Command) -> &mut Command {
    let variables = ["GITHUB_STEP_SUMMARY", "XDG_RUNTIME_DIR", "LD_LIBRARY_PATH"];
    variables.into_iter().fold(command, Command::env_remove)
}

fn check(scratch: &Scratch, words: &[&str]) -> Output {
    check_by(Command::new(hotset()), scratch, words)
}

fn report(output: &Output, wanted: i32) -> Value {
    assert_eq!(code(output), wanted, "{}{}", stdout(output), stderr(output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The numbers of every check.
fn counted(report: &Value) -> Vec<(String, Vec<Option<u64>>)> {
    let numbers = |check: &Value| {
        let limits = check["attempts"][0]["limits"].as_array().expect("limits");
        limits.iter().map(|limit| limit["value"].as_u64()).collect()
    };
    let checks = report["checks"].as_array().expect("checks").iter();
    checks
        .map(|check| (check["name"].as_str().expect("a name").to_owned(), numbers(check)))
        .collect()
}

/// A directory that belongs to nobody.
fn for_nobody(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    std::os::unix::fs::chown(scratch.path(""), Some(NOBODY), Some(NOBODY)).expect("chown");
    scratch
}

#[test]
fn tracing_and_the_sensor_count_the_same() {
    let scratch = Scratch::new("traced-agree");
    fs::write(
        scratch.path("a.c"),
        "#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n",
    )
    .expect("a file");
    let all = [
        ("ls", r#"["ls", "-l", "/usr/lib"]"#),
        ("python3", r#"["python3", "-c", "import json, asyncio"]"#),
        ("ruby", r#"["ruby", "-e", "require 'json'"]"#),
        ("cc", r#"["cc", "-c", "-o", "a.o", "a.c"]"#),
        ("tar", r#"["tar", "-cf", "/dev/null", "/usr/include/linux"]"#),
        (
            "pipeline",
            r#"["sh", "-c", "ls /etc | sort | head -3; cat /nowhere a.c | wc; nothing-like-this; true"]"#,
        ),
        ("script", r#"["sh", "-c", "printf '#!/bin/sh\\nexit 0\\n' > s; chmod +x s; ./s; rm s"]"#),
    ];
    budget(&scratch, &all.map(|(name, command)| unlimited(name, command)).concat());
    // The first runs leave compiled modules.
    check(&scratch, &["-q"]);
    let sensor = counted(&report(&check(&scratch, &["-q", "--json", "-"]), 0));
    let traced = counted(&report(&check(&scratch, &["-q", "--json", "-", "--no-bpf"]), 0));
    assert_eq!(sensor, traced);
    for (name, numbers) in &traced {
        assert!(numbers.iter().all(|number| number.is_some_and(|number| number > 0)), "{name}");
    }
}

#[test]
fn a_user_holds_a_budget_and_one_failed_lookup_more_breaks_it() {
    let scratch = for_nobody("traced-budget");
    let script = scratch.path("work.sh");
    let work = "cat data > out\ntest -e missing || true\n";
    fs::write(&script, work).expect("a script");
    fs::write(scratch.path("data"), "x").expect("a file");
    // Made by the first run, and written by whoever runs it.
    fs::write(scratch.path("out"), "").expect("a file");
    fs::set_permissions(scratch.path("out"), PermissionsExt::from_mode(0o666)).expect("chmod");
    let init = |directory: &Path| {
        let mut command = as_nobody(&scratch.path(""));
        let line = format!("cd {}; sh work.sh", directory.display());
        command.args(["check", "--init", "--runs", "3", "--", "sh", "-c", &line]);
        on_its_own(&mut command).output().expect("hotset")
    };
    let made = init(&scratch.path(""));
    let budget_text = stdout(&made);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    for words in [
        "# counted without the sensor (",
        "lookups.failed",
        "files.opened",
        "# device.write_bytes: no limit",
    ] {
        assert!(budget_text.contains(words), "no {words}: {budget_text}");
    }
    assert!(budget_text.contains("# read.calls: no limit: denied: "), "{budget_text}");
    budget(
        &scratch,
        &budget_text.replace("lookups.failed = \"at most", "lookups.failed = \"exactly"),
    );
    let user = || as_nobody(&scratch.path(""));
    // What is written back becomes dirty anew, and counts again: no proposed limit may depend on it.
    assert!(Command::new("sync").status().expect("sync").success());
    for _ in 0..3 {
        let held = check_by(user(), &scratch, &[]);
        assert_eq!(code(&held), 0, "{}{}", stdout(&held), stderr(&held));
        let words: Vec<String> = stdout(&held).split_whitespace().map(str::to_owned).collect();
        assert!(words.join(" ").contains("are counted by tracing"), "{words:?}");
    }
    fs::write(&script, format!("{work}test -e missing/too || true\n")).expect("a script");
    let broken = check_by(user(), &scratch, &[]);
    let told = stdout(&broken);
    assert_eq!(code(&broken), 1, "{told}");
    assert!(told.contains("lookups.failed: ") && told.contains("1 too many"), "{told}");
    let often = format!("{work}for i in 1 2 3 4 5 6 7 8 9; do test -e missing/too; done\ntrue\n");
    fs::write(&script, often).expect("a script");
    let told = stdout(&check_by(user(), &scratch, &[]));
    assert!(told.contains("9 too many") && told.contains("/missing/too"), "{told}");
}

#[test]
fn a_process_has_limits_of_its_own_and_the_rest_is_not_measured() {
    let scratch = Scratch::new("traced-parts");
    budget(
        &scratch,
        "[[check]]\nname = \"a\"\ncommand = [\"sh\", \"-c\", \"cat data nothing; cat data; true\"]\n\
         limits.read.calls = \"at most 1, if measured\"\nlimits.files.rows = \"at most 1, if measured\"\n\
         limits.lookups.time_ns = \"at most 1 h, if measured\"\n\
         [[check.process]]\nname = \"cat\"\nlimits.lookups.failed = \"at least 1\"\nlimits.processes = \"exactly 2\"\n\
         [[check.file]]\npattern = \"data\"\nlimits.opens = \"exactly 2\"\nlimits.cached_before = \"exactly 3\"\n\
         limits.cached_after = \"at least 3\"\n",
    );
    let allowed = "not_measured_and_allowed";
    let wanted = [allowed, allowed, allowed, "held", "held", "held", "held", "held"];
    // Others may evict the file before the command reads it.
    let report = until_ok("the file stays cached", || {
        fs::write(scratch.path("data"), vec![1; 9000]).expect("a file");
        let output = check(&scratch, &["-q", "--json", "-", "--no-bpf"]);
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let limits = report["checks"][0]["attempts"][0]["limits"].as_array().expect("limits");
        let verdicts: Vec<&str> =
            limits.iter().map(|limit| limit["verdict"].as_str().expect("a word")).collect();
        is_same((code(&output), &verdicts[..]), (0, &wanted[..]), &report)?;
        Ok(report)
    });
    assert_eq!(
        (&report["no_sensor"], &report["no_trace"]),
        (&"--no-bpf was given".into(), &Value::Null)
    );
}

#[test]
fn what_takes_too_long_leaves_nothing_behind() {
    let scratch = Scratch::new("traced-timeout");
    let line = "(setsid sh -c 'echo $$ > pid; sleep 1000' &); sleep 1000";
    budget(
        &scratch,
        &format!(
            "[[check]]\nname = \"a\"\ncommand = [\"sh\", \"-c\", \"{line}\"]\ntimeout = \"5s\"\n"
        ),
    );
    let report = report(&check(&scratch, &["-q", "--json", "-", "--no-bpf"]), 1);
    assert_eq!(report["checks"][0]["outcome"], "timed_out");
    let pid = fs::read_to_string(scratch.path("pid")).expect("a PID");
    // Whoever adopted it may not have waited for it yet.
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "it still runs: {stat}");
}

#[test]
fn a_state_is_set_on_files_that_tracing_learned() {
    let scratch = for_nobody("traced-state");
    let data = scratch.path("data");
    fs::write(&data, vec![1; 1 << 20]).expect("a file");
    std::os::unix::fs::chown(&data, Some(NOBODY), Some(NOBODY)).expect("chown");
    fs::File::open(&data).and_then(|file| file.sync_all()).expect("on the disk");
    let one = |state: &str, pages: u64| {
        format!(
            "[[check]]\nname = \"{state}\"\ncommand = \"cat data\"\nstate = \"{state}\"\n\
             [[check.file]]\npattern = \"data\"\nlimits.cached_before = \"exactly {pages}\"\n"
        )
    };
    budget(&scratch, &[one("cold", 0), one("warm", 256)].concat());
    let output = check_by(as_nobody(&scratch.path("")), &scratch, &["--json", "c.json"]);
    assert_eq!(code(&output), 125, "no file can be written here: {}", stderr(&output));
    let output = check_by(as_nobody(&scratch.path("")), &scratch, &[]);
    let told = stdout(&output);
    assert_eq!(code(&output), 0, "{told}{}", stderr(&output));
    assert!(told.contains("files, learned by tracing"), "{told}");
}

#[test]
fn where_tracing_is_refused_the_rest_is_measured_all_the_same() {
    let scratch = Scratch::new("traced-refused");
    fs::create_dir(scratch.path("inner")).expect("a directory");
    budget(
        &scratch,
        "[[check]]\nname = \"a\"\ncommand = \"cat data\"\ndirectory = \"inner\"\nlimits.device.read_bytes = \"at most 1 GiB\"\n\
         limits.lookups.calls = \"at most 1, if measured\"\n\
         [[check.file]]\npattern = \"data\"\nlimits.cached_before = \"exactly 3\"\n\
         [[check]]\nname = \"b\"\ncommand = \"true\"\nstate = \"cold\"\n",
    );
    // Others may evict the file before the command reads it.
    let report = until_ok("the file stays cached", || {
        fs::write(scratch.path("inner/data"), vec![1; 9000]).expect("a file");
        // A process has one tracer.
        let mut traced = Command::new("strace");
        traced
            .args(["-f", "-qq", "-e", "trace=none", "-e", "signal=none", "-o", "/dev/null"])
            .arg(hotset());
        let report = report(&check_by(traced, &scratch, &["-q", "--json", "-", "--no-bpf"]), 1);
        is_same(&report["checks"][0]["outcome"], "passed", &report)?;
        Ok(report)
    });
    let why = report["no_trace"].as_str().expect("a reason");
    assert!(why.starts_with("ptrace failed: "), "{why}");
    let limits = &report["checks"][0]["attempts"][0]["limits"];
    assert_eq!(limits[1]["verdict"], "not_measured_and_allowed");
    let error = report["checks"][1]["error"].as_str().expect("an error");
    let words = "state cold: its files can't be learned without the sensor (--no-bpf was given), nor by tracing (ptrace failed: ";
    assert!(error.starts_with(words) && error.contains("files = ["), "{error}");
}
