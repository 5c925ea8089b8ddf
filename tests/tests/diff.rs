//! `hotset diff` of real runs: what was put in on purpose is what it tells, and nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hotset_tests::scratch::text;
use hotset_tests::traced::record;
use hotset_tests::{
    MIB, Scratch, code, evict_verified, hotset, is_same, read_json, stderr, stdout, until_ok,
    workload,
};
use serde_json::Value;

/// Reads two files and looks one up; with `MORE`, once more what it names. The words of the command stay the same.
const PROGRAM: &str = "
import os
more = os.environ.get('MORE')
def read(name):
    file = os.open(name, os.O_RDONLY)
    os.read(file, 100000)
    os.close(file)
read('a'); read('b')
log = os.open('log', os.O_WRONLY)
os.pwrite(log, b'x' * 100, 0)
os.fsync(log)
if more == 'file': read('c')
if more == 'lookup': os.access('missing', os.F_OK)
if more == 'sync': os.fsync(log)
";

/// A directory with what the program reads and writes.
fn place(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    for (name, bytes) in [("a", 5_000), ("b", 70_000), ("c", 3_000)] {
        fs::write(scratch.path(name), vec![7; bytes]).expect("a file");
    }
    fs::write(scratch.path("log"), [7; 100]).expect("a file");
    scratch
}

