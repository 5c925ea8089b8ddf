use super::profile::SCHEMA;
use super::schema_tests::refused;
use super::{documents, read_profile, write_profile_json};
use crate::results::profile_page;
use crate::testing::*;
use hotset_analysis::{Summary, summarise};
use serde_json::Value;

type TestResult = Result<(), Box<dyn std::error::Error>>;

fn parsed(summary: &Summary) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(&json(summary))
}

fn json(summary: &Summary) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to memory does not fail.
    let _ = write_profile_json(summary, &mut bytes);
    bytes
}

fn runs() -> [(&'static str, Summary); 7] {
    [
        ("three files", summary(three_files())),
        ("call sites", summary(with_sites())),
        ("many files", summary(many_files(300))),
        ("losses", summary(lossy())),
        ("nasty names", summary(nasty_names())),
        ("unprivileged", summary(unprivileged())),
        ("everything missing", summary_without_costs(everything_missing())),
    ]
}

#[test]
fn every_kind_of_run_fits_the_schema() -> TestResult {
    for (name, summary) in runs() {
        let errors = refused(SCHEMA, &json(&summary))?;
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
    Ok(())
}

#[test]
fn what_was_written_is_read_back_whole() -> TestResult {
    for (name, summary) in runs() {
        let bytes = json(&summary);
        let documents = documents(&bytes)?;
        let [document] = &documents[..] else { panic!("{name}: one document") };
        let read = read_profile(document)?;
        assert_eq!(read.profile, summary.profile, "{name}");
        let version = read.version;
        let again = summarise(read.profile, read.costs, read.gate);
        assert_eq!(json(&again), bytes, "{name}: the bytes");
        let live = profile_page(super::VERSION, &summary);
        assert_eq!(profile_page(&version, &again), live, "{name}: the page");
    }
    Ok(())
}

#[test]
fn the_schema_rejects_what_is_wrong() -> TestResult {
    let good = parsed(&summary(three_files()))?;
    type Breakage = fn(&mut Value);
    let breakages: [(&str, Breakage); 8] = [
        ("other schema", |json| json["schema"] = "hotset.profile/2".into()),
        ("key left out", |json| {
            json["totals"]["read"].as_object_mut().map(|read| read.remove("pages"));
        }),
        ("unknown key", |json| json["files"][0]["colour"] = 1.into()),
        ("negative count", |json| json["totals"]["sync"]["calls"] = (-1).into()),
        ("number as text", |json| json["command"]["wall_ns"] = "12".into()),
        ("unknown severity", |json| json["findings"][0]["severity"] = "fatal".into()),
        ("local time", |json| json["started_at"] = "2026-07-25T19:20:00+02:00".into()),
        ("odd digits", |json| json["files"][0]["path_hex"] = "abc".into()),
    ];
    for (name, break_it) in breakages {
        let mut json = good.clone();
        break_it(&mut json);
        assert!(!refused(SCHEMA, &serde_json::to_vec(&json)?)?.is_empty(), "{name}");
    }
    Ok(())
}

#[test]
fn values_arrive_where_they_belong() -> TestResult {
    let json = parsed(&summary(three_files()))?;
    assert_eq!(json["schema"], "hotset.profile/1");
    assert_eq!(json["started_at"], "2026-07-25T17:20:00.123Z");
    assert_eq!(json["files"][0]["dev"], "253:0");
    assert_eq!(json["files"][0]["path_hex"], Value::Null);
    let read = &json["totals"]["read"];
    let number = |name: &str| read[name].as_u64().unwrap_or(u64::MAX);
    assert_eq!(number("pages"), number("hits") + number("misses"));
    assert_eq!(number("pages"), number("from_cache") + number("from_device") + number("zeros"));
    let buckets = read["size_histogram"].as_array().map_or(0, Vec::len);
    assert!((1..12).contains(&buckets), "those without calls are left out: {read}");
    assert_eq!(json["command"]["exit_code"], 0);
    assert_eq!(json["lookups_by_directory"][0]["directory"], "/usr/lib/python313.zip");
    let finding = &json["findings"][0];
    assert_eq!(finding["evidence"]["saving_ns_high"], finding["saving_ns"]["high"]);
    Ok(())
}

#[test]
fn missing_is_null_and_not_zero() -> TestResult {
    let json = parsed(&summary(unprivileged()))?;
    assert_eq!(json["totals"]["read"]["pages"], Value::Null);
    assert_eq!(json["totals"]["read"], Value::Null);
    assert_eq!(json["lookups"], Value::Null);
    assert_eq!(json["sensor"]["level"], "unprivileged");
    assert_eq!(json["verdicts"][0]["verdict"], "not_enough_data");
    Ok(())
}

#[test]
fn a_name_that_is_no_text_keeps_its_bytes() -> TestResult {
    let json = parsed(&summary(nasty_names()))?;
    assert_eq!(json["files"][0]["path"], "/tmp/two\nlines\tand\u{1b}[31mred\u{7}");
    assert_eq!(json["files"][1]["path"], "/tmp/bad-\u{fffd}\u{fffd}-utf8");
    assert_eq!(json["files"][1]["path_hex"], "2f746d702f6261642dfffe2d75746638");
    assert_eq!(json["files"][6]["path"], Value::Null);
    assert_eq!(json["command"]["signal"], 11);
    Ok(())
}

#[test]
fn a_writer_that_fails_says_why() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let summary = summary(three_files());
    let whole = json(&summary).len();
    assert!(write_profile_json(&summary, &mut Full(whole)).is_ok());
    for room in [0, 1, whole / 2, whole - 1] {
        let error = write_profile_json(&summary, &mut Full(room)).map_err(|error| error.kind());
        assert_eq!(error, Err(std::io::ErrorKind::StorageFull));
    }
}

#[test]
fn time_that_was_not_measured_is_null() -> TestResult {
    let json = parsed(&summary(lossy()))?;
    assert_eq!(json["totals"]["time"]["fault_ns"], Value::Null);
    assert!(json["totals"]["time"]["miss_ns"].is_u64());
    Ok(())
}
