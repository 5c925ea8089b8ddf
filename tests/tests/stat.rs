//! `hotset stat` as a user runs it: lines, forms, ends and refusals. What it counts: `truth_stat.rs`.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};

use hotset_tests::scratch::text;
use hotset_tests::watching::Watching;
use hotset_tests::{MIB, Scratch, Shell, as_nobody, hotset, number, stderr, with_default_signals};
use hotset_validate::violations;
use serde_json::Value;

const SIX: &str = "   TOTAL   MISSES     HITS  DIRTIES   BUFFERS_MB  CACHED_MB";

fn stat(words: &[&str]) -> Output {
    Command::new(hotset()).arg("stat").args(words).output().expect("hotset")
}

fn lines(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).expect("UTF-8").lines().map(str::to_owned).collect()
}

#[test]
fn a_wrong_interval_or_count_is_refused_with_the_accepted_range() {
    for bad in ["0", "-1", "0.05", "86401", "1e9", "99999999999999999999", "abc", "1d", "nan", ""] {
        let output = stat(&[bad, "1"]);
        assert_eq!(output.status.code(), Some(2), "{bad}: {}", stderr(&output));
        assert!(stderr(&output).contains("from 0.1 to 86400"), "{bad}: {}", stderr(&output));
        assert!(output.stdout.is_empty());
    }
    for bad in ["0", "-3", "many", "1.5"] {
        let output = stat(&["0.1", bad]);
        assert_eq!(output.status.code(), Some(2), "{bad}: {}", stderr(&output));
        assert!(stderr(&output).contains("from 1 to"), "{bad}: {}", stderr(&output));
    }
    for bad in [
        &["--json", "--csv"][..],
        &["--pid", "1", "--cgroup", "/"],
        &["--pid", "0"],
        &["1", "1", "1"],
    ] {
        assert_eq!(stat(bad).status.code(), Some(2), "{bad:?}");
    }
}

#[test]
fn as_many_lines_as_were_wanted_below_one_header() {
    let output = stat(&["0.1", "3"]);
    let lines = lines(&output);
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[0].starts_with(SIX), "{lines:?}");
    for line in &lines[1..] {
        let fields: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(fields.len(), 12, "{line}");
        let six: Vec<u64> =
            fields[..6].iter().map(|field| field.parse().expect("a number")).collect();
        assert_eq!(six[0], six[1] + six[2], "{line}");
        assert!(six[5] > 0, "something is cached: {line}");
        let ends = |line: &str| line.bytes().take(SIX.len()).filter(|byte| *byte == b' ').count();
        assert!(ends(line) > 6, "columns stand apart: {line}");
    }
    assert!(!stderr(&output).contains("pages read"), "no summary at the end of a count");
}

#[test]
fn a_time_stamp_stands_before_each_line() {
    let lines = lines(&stat(&["-T", "0.1", "1"]));
    assert!(lines[0].starts_with("TIME     ") && lines[0][9..].starts_with(SIX), "{lines:?}");
    let time: Vec<&str> = lines[1].split(' ').next().expect("a time").split(':').collect();
    assert!(time.len() == 3 && time.iter().all(|part| part.len() == 2), "{lines:?}");
}

#[test]
fn json_is_an_object_a_line_by_its_schema() {
    let schema = include_str!("../../schema/stat-1.schema.json");
    let lines = lines(&stat(&["--json", "0.1", "3"]));
    assert_eq!(lines.len(), 3);
    for line in lines {
        let line: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(violations(schema, &line), [""; 0]);
        assert_eq!(number(&line, "/hits") + number(&line, "/misses"), number(&line, "/total"));
        assert!(number(&line, "/cached_bytes") > 0 && line["seconds"].as_f64() > Some(0.0));
    }
}

#[test]
fn csv_has_a_header_and_as_many_fields() {
    let lines = lines(&stat(&["--csv", "0.1", "2"]));
    assert_eq!(lines.len(), 3);
    assert!(
        lines[0].starts_with("time,seconds,total,misses,hits,dirties,buffers_bytes,cached_bytes,")
    );
    let fields = |line: &str| line.split(',').count();
    assert!(lines.iter().all(|line| fields(line) == fields(&lines[0])), "{lines:?}");
}