/// Runs the program under `hotset`, with these words before it.
fn run(scratch: &Scratch, words: &[&str], more: &str) {
    let mut command = Command::new(hotset());
    command.current_dir(scratch.dir()).env("MORE", more).args(words);
    let output = command.args(["--", "/usr/bin/python3", "-S", "-c", PROGRAM]).output();
    let output = output.expect("hotset");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

/// Makes a file of a run: its name, and what more is done.
type Make = fn(&Scratch, &str, &str) -> PathBuf;

fn profile(scratch: &Scratch, name: &str, more: &str) -> PathBuf {
    let path = scratch.path(name);
    run(scratch, &["run", "-q", "--json", text(&path)], more);
    path
}

fn recording(scratch: &Scratch, name: &str, more: &str) -> PathBuf {
    let path = scratch.path(name);
    let _ = fs::remove_file(&path);
    run(scratch, &["record", "-q", "-o", text(&path)], more);
    path
}

fn diff(words: &[&str]) -> Output {
    Command::new(hotset()).arg("diff").args(words).output().expect("hotset")
}

/// The difference of two files as JSON.
fn difference(scratch: &Scratch, before: &Path, after: &Path) -> Value {
    let json = scratch.path("difference.json");
    let output = diff(&["-q", text(before), text(after), "--json", text(&json)]);
    assert_eq!((code(&output), stderr(&output)), (0, String::new()));
    read_json(&json)
}

/// What syncs write beside the file is the file system's: its journal, as it comes. A disturbed host evicts pages.
fn is_of_the_host(name: &str) -> bool {
    name.starts_with("device.")
}

/// Counters of the whole runs that differ and do not vary, with by how much.
fn counters(difference: &Value) -> Vec<(String, i64)> {
    let all = difference["totals"].as_array().expect("totals").iter();
    let exact = all.filter(|one| one["varies"] == false);
    let by = exact.filter_map(|one| {
        let by = one["after"].as_i64()? - one["before"].as_i64()?;
        let name = one["name"].as_str()?;
        (by != 0 && !is_of_the_host(name)).then(|| (name.to_owned(), by))
    });
    by.collect()
}

/// Rows that came: their names without directories.
fn rows(difference: &Value, kind: &str) -> Vec<(String, String)> {
    let Some(rows) = difference[kind]["rows"].as_array() else { return Vec::new() };
    let row = |row: &Value| {
        let name =
            row["after"]["name"].as_str().or(row["before"]["name"].as_str()).expect("a name");
        let name = name.rsplit('/').next().unwrap_or(name);
        let exact = row["counters"].as_array().expect("counters").iter();
        let is_told = |one: &&Value| {
            one["varies"] == false && !is_of_the_host(one["name"].as_str().unwrap_or_default())
        };
        let is_told = exact.filter(is_told).count() > 0;
        let change = row["change"].as_str().expect("a change").to_owned();
        is_told.then(|| (change, name.to_owned()))
    };
    rows.iter().filter_map(row).collect()
}

fn of(change: &str, name: &str) -> Vec<(String, String)> {
    vec![(change.to_owned(), name.to_owned())]
}

/// Makes both runs until nothing came between: a host that evicts a page has it read again.
fn between(
    scratch: &Scratch,
    make: Make,
    more: &str,
    wanted: impl Fn(&Value) -> Result<(), String>,
) {
    make(scratch, "warm", "");
    until_ok("both runs differ in what was put in alone", || {
        let before = make(scratch, "before", "");
        let after = make(scratch, "after", more);
        wanted(&difference(scratch, &before, &after))
    });
}

fn same<T: PartialEq + std::fmt::Debug>(seen: T, wanted: T) -> Result<(), String> {
    if seen == wanted { Ok(()) } else { Err(format!("{seen:?}; wanted {wanted:?}")) }
}

/// Both kinds of files, and what makes one.
const BOTH: [(&str, Make); 2] = [("profiles", profile), ("recordings", recording)];

#[test]
fn the_same_command_twice_differs_in_nothing() {
    for (kind, make) in BOTH {
        let scratch = place("diff-same");
        between(&scratch, make, "", |difference| {
            assert_eq!(difference["compared"], kind);
            same(counters(difference), Vec::new())?;
            for kind in ["files", "processes", "failed_lookups", "found_lookups"] {
                same(rows(difference, kind), Vec::new())?;
            }
            same(difference["caveats"].clone(), Value::from(Vec::<Value>::new()))
        });
    }
}

#[test]
fn one_more_file_that_is_read_is_told() {
    for (_, make) in BOTH {
        let scratch = place("diff-file");
        between(&scratch, make, "file", |difference| {
            same(rows(difference, "files"), of("came", "c"))?;
            same(rows(difference, "failed_lookups"), Vec::new())?;
            let counters = counters(difference);
            for (name, by) in [("read.calls", 1), ("read.bytes", 3_000), ("read.pages", 1)] {
                same(counters.contains(&(name.to_owned(), by)), true)?;
            }
            let others = ["write.", "sync.", "direct.", "mmap.", "lookups.failed"];
            let is_other = |(name, _): &(String, i64)| others.iter().any(|of| name.starts_with(of));
            same(counters.iter().any(is_other), false)
        });
    }
}

#[test]
fn one_more_lookup_that_fails_is_told() {
    for (kind, make) in BOTH {
        let scratch = place("diff-lookup");
        between(&scratch, make, "lookup", |difference| {
            same(rows(difference, "failed_lookups"), of("came", "missing"))?;
            same(rows(difference, "files"), Vec::new())?;
            let mut counters = counters(difference);
            let recorded = counters.iter().filter(|(name, _)| name.starts_with("operations."));
            same(recorded.count(), usize::from(kind == "recordings"))?;
            counters.retain(|(name, _)| !name.starts_with("operations."));
            let of = |name: &str| (name.to_owned(), 1);
            same(counters, vec![of("lookups.calls"), of("lookups.failed")])
        });
    }
}

#[test]
fn one_more_sync_is_told() {
    for (_, make) in BOTH {
        let scratch = place("diff-sync");
        between(&scratch, make, "sync", |difference| {
            same(rows(difference, "files"), of("grew", "log"))?;
            let mut counters = counters(difference);
            counters.retain(|(name, _)| !name.starts_with("operations."));
            same(counters, vec![("sync.calls".to_owned(), 1)])
        });
    }
}

#[test]
fn the_exit_code_tells_a_difference_where_it_is_asked_for() {
    let scratch = place("diff-exit");
    let [before, after, came] = ["before", "after", "c"].map(|name| scratch.path(name));
    let paths = [text(&before), text(&after)];
    // Where others evict what a run reads, rows of those files stand before the one that is looked for.
    until_ok("nobody evicts much", || {
        for (name, more) in [("before", ""), ("after", "file")] {
            profile(&scratch, name, more);
        }
        let output = diff(&paths);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let said = stdout(&output);
        let wanted = ["came", text(&came), "read.calls"];
        is_same(wanted.map(|words| said.contains(words)), [true; 3], &said)
    });
    let exit = |words: &[&str]| code(&diff(&[&["--exit-code", "-q"], words].concat()));
    assert_eq!(exit(&paths), 1);
    assert_eq!(exit(&[text(&before), "/nowhere.json"]), 2);
    // A run compared with itself: nothing differs, and it says that this was no comparison.
    assert_eq!(exit(&[text(&before), text(&before)]), 0);
    let said = stdout(&diff(&[text(&before), text(&before)]));
    assert!(said.contains("both are the same run"), "{said}");
}

#[test]
fn the_page_of_a_saved_difference_is_that_of_the_live_one() {
    let scratch = place("diff-page");
    let [before, after] = [("before.json.gz", ""), ("after.json", "file")]
        .map(|(name, more)| profile(&scratch, name, more));
    let [json, live, later] = ["d.json", "live.html", "later.html"].map(|name| scratch.path(name));
    let words = ["-q", text(&before), text(&after), "--json", text(&json), "--html", text(&live)];
    let output = diff(&words);
    assert_eq!((code(&output), stdout(&output)), (0, String::new()), "{}", stderr(&output));
    let mut report = Command::new(hotset());
    let output = report.args(["report", text(&json), "-o", text(&later)]).output().expect("hotset");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let [live, later] = [live, later].map(|path| fs::read_to_string(path).expect("a page"));
    assert!(live == later && live.contains("Which files differ?"), "two pages of one difference");
    let schema = include_str!("../../schema/diff-1.schema.json");
    assert_eq!(hotset_validate::violations(schema, &read_json(&json)), [""; 0]);
}

/// Where a counter is in a profile.
fn in_profile<'a>(profile: &'a Value, name: &str) -> &'a Value {
    let pointer = format!("/{}", name.replace('.', "/"));
    let of_run = profile.pointer(&pointer);
    of_run.or_else(|| profile.pointer(&format!("/totals{pointer}"))).unwrap_or(&Value::Null)
}

