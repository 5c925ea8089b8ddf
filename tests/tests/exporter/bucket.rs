//! `hotset export --parquet s3://…`: with a real server, and what can go wrong on the way to it.
//!
//! Those that need the server are ignored by `make test`, which has no JVM for it; `make test-fleet` runs them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use hotset_tests::exporter::{Exporter, value};
use hotset_tests::s3::{ACCESS_KEY, Fault, Faults, ObjectServer, SECRET_KEY};
use hotset_tests::scratch::text;
use hotset_tests::{Scratch, code, hotset, stderr, until, until_within};

use super::fleet::{Row, files_below, number, rows_of, sum};

/// A host that writes to a bucket.
struct Host {
    scratch: Scratch,
    secret: String,
}

impl Host {
    fn new(name: &str) -> Self {
        crate::fleet::leave_the_end_of_the_hour();
        Self { scratch: Scratch::new(name), secret: SECRET_KEY.to_owned() }
    }

    fn spool(&self) -> PathBuf {
        self.scratch.path("spool")
    }

    fn command(&self, root: &str, endpoint: &str) -> Command {
        let mut command = Command::new(hotset());
        command.args(["export", "--listen", "127.0.0.1:0", "--interval", "0.2"]);
        command.args(["--parquet", root, "--spool", text(&self.spool())]);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("AWS_") {
                command.env_remove(name);
            }
        }
        command.env("HOME", self.scratch.dir()).env("AWS_EC2_METADATA_DISABLED", "true");
        command.env("AWS_ACCESS_KEY_ID", ACCESS_KEY).env("AWS_SECRET_ACCESS_KEY", &self.secret);
        command.env("AWS_ENDPOINT_URL", endpoint);
        command
    }

    fn export(&self, endpoint: &str) -> Exporter {
        Exporter::start_command(self.command("s3://fleet/team=a", endpoint))
    }

    fn waiting(&self) -> usize {
        files_below(&self.spool().join("ready")).len()
    }
}

fn rows(server: &ObjectServer, table: &str) -> Vec<Row> {
    let files = files_below(&server.bucket().join("team=a").join(table).join("v=1"));
    files.iter().flat_map(|file| rows_of(file)).collect()
}

/// Every interval is there, and none twice.
fn assert_whole(rows: &[Row]) {
    let mut seen = BTreeSet::new();
    for row in rows {
        assert!(seen.insert((number(row, "session"), number(row, "sequence"))), "twice: {row:?}");
    }
    for session in seen.iter().map(|(session, _)| *session).collect::<BTreeSet<_>>() {
        let sequence: Vec<u64> =
            seen.iter().filter(|(of, _)| *of == session).map(|(_, sequence)| *sequence).collect();
        assert_eq!(sequence, (0..sequence.len() as u64).collect::<Vec<_>>());
    }
}

fn waits_for(exporter: &Exporter, what: &str, word: &str) {
    until(what, || exporter.said().contains(word).then_some(()));
}

#[test]
#[ignore = "needs a JVM: make test-fleet"]
fn a_buckets_rows_are_what_the_exporter_counted() {
    let server = ObjectServer::start("bucket-rows");
    let host = Host::new("bucket-rows-host");
    let exporter = host.export(&format!("http://127.0.0.1:{}", server.port()));
    exporter.settle();
    let metrics = exporter.metrics();
    let counted = |series: &str| value(&metrics, series).expect(series) as u64;
    let samples = counted("hotset_samples_total");
    let (status, said) = exporter.stop_with_words();
    assert!(status.success(), "{said}");
    assert!(!said.contains("files wait"), "{said}");
    assert_eq!(host.waiting(), 0);
    let hosts = rows(&server, "host");
    assert_whole(&hosts);
    for (column, series) in [
        ("read_calls", "hotset_read_calls_total"),
        ("read_bytes", "hotset_read_bytes_total"),
        ("write_calls", "hotset_write_calls_total"),
    ] {
        let before = |row: &Row| number(row, "sequence") < samples;
        assert_eq!(sum(&hosts, column, before), counted(series), "{column}");
        let all = |_: &Row| true;
        assert_eq!(
            sum(&hosts, column, all),
            sum(&rows(&server, "group_interval"), column, all),
            "{column}"
        );
    }
    read_by_other_tools(&server, sum(&hosts, "read_calls", |_| true), hosts.len());
}

