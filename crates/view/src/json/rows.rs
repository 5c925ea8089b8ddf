//! Files, processes, lookups and findings. What comes in lists is derived from a row when its turn comes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use hotset_analysis::{Finding, Number, Outcome, RuleVerdict, Summary};
use hotset_facts::{ExitStatus, FileKind, FileRow, LookupCounters, Observed, ProcessRow};
use serde::{Serialize, Serializer};

use super::counters::IoV1;

/// A list that is serialised item by item, from items made one at a time.
pub(super) struct List<F>(pub(super) F);

impl<F, I> Serialize for List<F>
where
    F: Fn() -> I,
    I: Iterator<Item: Serialize>,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// A path as text, and its bytes in hexadecimal where the text is not exact.
pub(crate) fn path_keys(path: &Path) -> (Cow<'_, str>, Option<String>) {
    let bytes = path.as_os_str().as_bytes();
    match std::str::from_utf8(bytes) {
        Ok(exact) => (exact.into(), None),
        Err(_) => {
            let hex = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            (path.to_string_lossy(), Some(hex))
        }
    }
}

/// What [`path_keys`] wrote; none where the hexadecimal text is none.
pub(crate) fn bytes_of(text: &str, hex: Option<&str>) -> Option<std::ffi::OsString> {
    use std::os::unix::ffi::OsStringExt as _;
    let Some(hex) = hex else { return Some(text.into()) };
    let pairs = hex.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    pairs.collect::<Option<Vec<u8>>>().map(std::ffi::OsString::from_vec)
}

pub(super) fn lossy(words: &[impl AsRef<OsStr>]) -> Vec<Cow<'_, str>> {
    words.iter().map(|word| word.as_ref().to_string_lossy()).collect()
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
pub(super) struct FileV1<'a> {
    path: Option<Cow<'a, str>>,
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

impl<'a> FileV1<'a> {
    pub(super) fn new(summary: &Summary, file: &'a FileRow) -> Self {
        let io = file.io.unpack();
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
            io: IoV1::new(&io, &summary.io_numbers(&io)),
        }
    }
}

#[derive(Serialize)]
pub(super) struct ProcessV1<'a> {
    pid: u32,
    ppid: u32,
    comm: &'a str,
    argv: Vec<Cow<'a, str>>,
    exit_code: Option<i32>,
    signal: Option<i32>,
    minor_faults: Option<u64>,
    major_faults: Option<u64>,
    lookups: CountersV1,
    #[serde(flatten)]
    io: IoV1,
}

impl<'a> ProcessV1<'a> {
    pub(super) fn new(summary: &Summary, process: &'a ProcessRow) -> Self {
        let (exit_code, signal) = exit_keys(process.exit);
        Self {
            pid: process.pid,
            ppid: process.ppid,
            comm: &process.comm,
            argv: lossy(&process.argv),
            exit_code,
            signal,
            minor_faults: process.minor_faults.value(),
            major_faults: process.major_faults.value(),
            lookups: CountersV1::new(process.lookups.value()),
            io: IoV1::new(&process.io, &summary.io_numbers(&process.io)),
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
struct FailedPath<'a> {
    path: Cow<'a, str>,
    path_hex: Option<String>,
    calls: u64,
}

#[derive(Serialize)]
struct Directory<'a> {
    directory: Cow<'a, str>,
    directory_hex: Option<String>,
    calls: Option<u64>,
    failed: u64,
}

/// The keys of the lookups.
pub(super) struct LookupsV1<'a>(pub(super) &'a Summary);

impl Serialize for LookupsV1<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Keys<P: Serialize, D: Serialize> {
            #[serde(flatten)]
            counters: CountersV1,
            failed_unnamed: Option<u64>,
            failed_paths: Option<P>,
            by_directory: Option<D>,
        }
        let lookups = self.0.profile.lookups.as_value();
        let failed_paths = lookups.map(|lookups| {
            List(|| {
                lookups.failed_paths.iter().map(|failed| {
                    let (path, path_hex) = path_keys(&failed.path);
                    FailedPath { path, path_hex, calls: failed.calls }
                })
            })
        });
        let by_directory = lookups.map(|_| {
            List(|| {
                self.0.by_directory.iter().map(|row| {
                    let (directory, directory_hex) = path_keys(&row.directory);
                    Directory {
                        directory,
                        directory_hex,
                        calls: row.calls.value(),
                        failed: row.failed,
                    }
                })
            })
        });
        let keys = Keys {
            counters: CountersV1::new(lookups.map(|lookups| lookups.counters)),
            failed_unnamed: lookups.map(|lookups| lookups.failed_unnamed),
            failed_paths,
            by_directory,
        };
        keys.serialize(serializer)
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
pub(super) struct FindingV1<'a> {
    rule: &'static str,
    severity: &'static str,
    title: &'a str,
    evidence: BTreeMap<&'static str, NumberV1>,
    advice: &'a str,
    files: Vec<Cow<'a, str>>,
    saving_ns: SavingV1,
}

impl<'a> From<&'a Finding> for FindingV1<'a> {
    fn from(finding: &'a Finding) -> Self {
        let number = |number| match number {
            Number::Count(count) => NumberV1::Count(count),
            // JSON has no infinity.
            Number::Real(real) => NumberV1::Real(Some(real).filter(|real| real.is_finite())),
        };
        let evidence = finding.evidence.iter().map(|e| (e.name, number(e.value))).collect();
        Self {
            rule: finding.rule,
            severity: finding.severity.as_str(),
            title: &finding.title,
            evidence,
            advice: &finding.advice,
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
