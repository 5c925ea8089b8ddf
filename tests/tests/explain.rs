//! `hotset explain` on programs with one true cause each: it comes first, with a proof.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use hotset_tests::scratch::text;
use hotset_tests::{MIB, Scratch, code, evict_verified, hotset, read_json, stderr, stdout};
use serde_json::Value;

fn explain(words: &[&str]) -> Output {
    Command::new(hotset()).arg("explain").args(words).output().expect("hotset")
}

/// What is explained of a Python program that runs in `dir`.
fn explained(scratch: &Scratch, program: &str, more: &[&str]) -> Value {
    let json = scratch.path("explanation.json");
    let program = format!("import os\nos.chdir({:?})\n{program}", text(scratch.dir()));
    let words = ["-q", "--json", text(&json), "--dir", text(scratch.dir())];
    let python = ["--", "/usr/bin/python3", "-S", "-c", &program];
    let output = explain(&[&words[..], more, &python].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    read_json(&json)
}

/// The first finding of a program that reads nothing cold of its own: where others evict the interpreter meanwhile, its cold
/// start may come before that.
fn first_warm(explanation: &Value) -> &Value {
    let findings = explanation["findings"].as_array().expect("findings");
    let found = findings.iter().find(|finding| finding["rule"] != "cold-start");
    found.unwrap_or_else(|| panic!("no finding: {findings:#?}\n{:#}", explanation["verdicts"]))
}

/// What the finding is proved with.
fn change(finding: &Value) -> &str {
    finding["changes"][0].as_str().unwrap_or("none")
}

/// Whether the finding is proved. On a busy host too few replays may behave as recorded, or the ratio's interval may reach 1,
/// and then it says so.
fn is_proved_or_says_why(finding: &Value) {
    let io = &finding["proof"]["io"];
    let why = finding["not_proved"].as_str();
    if why.is_none_or(|why| why.contains("no difference")) {
        assert!(io["ratio"].as_f64().is_some_and(|ratio| ratio < 1.0), "{finding:#}");
    }
    if let Some(why) = why {
        let known = ["was recorded", "cache state", "rounds", "no difference"];
        assert!(known.iter().any(|known| why.contains(known)), "{finding:#}");
    }
}

#[test]
fn a_sync_for_each_record() {
    let scratch = Scratch::new("explain-sync");
    let program = "log = os.open('log', os.O_WRONLY | os.O_CREAT)\n\
                   for record in range(300): os.write(log, b'r' * 100); os.fsync(log)";
    let explanation = explained(&scratch, program, &[]);
    let finding = first_warm(&explanation);
    assert!(change(finding).starts_with("sync-every="), "{:#}", explanation["findings"]);
    is_proved_or_says_why(finding);
    let risks = finding["risks"].as_str();
    assert!(risks.is_some_and(|risks| risks.contains("crash")), "{risks:?}");
    // The program wrote it, and the replay wrote a copy: the log has what the program left.
    assert_eq!(fs::metadata(scratch.path("log")).expect("stat").len(), 300 * 100);
}

#[test]
fn small_writes_that_follow_each_other() {
    let scratch = Scratch::new("explain-small");
    let program = "out = os.open('out', os.O_WRONLY | os.O_CREAT)\n\
                   for record in range(60000): os.write(out, b'r' * 8)";
    let explanation = explained(&scratch, program, &[]);
    let finding = first_warm(&explanation);
    assert!(change(finding).starts_with("buffer="), "{:#}", explanation["findings"]);
    is_proved_or_says_why(finding);
}

#[test]
fn direct_reads_of_the_same_bytes() {
    let scratch = Scratch::new("explain-direct");
    scratch.file("data", MIB);
    let program = "import mmap\nfd = os.open('data', os.O_RDONLY | os.O_DIRECT)\nmemory = mmap.mmap(-1, 4096)\n\
                   for read in range(6000): os.preadv(fd, [memory], read * 7 % 64 * 4096)";
    let explanation = explained(&scratch, program, &[]);
    let finding = first_warm(&explanation);
    assert_eq!(change(finding), "cached", "{:#}", explanation["findings"]);
    is_proved_or_says_why(finding);
}

#[test]
fn a_search_path_that_mostly_fails() {
    let scratch = Scratch::new("explain-lookups");
    fs::create_dir(scratch.path("last")).expect("a directory");
    for module in 0..8 {
        fs::write(scratch.path(&format!("last/module{module}")), "x").expect("a file");
    }
    let program = "for find in range(3000):\n for dir in range(40): os.access('%d/module%d' % (dir, find % 8), os.F_OK)\n \
                   os.stat('last/module%d' % (find % 8))";
    let explanation = explained(&scratch, program, &[]);
    let finding = first_warm(&explanation);
    assert_eq!(change(finding), "known-paths", "{:#}", explanation["findings"]);
    is_proved_or_says_why(finding);
}

#[test]
fn a_file_that_is_read_again_and_again() {
    let scratch = Scratch::new("explain-reread");
    scratch.file("config", 200_000);
    let program = "for again in range(4000):\n with open('config', 'rb', buffering=0) as f: sum(f.read()[:1000])";
    let explanation = explained(&scratch, program, &[]);
    let finding = first_warm(&explanation);
    assert_eq!(change(finding), "once", "{:#}", explanation["findings"]);
    is_proved_or_says_why(finding);
}

#[test]
fn cold_reads_one_after_another() {
    let scratch = Scratch::new("explain-serial");
    let file = scratch.file("data", 32 * MIB);
    evict_verified(&file);
    let program = "fd = os.open('data', os.O_RDONLY)\nos.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)\n\
                   for read in range(2500): os.pread(fd, 4096, read * 2741 % 8192 * 4096)";
    let explanation = explained(&scratch, program, &[]);
    let finding = &explanation["findings"][0];
    let change = change(finding);
    assert!(
        change == "prefetch" || change.starts_with("io_uring="),
        "{:#}",
        explanation["findings"]
    );
    is_proved_or_says_why(finding);
}

#[test]
fn what_a_cold_start_reads_can_be_restored() {
    let scratch = Scratch::new("explain-emit");
    let file = scratch.file("data", 32 * MIB);
    evict_verified(&file);
    let program = "fd = os.open('data', os.O_RDONLY)\nos.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)\n\
                   for read in range(2500): os.pread(fd, 4096, read * 2741 % 8192 * 4096)";
    let out = scratch.path("out");
    explained(&scratch, program, &["--emit", text(&out)]);
    let findings = fs::read_to_string(out.join("findings.txt")).expect("findings");
    assert!(findings.contains("Findings"), "{findings}");
    let drop_in = fs::read_to_string(out.join("hotset-restore.conf")).expect("a drop-in");
    let set = out.join("start.set");
    assert!(drop_in.contains(&format!("ExecStartPre=-hotset restore -q \"{}\"", text(&set))));
    evict_verified(&file);
    let restored =
        Command::new(hotset()).args(["restore", "--json"]).arg(&set).output().expect("hotset");
    assert_eq!(code(&restored), 0, "{}", stderr(&restored));
    let report: Value = serde_json::from_slice(&restored.stdout).expect("JSON");
    let pages = report["cached_after_pages"].as_u64().expect("a number");
    assert!(pages >= 2_400, "{report:#}");
    // What is there is not replaced.
    let output = explain(&["--emit", text(&out), "--", "true"]);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("is not empty"), "{}", stderr(&output));
}

