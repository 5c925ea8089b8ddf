//! Baselines of `hotset lab`: saved, compared with, refused. No test depends on how fast anything is: what was is written by hand.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use hotset_tests::bench::bench_says_of_enough_runs;
use hotset_tests::listing::said;
use hotset_tests::scratch::text;
use hotset_tests::{Scratch, as_nobody, hotset, read_json, stderr, stdout, with_default_signals};
use hotset_validate::violations;
use serde_json::Value;

const BASELINE: &str = include_str!("../../schema/lab-baseline-1.schema.json");
const SESSION: &str = include_str!("../../schema/lab-1.schema.json");

/// One way of reading one small file, in new files each time, with its baselines in a directory.
struct Kept {
    scratch: Scratch,
}

/// An interval requires 6 rounds with a valid sample, and a busy host makes some invalid.
const ROUNDS: &str = "12";

impl Kept {
    fn new(name: &str) -> Self {
        Self { scratch: Scratch::new(name) }
    }

    fn directory(&self) -> PathBuf {
        self.scratch.path("kept")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory().join(format!("{name}.baseline.json"))
    }

    fn lab(&self, words: &[&str]) -> Output {
        let directory = self.directory();
        let usual = [("--baseline-dir", text(&directory)), ("--rounds", ROUNDS), ("--size", "1M")];
        let unsaid = usual.into_iter().filter(|(option, _)| !words.contains(option));
        let mut command = Command::new(hotset());
        command.args(["lab", "access", "--quick", "--no-bpf", "--block", "4K"]);
        command.args(["--methods", "pread", "--orders", "sequential"]);
        command.args(["--dir", text(self.scratch.dir())]);
        command.args(unsaid.flat_map(|(option, value)| [option, value])).args(words);
        with_default_signals(&mut command);
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
    }

