//! `hotset.profile/1`: one run, by `hotset run` and `hotset attach`.
//!
//! Files and processes are written and read row by row, each an object with a `missing` of its own: a run over a large
//! tree has 30,000 of them.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use hotset_analysis::{
    DirectoryLookups, Evidence, Finding, Gate, Number, Outcome, RuleVerdict, Severity, Summary,
};
use hotset_facts::{
    Command, CostTable, Environment, FailedLookup, FileId, FileKind, FileRow, Io, LookupCounters,
    Lookups, Observed, PackedIo, ProcessRow, Profile, Sensor,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::adapt::{List, Owned, Wire, by, remote};
use super::environment::{EnvironmentDef, FileIdDef, Time};
use super::io::{IoDef, PackedIoDef};
use super::observed::{Null, Rows, from_object, to_object};
use super::path::{Directory, ObservedPath, Path};
use super::process::{CommandDef, LookupCountersDef, ProcessDef, SensorKeys};
use super::{Document, Envelope, ReadError};

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.profile/1";

/// Writes one run as a line of JSON, schema `hotset.profile/1`, with a line end: row by row, in many small writes, so
/// give it a buffer. What it needs itself does not grow with the run.
///
/// # Errors
/// As `out` gives them.
pub fn write_profile_json(summary: &Summary, out: &mut dyn io::Write) -> io::Result<()> {
    let profile = &summary.profile;
    let mut head = to_object(&Envelope::new(SCHEMA, Head::of(summary)));
    head.pop();
    out.write_all(&head)?;
    write_rows::<FileDef>("files", &profile.files, out)?;
    write_rows::<ProcessDef>("processes", &profile.processes, out)?;
    out.write_all(b"}\n")
}

fn write_rows<W: Wire>(key: &str, rows: &[W::Fact], out: &mut dyn io::Write) -> io::Result<()> {
    write!(out, ",\"{key}\":[")?;
    for (at, row) in rows.iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        out.write_all(&to_object(&by::<W>(row)))?;
    }
    out.write_all(b"]")
}

/// A profile, and what its findings were derived with.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileDocument {
    /// The version of hotset that wrote it.
    pub version: String,
    /// What was observed.
    pub profile: Profile,
    /// What elementary operations cost on that host.
    pub costs: Observed<CostTable>,
    /// Which savings were worth a finding.
    pub gate: Gate,
}

/// What [`write_profile_json`] wrote.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_profile(document: &Document<'_>) -> Result<ProfileDocument, ReadError> {
    #[derive(Deserialize)]
    struct Parts {
        files: Rows<Owned<FileDef>>,
        processes: Rows<Owned<ProcessDef>>,
        #[serde(flatten)]
        head: Map<String, Value>,
    }
    #[derive(Deserialize)]
    struct Rest {
        #[serde(with = "Null::<CostsDef>")]
        costs: Observed<CostTable>,
        #[serde(with = "GateDef")]
        gate: Gate,
        #[serde(flatten, with = "ProfileDef")]
        profile: Profile,
    }
    document.must_be(SCHEMA)?;
    let mut text = serde_json::Deserializer::from_str(document.text.get());
    let parts: Parts = serde_path_to_error::deserialize(&mut text)
        .map_err(|error| ReadError::in_part("", &error))?;
    let mut read: Rest = from_object(Value::Object(parts.head))?;
    read.profile.files = parts.files.0.into_iter().map(|row| row.0).collect();
    read.profile.processes = parts.processes.0.into_iter().map(|row| row.0).collect();
    let version = document.hotset.clone().into_owned();
    Ok(ProfileDocument { version, profile: read.profile, costs: read.costs, gate: read.gate })
}