/// What others read through the server is the same.
fn read_by_other_tools(server: &ObjectServer, read_calls: u64, intervals: usize) {
    let python = std::env::var_os("HOTSET_FLEET_PYTHON").expect("HOTSET_FLEET_PYTHON");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/fleet/read.py");
    let mut command = Command::new(python);
    command.arg(script).arg(format!("127.0.0.1:{}", server.port()));
    command.args([ACCESS_KEY, SECRET_KEY, "fleet/team=a"]);
    let output = command.output().expect("python");
    assert!(output.status.success(), "{}", stderr(&output));
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.trim(), format!("{intervals} {read_calls}"));
}

#[test]
#[ignore = "needs a JVM: make test-fleet"]
fn every_fault_is_told_and_nothing_is_lost_or_there_twice() {
    let server = ObjectServer::start("bucket-faults");
    let faults = [
        Fault::Refused(503, "SlowDown"),
        Fault::Cut,
        Fault::AnswerLost,
        Fault::Damaged,
        Fault::Slow(Duration::from_secs(3)),
        Fault::Refused(403, "AccessDenied"),
        Fault::Refused(500, "InternalError"),
    ];
    let count = faults.len();
    let faults = faults.into_iter().flat_map(|fault| [fault, Fault::Passed]).collect();
    let before = Faults::before(server.port(), faults);
    let host = Host::new("bucket-faults-host");
    // Files of sessions that reached nobody, which the last one delivers.
    for _ in 0..3 {
        let first = host.export("http://127.0.0.1:1");
        first.settle();
        assert!(first.stop().success());
    }
    let left = host.waiting();
    assert!(left > count, "{left}");
    let second = host.export(&before.url());
    // Each failure makes the pauses longer.
    let begun = Instant::now();
    while !before.are_over() || host.waiting() > 0 {
        assert!(begun.elapsed() < Duration::from_secs(120), "{}", second.said());
        std::thread::sleep(Duration::from_millis(100));
    }
    let failures = second.value("hotset_parquet_delivery_failures_total").expect("failures");
    assert!(failures >= (count - 1) as f64, "{failures}");
    second.settle();
    assert_eq!(second.value("hotset_parquet_waiting_files"), Some(0.0));
    let delivered = r#"hotset_parquet_files_total{result="delivered"}"#;
    assert!(second.value(delivered) >= Some(left as f64));
    let (status, said) = second.stop_with_words();
    assert!(status.success(), "{said}");
    for word in ["SlowDown", "AccessDenied", "s3:PutObject", "InternalError", "arrived damaged"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert!(said.contains("fleet/team=a/") && said.contains("delivered again"), "{said}");
    assert!(!said.contains(SECRET_KEY) && !said.contains("Signature"), "{said}");
    assert_whole(&rows(&server, "host"));
    let puts = before.requests().iter().filter(|line| line.starts_with("PUT ")).count();
    let objects = files_below(&server.bucket().join("team=a")).len();
    assert!(puts >= objects + count - 1, "{puts} for {objects}");
}

#[test]
#[ignore = "needs a JVM: make test-fleet"]
fn a_server_that_dies_and_comes_back_has_all_in_the_end() {
    let mut server = ObjectServer::start("bucket-outage");
    let endpoint = format!("http://127.0.0.1:{}", server.port());
    let host = Host::new("bucket-outage-host");
    assert!(host.export(&endpoint).stop().success());
    server.kill();
    let during = host.export(&endpoint);
    during.settle();
    let (status, said) = during.stop_with_words();
    assert!(status.success() && said.contains("files wait in"), "{said}");
    assert!(host.waiting() > 0);
    let after = host.export(&endpoint);
    waits_for(&after, "an outage", "files wait in");
    server.restart();
    // The longer the server takes to start, the longer is the pause before the next try.
    let patience = Duration::from_secs(120);
    until_within(patience, "the end of the outage", || (host.waiting() == 0).then_some(()));
    waits_for(&after, "its end", "delivered again");
    assert!(after.stop().success());
    let hosts = rows(&server, "host");
    assert_whole(&hosts);
    let sessions: BTreeSet<u64> = hosts.iter().map(|row| number(row, "session")).collect();
    assert_eq!(sessions.len(), 3);
}

#[test]
#[ignore = "needs a JVM: make test-fleet"]
fn wrong_keys_and_buckets_are_told_at_once() {
    let server = ObjectServer::start("bucket-rights");
    let endpoint = format!("http://127.0.0.1:{}", server.port());
    let mut host = Host::new("bucket-rights-host");
    let exporter = Exporter::start_command(host.command("s3://elsewhere", &endpoint));
    waits_for(&exporter, "an answer", "no bucket elsewhere");
    assert!(exporter.stop().success());
    host.secret = "another/secret".to_owned();
    let exporter = host.export(&endpoint);
    waits_for(&exporter, "an answer", "SignatureDoesNotMatch");
    let (status, said) = exporter.stop_with_words();
    assert!(status.success() && !said.contains("another/secret"), "{said}");
    assert!(host.waiting() > 0);
    let mut command = host.command("s3://fleet", &endpoint);
    command.env("AWS_ACCESS_KEY_ID", "AKOTHER");
    let exporter = Exporter::start_command(command);
    waits_for(&exporter, "an answer", "does not know the access key of AWS_ACCESS_KEY_ID");
    assert!(exporter.stop().success());
}

#[test]
fn a_bucket_that_can_not_be_reached_keeps_nobody_from_counting() {
    let host = Host::new("bucket-nowhere");
    let exporter = host.export("http://127.0.0.1:1");
    waits_for(&exporter, "the failure", "s3://fleet/team=a: ");
    exporter.settle();
    let metrics = exporter.metrics();
    let of = |series: &str| value(&metrics, series).expect(series);
    assert!(of("hotset_parquet_delivery_failures_total") >= 1.0);
    assert_eq!(of("hotset_parquet_waiting_files"), 0.0, "no period has ended");
    assert_eq!(value(&metrics, "hotset_parquet_last_delivery_timestamp_seconds"), None);
    let (status, said) = exporter.stop_with_words();
    assert!(status.success(), "{said}");
    assert_eq!(said.matches("refused").count(), 1, "{said}");
    assert!(said.contains("files wait in") && !said.contains(SECRET_KEY), "{said}");
    assert!(host.waiting() > 0);
}

fn refused(command: &mut Command) -> (i32, String) {
    let output: Output = command.output().expect("hotset");
    (code(&output), stderr(&output))
}

#[test]
fn a_bucket_that_can_not_be_meant_is_refused_at_once() {
    let host = Host::new("bucket-refused");
    for (root, word) in [
        ("s3://", "the bucket is missing"),
        ("s3a://fleet", "s3://fleet"),
        ("s3://fleet?region=x", "AWS_REGION"),
        ("gs://fleet", "gs:// is not supported"),
    ] {
        let (code, said) = refused(&mut host.command(root, "http://127.0.0.1:1"));
        assert!(code == 2 && said.contains(word) && said.contains(root), "{said}");
    }
    let (code, said) = refused(&mut host.command("s3://fleet", "nowhere"));
    assert!(code == 1 && said.contains("AWS_ENDPOINT_URL: expected"), "{said}");
}