/// Compares what a recording of the command counts with the profile of the same execution. Says which counters were above 0.
fn compared_by_name(scratch: &Scratch, words: &[&str]) -> Vec<String> {
    let recorded = record(scratch, &[], words);
    let difference = difference(scratch, &recorded.path, &recorded.path);
    let mut compared = Vec::new();
    for one in difference["totals"].as_array().expect("totals") {
        let name = one["name"].as_str().expect("a name");
        let (seen, told) = (&one["before"], in_profile(&recorded.profile, name));
        // Times are of the calls in one, and of classes in the other.
        if !told.is_null() && one["unit"] != "ns" {
            assert_eq!(seen, told, "{name} of {words:?}");
            compared.extend((seen.as_u64() > Some(0)).then(|| name.to_owned()));
        }
    }
    compared
}

#[test]
fn a_recording_counts_under_the_names_of_its_profile_what_that_counts() {
    let scratch = place("diff-names");
    let program = format!("import os\nos.chdir({:?})\n{PROGRAM}", text(scratch.dir()));
    let compared = compared_by_name(&scratch, &["/usr/bin/python3", "-S", "-c", &program]);
    assert!(compared.len() > 10, "{compared:?}");
}

/// What exec reads of a program has a record of its own, and so has what a fault finds in a hole.
#[test]
fn a_recording_of_a_cold_program_counts_what_its_profile_counts() {
    let scratch = Scratch::new("diff-cold-names");
    let (program, holes) = (scratch.path("workload"), scratch.path("holes"));
    fs::copy(workload(), &program).expect("a copy");
    fs::File::open(&program).and_then(|copy| copy.sync_all()).expect("on the disk");
    fs::File::create(&holes).and_then(|file| file.set_len(2 * MIB)).expect("a file of holes");
    let data = scratch.file("data", 2 * MIB);
    for (case, file, counter) in [
        ("mmap-seq", &holes, "mmap.pages_read"),
        ("mmap-seq", &data, "mmap.pages_read"),
        ("write-partial", &data, "write.misses"),
        ("uring-mixed", &data, "read.misses"),
    ] {
        for cold in [&program, file] {
            evict_verified(cold);
        }
        let words = [text(&program), case, "--file", text(file)];
        let compared = compared_by_name(&scratch, &words);
        assert!(compared.iter().any(|name| name == counter), "{case}: {compared:?}");
    }
}
