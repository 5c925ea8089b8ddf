//! Baselines of `hotset bench`: saved, compared with, refused. No test depends on how fast anything is: what was is written by hand.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Output;

use hotset_tests::bench::{bench_says, bench_says_of_enough_runs};
use hotset_tests::listing::said;
use hotset_tests::scratch::text;
use hotset_tests::{Scratch, as_nobody, read_json, stderr, stdout};
use hotset_validate::violations;
use serde_json::Value;

const BASELINE: &str = include_str!("../../schema/baseline-1.schema.json");
const SESSION: &str = include_str!("../../schema/bench-1.schema.json");

/// A benchmark of something that takes a while and computes nothing, with its baselines in a directory.
struct Kept {
    scratch: Scratch,
    command: [&'static str; 2],
    rounds: &'static str,
}

impl Kept {
    fn new(name: &str) -> Self {
        Self { scratch: Scratch::new(name), command: SLEEP, rounds: ROUNDS }
    }

    fn directory(&self) -> PathBuf {
        self.scratch.path("kept")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory().join(format!("{name}.baseline.json"))
    }

    /// What bench is asked for; with what is usual where nothing else is said.
    fn words<'a>(
        &self,
        directory: &'a str,
        words: &[&'a str],
        command: &[&'a str],
    ) -> Vec<&'a str> {
        let usual = [("--baseline-dir", directory), ("-r", self.rounds), ("-n", "app")];
        let unsaid = usual.into_iter().filter(|(option, _)| !words.contains(option));
        let mut all = vec!["--state", "as-is", "--no-noise-floor"];
        all.extend(unsaid.flat_map(|(option, value)| [option, value]));
        [&all, words, &["--"], command].concat()
    }

    /// Once, whatever becomes of its runs.
    fn bench_once(&self, words: &[&str], command: &[&str]) -> Output {
        bench_says(&self.words(text(&self.directory()), words, command))
    }

    fn bench(&self, words: &[&str], command: &[&str]) -> Output {
        bench_says_of_enough_runs(&self.words(text(&self.directory()), words, command))
    }