/// All but the rows.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Head<'a> {
    #[serde(flatten, with = "ProfileDef")]
    profile: &'a Profile,
    /// What elementary operations cost on this host, in nanoseconds.
    #[serde(with = "Null::<CostsDef>")]
    costs: Observed<CostTable>,
    /// Which savings were worth a finding.
    #[serde(with = "GateDef")]
    gate: Gate,
    /// Directories with failed lookups, most failed first.
    #[serde(with = "List::<DirectoryDef>")]
    lookups_by_directory: &'a Vec<DirectoryLookups>,
    /// What should be changed, the largest saving first, information last.
    findings: Vec<FindingKeys<'a>>,
    /// The rules that found nothing, and those that could not tell.
    verdicts: Vec<VerdictKeys>,
}

impl<'a> Head<'a> {
    fn of(summary: &'a Summary) -> Self {
        Self {
            profile: &summary.profile,
            costs: summary.costs,
            gate: summary.gate,
            lookups_by_directory: &summary.by_directory,
            findings: summary.findings.iter().map(FindingKeys::from).collect(),
            verdicts: summary.verdicts.iter().map(VerdictKeys::from).collect(),
        }
    }
}

/// A run. Its rows are written after it.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Profile")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ProfileDef {
    /// When the observation began: RFC 3339, UTC.
    #[serde(with = "Time")]
    started_at: SystemTime,
    #[serde(with = "EnvironmentDef")]
    environment: Environment,
    #[serde(with = "CommandDef")]
    command: Command,
    #[serde(with = "SensorKeys")]
    sensor: Sensor,
    /// The sum of all rows.
    #[serde(with = "IoDef")]
    totals: Io,
    #[serde(skip)]
    files: Vec<FileRow>,
    #[serde(skip)]
    processes: Vec<ProcessRow>,
    #[serde(with = "Null::<LookupsDef>")]
    lookups: Observed<Lookups>,
}

/// A file.
#[derive(Serialize, Deserialize)]
#[serde(remote = "FileRow")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FileDef {
    #[serde(flatten, with = "ObservedPath")]
    path: Observed<PathBuf>,
    #[serde(with = "FileKindDef")]
    kind: FileKind,
    /// It had no name left when it was first seen.
    deleted: bool,
    #[serde(flatten, with = "FileIdDef")]
    id: FileId,
    /// Its size when last seen.
    #[serde(with = "Null::<u64>")]
    size_bytes: Observed<u64>,
    /// Pages that were cached when the run first touched it.
    #[serde(with = "Null::<u64>")]
    cached_before: Observed<u64>,
    /// Pages that were cached when the report was made.
    #[serde(with = "Null::<u64>")]
    cached_after: Observed<u64>,
    /// Successful opens.
    #[serde(with = "Null::<u64>")]
    opens: Observed<u64>,
    /// Pages of it that were evicted during the run.
    #[serde(with = "Null::<u64>")]
    evicted_pages: Observed<u64>,
    /// Processes that touched it.
    processes: u32,
    #[serde(flatten, with = "PackedIoDef")]
    io: PackedIo,
}

/// What stands behind a row: `others` for all files beyond the table's bound.
#[derive(Serialize, Deserialize)]
#[serde(remote = "FileKind", rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) enum FileKindDef {
    Regular,
    BlockDevice,
    Others,
}