/// A reader that has what it wanted ends it at once: this would wait for a day.
#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let mut command = Command::new(hotset());
    command.args(["stat", "86400"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("hotset");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut header = String::new();
    output.read_line(&mut header).expect("read");
    assert!(header.starts_with(SIX), "{header}");
    drop(output);
    let status = child.wait().expect("wait");
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("read");
    assert!(
        status.success() && !said.contains("pipe") && !said.contains("panic"),
        "{status}: {said}"
    );
}

#[test]
fn ctrl_c_ends_it_with_a_summary_of_everything_so_far() {
    let scratch = Scratch::new("stat-summary");
    let file = scratch.file("f", 4 * MIB);
    let mut shell = Shell::new();
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let mut command = Command::new(hotset());
        command.args(["stat", "--pid", &shell.pid().to_string(), "86400"]);
        with_default_signals(&mut command);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hotset");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        // The header says that the sensor is attached.
        output.read_line(&mut String::new()).expect("read");
        shell.run(&format!("cat {} >/dev/null", text(&file)));
        // SAFETY: has no preconditions; the child was not waited for, so the number is still its own.
        assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
        let mut said = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("read");
        assert!(child.wait().expect("wait").success(), "{said}");
        let summary = said.lines().find(|line| line.contains(" pages read")).expect("a summary");
        let pages =
            summary.split(" pages read").next().and_then(|line| line.split(' ').next_back());
        let pages: u64 = pages.expect("a number").replace(',', "").parse().expect("a number");
        // The file's, and a few of the program's own.
        assert!((1024..1100).contains(&pages), "{summary}");
        assert!(summary.contains(" in 0 intervals: "), "{summary}");
        let mut rest = String::new();
        output.read_to_string(&mut rest).expect("read");
        assert_eq!(rest, "", "a part of an interval is no line");
    }
    shell.end();
}

#[test]
fn a_process_that_ends_ends_it_with_its_last_line() {
    let scratch = Scratch::new("stat-gone");
    let file = scratch.file("f", MIB);
    let mut shell = Shell::new();
    let pid = shell.pid().to_string();
    let watching = Watching::start(&["--pid", &pid, "0.5"]);
    shell.run(&format!("cat {} >/dev/null", text(&file)));
    shell.end();
    let (lines, said) = watching.finish();
    assert!(hotset_tests::watching::sum(&lines, "total") >= MIB / 4096, "{lines:?}");
    assert!(said.contains(&format!("process {pid} has ended")), "{said}");
    assert!(lines[0]["cached_bytes"].is_null() && said.contains("no CACHED_MB"), "{said}");
}

#[test]
fn a_stopped_one_goes_on_with_a_longer_line_and_says_so() {
    let mut watching = Watching::start(&["0.1"]);
    watching.send(libc::SIGSTOP);
    // Six intervals.
    std::thread::sleep(std::time::Duration::from_millis(600));
    watching.send(libc::SIGCONT);
    watching.until_now();
    let (lines, said) = watching.end_by(libc::SIGINT);
    let late = lines.iter().map(|line| number(line, "/late_intervals")).max();
    assert!(late >= Some(5), "{lines:?}");
    assert!(said.contains("due earlier"), "{said}");
}

#[test]
fn what_does_not_exist_is_refused_by_its_name() {
    let scratch = Scratch::new("stat-missing");
    let mut gone = Command::new("true").spawn().expect("true");
    gone.wait().expect("wait");
    let pid = gone.id().to_string();
    let missing = scratch.path("no-group");
    for (words, name) in
        [(["--pid", &pid], pid.as_str()), (["--cgroup", text(&missing)], text(&missing))]
    {
        let output = stat(&words);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(name), "{words:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "no header where nothing follows");
    }
}

#[test]
fn another_user_is_told_what_would_help() {
    let scratch = Scratch::new("stat-nobody");
    let output = as_nobody(scratch.dir()).args(["stat", "0.1", "1"]).output().expect("unshare");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("CAP_BPF"), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
}