/// Syncs of a program that strace sees, and what it prints.
fn syncs(scratch: &Scratch, line: &str) -> (usize, String) {
    let seen = scratch.path("syncs.strace");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", text(&seen), "sh", "-c", line]);
    let output = strace.current_dir(scratch.dir()).output();
    let output = output.unwrap_or_else(|error| panic!("this test needs strace: {error}"));
    assert_eq!(code(&output), 0, "{line}: {}", stderr(&output));
    let seen = fs::read_to_string(&seen).expect("what strace saw");
    (seen.lines().filter(|line| line.contains("sync(")).count(), stdout(&output))
}

#[test]
fn a_setting_that_is_written_spares_the_syncs_of_a_program() {
    let scratch = Scratch::new("explain-setting");
    let inserts: String = (0..200).map(|row| format!("INSERT INTO log VALUES({row});\n")).collect();
    let sql = format!("CREATE TABLE log(row);\n{inserts}SELECT count(*) FROM log;\n");
    fs::write(scratch.path("sql"), sql).expect("a file");
    let (json, out) = (scratch.path("explanation.json"), scratch.path("out"));
    // Settings of whoever runs the test are left out. Without room for replays, their times on this host do not matter.
    let line = "sqlite3 -init /dev/null recorded.db < sql";
    let run = format!("cd {}; {line}", text(scratch.dir()));
    let words = ["--json", text(&json), "--emit", text(&out), "--budget", "1ms"];
    let output = explain(&[&words[..], &["--", "sh", "-c", &run]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let explanation = read_json(&json);
    let setting = &first_warm(&explanation)["settings"][0];
    assert_eq!(
        (setting["of"].as_str(), setting["file"].as_str()),
        (Some("sqlite3"), Some("sqliterc")),
        "{:#}",
        explanation["findings"]
    );
    let file = out.join("sqliterc");
    for (said, wanted) in [
        (stderr(&output), format!("{}: a setting of sqlite3", text(&file))),
        (stdout(&output), "(--emit writes sqliterc)".to_owned()),
        (
            fs::read_to_string(out.join("findings.txt")).expect("findings"),
            "synchronous=NORMAL".to_owned(),
        ),
        (fs::read_to_string(&file).expect("a setting"), "-- Risk: ".to_owned()),
    ] {
        assert!(said.contains(&wanted), "{wanted}: {said}");
    }
    // A commit takes three syncs at least; with the setting, none.
    let (before, answered) = syncs(&scratch, "sqlite3 -init /dev/null before.db < sql");
    let (after, same) = syncs(&scratch, "sqlite3 -init out/sqliterc after.db < sql");
    assert!(before >= 600 && after <= 20, "{before} syncs, then {after}");
    assert_eq!((answered.as_str(), same.as_str()), ("200\n", "200\n"));
}

#[test]
fn a_program_that_is_well_has_no_finding_and_is_told_so() {
    let scratch = Scratch::new("explain-well");
    scratch.file("data", MIB);
    let output = explain(&["--", "/bin/cat", text(&scratch.path("data"))]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let said = stdout(&output) + &stderr(&output);
    assert!(said.contains("nothing in this recording is worth changing"), "{said}");
}

#[test]
fn without_proofs_nothing_is_replayed() {
    let scratch = Scratch::new("explain-no-proof");
    let program = "log = os.open('log', os.O_WRONLY | os.O_CREAT)\n\
                   for record in range(300): os.write(log, b'r' * 100); os.fsync(log)";
    let kept = scratch.path("kept.parquet");
    let explanation = explained(&scratch, program, &["--no-proof", "-o", text(&kept)]);
    assert_eq!(explanation["replays"], Value::Null);
    assert_eq!(explanation["findings"][0]["proof"], Value::Null);
    assert_eq!(explanation["findings"][0]["not_proved"], "--no-proof was given");
    // The recording that was kept says the same.
    let output = explain(&[text(&kept), "--no-proof"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let title = explanation["findings"][0]["title"].as_str().expect("a title");
    assert!(stdout(&output).contains(title), "{}", stdout(&output));
}

#[test]
fn a_disturbed_recording_is_made_again_as_often_as_asked() {
    let scratch = Scratch::new("explain-attempts");
    let (json, kept) = (scratch.path("explanation.json"), scratch.path("kept.parquet"));
    // Pauses let the device sleep: its answers take longer than those that a replay waits for.
    let program = format!(
        "import os, time\nos.chdir({:?})\nopen('runs', 'a').write('run\\n')\n\
         log = os.open('log', os.O_WRONLY | os.O_CREAT)\n\
         for record in range(100): time.sleep(0.002); os.write(log, b'r' * 100); os.fsync(log)",
        text(scratch.dir())
    );
    let words = ["-q", "--json", text(&json), "-o", text(&kept), "--attempts", "3"];
    let python = ["--dir", text(scratch.dir()), "--", "/usr/bin/python3", "-S", "-c", &program];
    let output = explain(&[&words[..], &python].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let runs = fs::read_to_string(scratch.path("runs")).expect("runs").lines().count();
    let again = stderr(&output).matches("; recording again").count();
    assert_eq!(runs, again + 1, "{}", stderr(&output));
    let no_claim = &read_json(&json)["replays"]["fidelity"]["no_claim"];
    assert!(
        no_claim.is_null() || runs == 3 || !no_claim.to_string().contains("was recorded"),
        "{no_claim}"
    );
    let output = explain(&["--attempts", "2", "--no-proof", text(&kept)]);
    assert_eq!(code(&output), 2, "a recording is there already: {}", stderr(&output));
}

#[test]
fn what_can_not_be_explained_says_why() {
    let scratch = Scratch::new("explain-errors");
    fs::write(scratch.path("text"), "no trace").expect("a file");
    for (words, wanted, why) in [
        (&[text(&scratch.path("text"))][..], 1, "text"),
        (&["/nowhere.parquet"], 1, "No such file"),
        (&["--", "/nowhere/program"], 127, "/nowhere/program"),
        (&[], 2, "TRACE"),
    ] {
        let output = explain(words);
        assert_eq!(code(&output), wanted, "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    }
    assert!(left(scratch.dir()).is_empty(), "{:?}", left(scratch.dir()));
}

fn left(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).expect("list").flatten().map(|entry| entry.file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("hotset-lab-")).collect()
}