/// All lookups of a run.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Lookups")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LookupsDef {
    #[serde(flatten, with = "LookupCountersDef")]
    counters: LookupCounters,
    /// Failed lookups whose path was not kept: the ring was full, or the table of paths was.
    failed_unnamed: u64,
    /// Failed paths, most asked for first.
    #[serde(with = "List::<FailedLookupDef>")]
    failed_paths: Vec<FailedLookup>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "FailedLookup")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FailedLookupDef {
    /// Absolute where its base was known, else as the program gave it.
    #[serde(flatten, with = "Path")]
    path: PathBuf,
    /// How often it was asked for.
    calls: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "CostTable")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CostsDef {
    /// An empty system call.
    syscall_ns: f64,
    /// pread of 4 bytes.
    read_4b_ns: f64,
    /// pread of 4 KiB.
    read_4k_ns: f64,
    /// pread of 64 KiB.
    read_64k_ns: f64,
    /// write of 4 bytes.
    write_4b_ns: f64,
    /// write of 4 KiB.
    write_4k_ns: f64,
    /// write of 64 KiB.
    write_64k_ns: f64,
    /// stat of a path that exists.
    stat_ns: f64,
    /// stat of a path that does not exist.
    stat_enoent_ns: f64,
    /// open and close of a path that exists.
    open_close_ns: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Gate")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct GateDef {
    /// Share of the wall time, 0 to 1.
    min_share_of_wall: f64,
    /// Nanoseconds per run that are worth it whatever their share.
    min_saving_ns: u64,
    /// Nanoseconds per run below which no share is worth it.
    floor_ns: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "DirectoryLookups")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct DirectoryDef {
    #[serde(flatten, with = "Directory")]
    directory: PathBuf,
    /// Lookups in it whose outcome was kept by path; a lower bound.
    #[serde(with = "Null::<u64>")]
    calls: Observed<u64>,
    /// Lookups that failed.
    failed: u64,
}

remote!(
    FileDef => FileRow, LookupsDef => Lookups, FailedLookupDef => FailedLookup,
    CostsDef => CostTable, DirectoryDef => DirectoryLookups,
);

/// A count, or another number; null where it is none, such as infinity.
#[derive(Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum NumberKey {
    Count(u64),
    Real(Option<f64>),
}

/// What the change would save, at least and at most.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SavingKeys {
    low: u64,
    high: u64,
}

/// What a rule found.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FindingKeys<'a> {
    /// The rule; docs/rules.md explains it.
    rule: &'static str,
    #[serde(with = "SeverityDef")]
    severity: Severity,
    title: &'a str,
    /// The numbers that it rests on.
    evidence: BTreeMap<&'static str, NumberKey>,
    advice: &'a str,
    /// The files that it is about.
    #[serde(with = "List::<Path>")]
    files: &'a Vec<PathBuf>,
    saving_ns: SavingKeys,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Severity", rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum SeverityDef {
    Info,
    Warning,
    Critical,
}

impl<'a> From<&'a Finding> for FindingKeys<'a> {
    fn from(finding: &'a Finding) -> Self {
        let number = |evidence: &Evidence| match evidence.value {
            Number::Count(count) => NumberKey::Count(count),
            Number::Real(real) => NumberKey::Real(Some(real)),
        };
        Self {
            rule: finding.rule,
            severity: finding.severity,
            title: &finding.title,
            evidence: finding.evidence.iter().map(|one| (one.name, number(one))).collect(),
            advice: &finding.advice,
            files: &finding.files,
            saving_ns: SavingKeys { low: finding.saving.low_ns, high: finding.saving.high_ns },
        }
    }
}

/// A rule that found nothing.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct VerdictKeys {
    rule: &'static str,
    verdict: VerdictWord,
    /// What was missing, where it could not tell.
    reason: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum VerdictWord {
    Clear,
    NotEnoughData,
}

impl From<&RuleVerdict> for VerdictKeys {
    fn from(verdict: &RuleVerdict) -> Self {
        let (word, reason) = match verdict.outcome {
            Outcome::Clear => (VerdictWord::Clear, None),
            Outcome::NotEnoughData(reason) => {
                (VerdictWord::NotEnoughData, Some(reason.to_string()))
            }
        };
        Self { rule: verdict.rule, verdict: word, reason }
    }
}

/// The whole, for its schema.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
pub(crate) struct Whole {
    #[serde(flatten)]
    _head: Envelope<'static, Head<'static>>,
    /// Files, most from the device first.
    #[serde(rename = "files")]
    _files: Vec<super::schema_tests::Object<FileDef>>,
    /// Processes, in order of appearance.
    #[serde(rename = "processes")]
    _processes: Vec<super::schema_tests::Object<ProcessDef>>,
}