    /// With this code, and this in what it says.
    fn ends(&self, code: i32, words: &[&str], says: &str) -> Output {
        let output = self.bench(words, &self.command);
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

    /// Makes all times of the baseline this share of what they were, and of waiting for a CPU nothing is known.
    fn scale(&self, name: &str, share: f64) {
        self.edit(name, |json| {
            let conditions = json["sessions"][0]["conditions"].as_array_mut().expect("conditions");
            for sample in conditions
                .iter_mut()
                .flat_map(|one| one["samples"].as_array_mut().expect("samples"))
            {
                for key in ["wall_ns", "cpu_ns"] {
                    let ns = sample[key].as_f64().expect(key);
                    sample[key] = ((ns * share) as u64).into();
                }
                sample["cpu_pressure_ns"] = 0.into();
                // More than it can have been now, so that it explains nothing.
                sample["steal_ns"] = sample["wall_ns"].clone();
            }
        });
    }
}

const SLEEP: [&str; 2] = ["sleep", "0.05"];
/// A comparison requires 6 valid runs, and a busy host makes some invalid, now and then most of them.
const ROUNDS: &str = "20";

#[test]
fn a_baseline_is_saved_grows_is_compared_with_and_is_replaced() {
    let kept = Kept::new("baseline-grows");
    kept.ends(0, &["--save-baseline", "main"], "saved as baseline main, a new one: ");
    let first = kept.saved("main");
    assert_eq!(
        (&first["name"], first["sessions"].as_array().map(Vec::len)),
        (&"main".into(), Some(1))
    );
    let condition = &first["sessions"][0]["conditions"][0];
    assert!(
        condition["samples"].as_array().is_some_and(|samples| samples.len() >= 6),
        "{condition}"
    );
    kept.ends(0, &["--save-baseline", "main", "--add-session"], "now 2 sessions");
    let json = kept.scratch.path("now.json");
    let (markdown, html) = (kept.scratch.path("now.md"), kept.scratch.path("now.html"));
    let words = [
        "--baseline",
        "main",
        "--fail-above",
        "1000%",
        "--export-json",
        text(&json),
        "--export-markdown",
        text(&markdown),
        "--html",
        text(&html),
    ];
    kept.ends(0, &words, "Against the baseline main (2 sessions");
    let session = read_json(&json);
    assert_eq!(violations(SESSION, &session), [""; 0]);
    let compared = &session["baseline"];
    assert_eq!((&compared["name"], &compared["sessions"]), (&"main".into(), &2.into()));
    assert!(compared["conditions"][0]["wall"]["interval"]["low"].is_f64(), "{compared}");
    assert_eq!(
        (&compared["failed"], &compared["only_in_baseline"]),
        (&false.into(), &Value::Array(Vec::new()))
    );
    for file in [&markdown, &html] {
        let written = fs::read_to_string(file).expect("export");
        assert!(written.contains("Against the baseline main"), "{}", file.display());
    }
    kept.ends(0, &["--save-baseline", "main"], "replacing 2 sessions");
    assert_eq!(kept.saved("main")["sessions"].as_array().map(Vec::len), Some(1));
    let quiet = kept.bench(&["-q", "--save-baseline", "main"], &SLEEP);
    // It may say that it waits for another benchmark.
    let told = stderr(&quiet).contains("saved as") || !stdout(&quiet).is_empty();
    assert!(quiet.status.success() && !told, "{}", said(&quiet));
}

#[test]
fn a_slow_down_that_is_shown_ends_with_its_code_and_is_not_saved() {
    let mut kept = Kept::new("baseline-slower");
    // Many times what the start of a process varies by on a busy host: shorter times are not told apart there.
    (kept.command, kept.rounds) = (["sleep", "0.4"], "10");
    kept.ends(0, &["--save-baseline", "main"], "saved");
    kept.scale("main", 0.02);
    let before = fs::read(kept.file("main")).expect("baseline");
    let limits = ["--baseline", "main", "--fail-above", "5%"];
    kept.ends(123, &limits, "slower, above the limit of 5.0 %");
    kept.ends(0, &["--baseline", "main"], ": slower");
    let saving = ["--save-baseline", "main"];
    kept.ends(123, &[&limits[..], &saving].concat(), "is not saved as the baseline main");
    assert_eq!(fs::read(kept.file("main")).expect("baseline"), before);
    // What it replaces is what it was compared with.
    kept.ends(0, &[&["--baseline", "main"], &saving[..]].concat(), "replacing 1 session");
}

#[test]
fn what_is_another_command_or_another_host_is_told() {
    let kept = Kept::new("baseline-others");
    kept.ends(0, &["--save-baseline", "main"], "saved");
    let changed = kept.bench(&["--baseline", "main"], &["sleep", "0.051"]);
    assert!(changed.status.success(), "{}", said(&changed));
    assert!(stdout(&changed).contains("this name stands for `sleep 0.05`"), "{}", said(&changed));
    let added = ["--save-baseline", "main", "--add-session"];
    let refused = kept.bench(&added, &["sleep", "0.051"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(
        stderr(&refused).contains("another command under the name \"app\""),
        "{}",
        said(&refused)
    );
    kept.ends(2, &["--baseline", "main", "-n", "other"], "it has app (as-is)");
    let several = kept.bench(&["--baseline", "main", "--vs", "sleep 0.051"], &SLEEP);
    assert!(several.status.success(), "{}", said(&several));
    assert!(stdout(&several).contains("has no such command in this state"), "{}", said(&several));
    kept.edit("main", |json| {
        json["sessions"][0]["environment"]["kernel"] = "5.10.0".into();
    });
    kept.ends(0, &["--baseline", "main"], "kernel: 5.10.0 in the baseline");
    kept.edit("main", |json| json["sessions"][0]["environment"]["cpus"] = 999.into());
    let why = "another host (number of CPUs: 999 in the baseline";
    kept.ends(125, &["--baseline", "main"], why);
    kept.ends(125, &added, why);
    kept.ends(0, &["--baseline", "main", "--other-host"], "number of CPUs: 999 in the baseline");
}

#[test]
fn what_can_not_be_compared_or_saved_is_refused_before_anything_runs() {
    let kept = Kept::new("baseline-refused");
    let mark = kept.scratch.path("mark");
    let refused = |code: i32, words: &[&str], says: &str| {
        let output = kept.bench_once(words, &["touch", text(&mark)]);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", said(&output));
        assert!(stderr(&output).contains(says), "{words:?}: {}", said(&output));
        assert!(!mark.exists(), "{words:?}");
    };
    refused(125, &["--baseline", "main"], "make one with --save-baseline main");
    fs::create_dir(kept.directory()).expect("directory");
    fs::write(kept.file("main"), "{\"schema\": \"hotset.baseline/1\", \"hot").expect("file");
    refused(125, &["--baseline", "mian"], "did you mean main?");
    refused(125, &["--baseline", "main"], "ends in the middle of a result");
    // It may be somebody's only copy.
    refused(125, &["--save-baseline", "main"], "ends in the middle of a result");
    let other = "{\"schema\": \"hotset.baseline/2\", \"hotset\": \"9.0.0\"}";
    fs::write(kept.file("main"), other).expect("file");
    refused(125, &["--baseline", "main"], "expected \"hotset.baseline/1\"");
    refused(2, &["--baseline", "a/b"], "it contains a slash");
    refused(2, &["--fail-above", "5%"], "--baseline");
    refused(2, &["--baseline", "main", "--fail-above", "5ms"], "expected a percentage");
    let over = kept.file("main");
    let over = ["--baseline", "main", "--export-json", text(&over)];
    refused(2, &over, "is the baseline, which the result would replace");
    let file = kept.scratch.file("file", 1);
    refused(125, &["--baseline-dir", text(&file), "--save-baseline", "x"], "file");
    let below = file.join("below");
    refused(125, &["--baseline-dir", text(&below), "--save-baseline", "x"], "below");
}

#[test]
fn a_directory_that_may_not_be_written_to_is_told_before_anything_runs() {
    let scratch = Scratch::new("baseline-denied");
    let locked = scratch.path("locked");
    fs::create_dir(&locked).expect("directory");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).expect("mode");
    for directory in [locked.clone(), locked.join("new")] {
        let mut command = as_nobody(scratch.dir());
        command.args(["bench", "--state", "as-is", "-r", "1", "--save-baseline", "x"]);
        command.args(["--baseline-dir", text(&directory), "true"]);
        let output = command.output().expect("hotset");
        assert_eq!(output.status.code(), Some(125), "{}", said(&output));
        assert!(stderr(&output).contains(text(&locked)), "{}", said(&output));
    }
}

#[test]
fn of_a_command_that_fails_nothing_is_saved() {
    let kept = Kept::new("baseline-fails");
    let log = kept.scratch.path("log");
    let line = format!("echo 1 >> {0}; test $(grep -c 1 {0}) -lt 9 || exit 3", text(&log));
    let failed = kept.bench_once(&["--save-baseline", "main"], &["sh", "-c", &line]);
    assert_eq!(failed.status.code(), Some(3), "{}", said(&failed));
    let says = "nothing is saved as the baseline main: a command failed";
    assert!(stderr(&failed).contains(says), "{}", said(&failed));
    assert!(!kept.directory().exists());
    let few = kept.bench_once(&["--save-baseline", "main", "-r", "3"], &["true"]);
    assert_eq!(few.status.code(), Some(125), "{}", said(&few));
    assert!(stderr(&few).contains("fewer than 6 valid runs"), "{}", said(&few));
}
