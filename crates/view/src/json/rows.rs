//! Files, processes, lookups and findings.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use hotset_analysis::{FileNumbers, Finding, IoNumbers, Number, Outcome, RuleVerdict, Summary};
use hotset_facts::{ExitStatus, FileKind, FileRow, LookupCounters, Observed, ProcessRow};
use serde::Serialize;

use super::io::IoV1;

/// A path as text, and its bytes in hexadecimal where the text is not exact.
pub(super) fn path_keys(path: &Path) -> (String, Option<String>) {
    let bytes = path.as_os_str().as_bytes();
    match std::str::from_utf8(bytes) {
        Ok(exact) => (exact.to_owned(), None),
        Err(_) => {
            let hex = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            (path.to_string_lossy().into_owned(), Some(hex))
        }
    }
}

pub(super) fn lossy(words: &[impl AsRef<OsStr>]) -> Vec<String> {
    words.iter().map(|word| word.as_ref().to_string_lossy().into_owned()).collect()
}

/// Exit code and signal; both null where it isn't known how it ended.
pub(super) fn exit_keys(exit: Observed<ExitStatus>) -> (Option<i32>, Option<i32>) {
    match exit {
        Observed::Value(ExitStatus::Code(code)) => (Some(code), None),
        Observed::Value(ExitStatus::Signal(signal)) => (None, Some(signal)),
        Observed::Missing(_) => (None, None),
    }
}

#[derive(Serialize)]
pub(super) struct FileV1 {
    path: Option<String>,
    path_hex: Option<String>,
    kind: &'static str,
    deleted: bool,
    dev: String,
    ino: u64,
    size_bytes: Option<u64>,
    cached_before: Option<u64>,
    cached_after: Option<u64>,
    opens: Option<u64>,
    evicted_pages: Option<u64>,
    processes: u32,
    #[serde(flatten)]
    io: IoV1,
}

impl FileV1 {
    pub(super) fn new(file: &FileRow, numbers: &FileNumbers) -> Self {
        let (path, path_hex) = match file.path.as_value() {
            Some(path) => {
                let (path, hex) = path_keys(path);
                (Some(path), hex)
            }
            None => (None, None),
        };
        Self {
            path,
            path_hex,
            kind: match file.kind {
                FileKind::Regular => "regular",
                FileKind::BlockDevice => "block_device",
                FileKind::Others => "others",
            },
            deleted: file.deleted,
            dev: file.id.dev.to_string(),
            ino: file.id.ino,
            size_bytes: file.size_bytes.value(),
            cached_before: file.cached_before.value(),
            cached_after: file.cached_after.value(),
            opens: file.opens.value(),
            evicted_pages: file.evicted_pages.value(),
            processes: file.processes,
            io: IoV1::new(&file.io, &numbers.io),
        }
    }
}

#[derive(Serialize)]
pub(super) struct ProcessV1 {
    pid: u32,
    ppid: u32,
    comm: String,
    argv: Vec<String>,
    exit_code: Option<i32>,
    signal: Option<i32>,
    minor_faults: Option<u64>,
    major_faults: Option<u64>,
    lookups: CountersV1,
    #[serde(flatten)]
    io: IoV1,
}

impl ProcessV1 {
    pub(super) fn new(process: &ProcessRow, numbers: &IoNumbers) -> Self {
        let (exit_code, signal) = exit_keys(process.exit);
        Self {
            pid: process.pid,
            ppid: process.ppid,
            comm: process.comm.clone(),
            argv: lossy(&process.argv),
            exit_code,
            signal,
            minor_faults: process.minor_faults.value(),
            major_faults: process.major_faults.value(),
            lookups: CountersV1::new(process.lookups.value()),
            io: IoV1::new(&process.io, numbers),
        }
    }
}

#[derive(Serialize)]
struct CountersV1 {
    calls: Option<u64>,
    failed: Option<u64>,
    time_ns: Option<u64>,
    failed_time_ns: Option<u64>,
}

impl CountersV1 {
    fn new(counters: Option<LookupCounters>) -> Self {
        Self {
            calls: counters.map(|c| c.calls),
            failed: counters.map(|c| c.failed),
            time_ns: counters.map(|c| c.time_ns),
            failed_time_ns: counters.map(|c| c.failed_time_ns),
        }
    }
}

#[derive(Serialize)]
struct FailedPath {
    path: String,
    path_hex: Option<String>,
    calls: u64,
}

#[derive(Serialize)]
struct Directory {
    directory: String,
    directory_hex: Option<String>,
    calls: Option<u64>,
    failed: u64,
}

#[derive(Serialize)]
pub(super) struct LookupsV1 {
    #[serde(flatten)]
    counters: CountersV1,
    failed_unnamed: Option<u64>,
    failed_paths: Option<Vec<FailedPath>>,
    by_directory: Option<Vec<Directory>>,
}

impl From<&Summary> for LookupsV1 {
    fn from(summary: &Summary) -> Self {
        let lookups = summary.profile.lookups.as_value();
        let failed_path = |failed: &hotset_facts::FailedLookup| {
            let (path, path_hex) = path_keys(&failed.path);
            FailedPath { path, path_hex, calls: failed.calls }
        };
        let directory = |row: &hotset_analysis::DirectoryLookups| {
            let (directory, directory_hex) = path_keys(&row.directory);
            Directory { directory, directory_hex, calls: row.calls.value(), failed: row.failed }
        };
        Self {
            counters: CountersV1::new(lookups.map(|l| l.counters)),
            failed_unnamed: lookups.map(|l| l.failed_unnamed),
            failed_paths: lookups.map(|l| l.failed_paths.iter().map(failed_path).collect()),
            by_directory: lookups.map(|_| summary.by_directory.iter().map(directory).collect()),
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum NumberV1 {
    Count(u64),
    Real(Option<f64>),
}

#[derive(Serialize)]
struct SavingV1 {
    low: u64,
    high: u64,
}

#[derive(Serialize)]
pub(super) struct FindingV1 {
    rule: &'static str,
    severity: &'static str,
    title: String,
    evidence: BTreeMap<&'static str, NumberV1>,
    advice: String,
    files: Vec<String>,
    saving_ns: SavingV1,
}

impl From<&Finding> for FindingV1 {
    fn from(finding: &Finding) -> Self {
        let number = |number| match number {
            Number::Count(count) => NumberV1::Count(count),
            // JSON has no infinity.
            Number::Real(real) => NumberV1::Real(Some(real).filter(|real| real.is_finite())),
        };
        let evidence = finding.evidence.iter().map(|e| (e.name, number(e.value))).collect();
        Self {
            rule: finding.rule,
            severity: finding.severity.as_str(),
            title: finding.title.clone(),
            evidence,
            advice: finding.advice.clone(),
            files: lossy(&finding.files),
            saving_ns: SavingV1 { low: finding.saving.low_ns, high: finding.saving.high_ns },
        }
    }
}

#[derive(Serialize)]
pub(super) struct VerdictV1 {
    rule: &'static str,
    verdict: &'static str,
    reason: Option<String>,
}

impl From<&RuleVerdict> for VerdictV1 {
    fn from(verdict: &RuleVerdict) -> Self {
        let (word, reason) = match verdict.outcome {
            Outcome::Clear => ("clear", None),
            Outcome::NotEnoughData(reason) => ("not_enough_data", Some(reason.to_string())),
        };
        Self { rule: verdict.rule, verdict: word, reason }
    }
}