    /// With this code, and this in what it says.
    fn ends(&self, code: i32, words: &[&str], says: &str) -> Output {
        let output = self.lab(words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", said(&output));
        let all = format!("{}{}", stdout(&output), stderr(&output));
        let all = all.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(all.contains(says), "{words:?}: {}", said(&output));
        output
    }

    fn saved(&self, name: &str) -> Value {
        let json = read_json(&self.file(name));
        assert_eq!(violations(BASELINE, &json), [""; 0]);
        json
    }

    /// Changes a baseline by hand.
    fn edit(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut json = read_json(&self.file(name));
        change(&mut json);
        fs::write(self.file(name), json.to_string()).expect("baseline");
    }

    /// Makes all times of the baseline this share of what they were, and waiting for a CPU more than it can be now, so that it explains
    /// nothing.
    fn scale(&self, name: &str, share: f64) {
        self.edit(name, |json| {
            let session = &mut json["sessions"][0];
            session["conditions"]["cpu_pressure_permille"] = 1000.into();
            for cell in session["cells"].as_array_mut().expect("cells") {
                for ns in cell["runs"]["wall_ns"].as_array_mut().expect("times") {
                    *ns = ((ns.as_f64().expect("a time") * share) as u64).max(1).into();
                }
            }
        });
    }
}

fn verdicts(session: &Value) -> Vec<&str> {
    let cells = session["baseline"]["cells"].as_array().expect("cells");
    cells.iter().filter_map(|one| one["wall"]["verdict"].as_str()).collect()
}

#[test]
fn a_baseline_is_saved_grows_is_compared_with_and_is_replaced() {
    let kept = Kept::new("lab-baseline-grows");
    kept.ends(0, &["--save-baseline", "main"], "saved as baseline main, a new one: ");
    let first = kept.saved("main");
    let session = &first["sessions"][0];
    assert_eq!((&session["experiment"], &session["size"]), (&"access".into(), &"quick".into()));
    let cells = session["cells"].as_array().expect("cells");
    assert!(cells.iter().any(|cell| cell["runs"]["wall_ns"].as_array().map(Vec::len) >= Some(6)));
    kept.ends(0, &["--save-baseline", "main", "--add-session"], "now 2 sessions");
    let (json, html) = (kept.scratch.path("now.json"), kept.scratch.path("now.html"));
    let words = ["--baseline", "main", "--fail-above", "1000%"];
    let files = ["--json", text(&json), "--html", text(&html)];
    kept.ends(0, &[&words[..], &files].concat(), "Against the baseline main (2 sessions");
    let now = read_json(&json);
    assert_eq!(violations(SESSION, &now), [""; 0]);
    let compared = &now["baseline"];
    assert_eq!((&compared["name"], &compared["sessions"]), (&"main".into(), &2.into()));
    // Files that are made anew are the same work.
    assert!(verdicts(&now).iter().any(|verdict| *verdict != "not comparable"), "{compared}");
    assert_eq!(
        (&compared["failed"], &compared["only_in_baseline"]),
        (&false.into(), &Value::Array(Vec::new()))
    );
    let page = fs::read_to_string(&html).expect("page");
    assert!(page.contains("Against the baseline main (2 sessions"));
    kept.ends(0, &["--save-baseline", "main"], "replacing 2 sessions");
    assert_eq!(kept.saved("main")["sessions"].as_array().map(Vec::len), Some(1));
    let quiet = kept.lab(&["-q", "--save-baseline", "main"]);
    assert!(quiet.status.success() && !stderr(&quiet).contains("saved as"), "{}", said(&quiet));
    let mut report = Command::new(hotset());
    let report = report.arg("report").arg(kept.file("main")).args(["-o", "-"]).output();
    let report = report.expect("hotset report");
    assert!(stdout(&report).contains("lab access, quick size, on "), "{}", said(&report));
    // A result without a comparison, too.
    kept.ends(0, &["--json", text(&json)], "lab access");
    assert_eq!(read_json(&json)["baseline"], Value::Null);
}

#[test]
fn a_slow_down_that_is_shown_ends_with_its_code_and_is_not_saved() {
    let kept = Kept::new("lab-baseline-slower");
    kept.ends(0, &["--save-baseline", "main"], "saved");
    kept.scale("main", 0.001);
    let before = fs::read(kept.file("main")).expect("baseline");
    let limits = ["--baseline", "main", "--fail-above", "5%"];
    kept.ends(123, &limits, "above the limit of 5.0 %");
    kept.ends(0, &["--baseline", "main"], "slower then now ratio");
    let saving = ["--save-baseline", "main"];
    kept.ends(123, &[&limits[..], &saving].concat(), "is not saved as the baseline main");
    assert_eq!(fs::read(kept.file("main")).expect("baseline"), before);
    // What it replaces is what it was compared with.
    kept.ends(0, &[&["--baseline", "main"], &saving[..]].concat(), "replacing 1 session");
}

#[test]
fn other_hosts_file_systems_files_and_experiments_are_told() {
    let kept = Kept::new("lab-baseline-others");
    kept.ends(0, &["--save-baseline", "main"], "saved");
    let compare = ["--baseline", "main"];
    let other_size = [&compare[..], &["--size", "2M"]].concat();
    kept.ends(0, &other_size, "not comparable: it reads or writes another amount");
    let limited = [&other_size[..], &["--fail-above", "5%"]].concat();
    kept.ends(1, &limited, "nothing can be compared with the baseline main");
    kept.edit("main", |json| json["sessions"][0]["experiment"] = "direct".into());
    kept.ends(2, &compare, "has none of these experiments; it has direct");
    kept.edit("main", |json| {
        json["sessions"][0]["experiment"] = "access".into();
        json["sessions"][0]["environment"]["kernel"] = "5.10.0".into();
    });
    kept.ends(0, &compare, "kernel: 5.10.0 in the baseline");
    kept.edit("main", |json| json["sessions"][0]["conditions"]["filesystem"] = "beefs".into());
    let added = ["--save-baseline", "main", "--add-session"];
    let anyway = [&compare[..], &["--other-host"]].concat();
    for words in [&compare[..], &added] {
        kept.ends(1, words, "those of the baseline main were on beefs");
    }
    kept.ends(0, &anyway, "Against the baseline main");
    kept.edit("main", |json| json["sessions"][0]["environment"]["cpus"] = 999.into());
    for words in [&compare[..], &added] {
        kept.ends(1, words, "another host (number of CPUs: 999 in the baseline");
    }
    kept.ends(0, &anyway, "number of CPUs: 999 in the baseline");
}

#[test]
fn a_baseline_of_another_command_is_refused() {
    let kept = Kept::new("lab-baseline-kinds");
    kept.ends(0, &["--save-baseline", "cells"], "saved");
    let directory = kept.directory();
    let bench = |words: &[&str]| {
        let usual = ["--state", "as-is", "-r", "12", "--baseline-dir", text(&directory)];
        bench_says_of_enough_runs(&[&usual, words, &["--", "sleep", "0.01"]].concat())
    };
    let saved = bench(&["--save-baseline", "commands"]);
    assert!(saved.status.success(), "{}", said(&saved));
    for option in ["--baseline", "--save-baseline"] {
        let other = "is a baseline of `hotset bench`, which `hotset lab` can't use";
        kept.ends(1, &[option, "commands"], other);
        let refused = bench(&[option, "cells"]);
        assert_eq!(refused.status.code(), Some(125), "{}", said(&refused));
        let other = "is a baseline of `hotset lab`, which `hotset bench` can't use";
        assert!(stderr(&refused).contains(other), "{}", said(&refused));
    }
}

#[test]
fn what_can_not_be_compared_or_saved_is_refused_before_anything_runs() {
    let kept = Kept::new("lab-baseline-refused");
    let refused = |code: i32, words: &[&str], says: &str| {
        let output = kept.ends(code, words, says);
        assert!(stdout(&output).is_empty(), "{words:?}: {}", said(&output));
    };
    refused(1, &["--baseline", "main"], "make one with --save-baseline main");
    fs::create_dir(kept.directory()).expect("directory");
    fs::write(kept.file("main"), "{\"schema\": \"hotset.lab-baseline/1\", \"hot").expect("file");
    refused(1, &["--baseline", "mian"], "did you mean main?");
    refused(1, &["--baseline", "main"], "ends in the middle of a result");
    refused(1, &["--save-baseline", "main"], "ends in the middle of a result");
    let other = "{\"schema\": \"hotset.lab-baseline/2\", \"hotset\": \"9.0.0\"}";
    fs::write(kept.file("main"), other).expect("file");
    refused(1, &["--baseline", "main"], "expected \"hotset.lab-baseline/1\"");
    refused(2, &["--add-session"], "--save-baseline");
    refused(2, &["--fail-above", "5%"], "--baseline");
    refused(2, &["--baseline", "main", "--fail-cpu-above", "5ms"], "expected a percentage");
    for option in ["--save-baseline", "--baseline"] {
        refused(2, &[option, "main", "--rounds", "5"], "--rounds 5: a baseline needs at least 6");
    }
    for option in ["--save-baseline", "--baseline"] {
        let over = kept.file("main");
        refused(2, &[option, "main", "--json", text(&over)], "is the baseline, which the result");
    }
    let file = kept.scratch.file("file", 1);
    refused(1, &["--baseline-dir", text(&file), "--save-baseline", "x"], "file");
    let below = file.join("below");
    refused(1, &["--baseline-dir", text(&below), "--save-baseline", "x"], "below");
}

#[test]
fn a_directory_that_may_not_be_written_to_is_told_before_anything_runs() {
    let scratch = Scratch::new("lab-baseline-denied");
    let locked = scratch.path("locked");
    fs::create_dir(&locked).expect("directory");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).expect("mode");
    for directory in [locked.clone(), locked.join("new")] {
        let mut command = as_nobody(scratch.dir());
        command.args(["lab", "direct", "--quick", "--save-baseline", "x"]);
        command.args(["--baseline-dir", text(&directory)]);
        let output = command.output().expect("hotset");
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(stderr(&output).contains(text(&locked)), "{}", said(&output));
    }
}
