//! `hotset.profile/1`: one run, by `hotset run` and `hotset attach`.
//!
//! Files and processes are written and read row by row, each an object with a `missing` of its own: a run over a large
//! tree has 30,000 of them.

use std::collections::BTreeMap;
use std::io;

use hotset_analysis::{DirectoryLookups, Finding, Gate, Severity, Summary};
use hotset_facts::format::Path;
use hotset_facts::{CostTable, FileRow, Observed, ProcessRow, Profile};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::findings::{NumberKey, SavingKeys, VerdictKeys, evidence_keys};
use super::observed::{Rows, from_object, to_object};
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
    write_rows("files", &profile.files, out)?;
    write_rows("processes", &profile.processes, out)?;
    out.write_all(b"}\n")
}

fn write_rows(key: &str, rows: &[impl Serialize], out: &mut dyn io::Write) -> io::Result<()> {
    write!(out, ",\"{key}\":[")?;
    for (at, row) in rows.iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        out.write_all(&to_object(row))?;
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
        files: Rows<FileRow>,
        processes: Rows<ProcessRow>,
        #[serde(flatten)]
        head: Map<String, Value>,
    }
    #[derive(Deserialize)]
    struct Rest {
        costs: Observed<CostTable>,
        gate: Gate,
        #[serde(flatten)]
        profile: Profile,
    }
    document.must_be(SCHEMA)?;
    let mut text = serde_json::Deserializer::from_str(document.text.get());
    let parts: Parts = serde_path_to_error::deserialize(&mut text)
        .map_err(|error| ReadError::in_part("", &error))?;
    let mut read: Rest = from_object(Value::Object(parts.head))?;
    read.profile.files = parts.files.0;
    read.profile.processes = parts.processes.0;
    let version = document.hotset.clone().into_owned();
    Ok(ProfileDocument { version, profile: read.profile, costs: read.costs, gate: read.gate })
}

/// All but the rows.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Head<'a> {
    #[serde(flatten)]
    profile: &'a Profile,
    /// What elementary operations cost on this host, in nanoseconds.
    costs: Observed<CostTable>,
    /// Which savings were worth a finding.
    gate: Gate,
    /// Directories with failed lookups, most failed first.
    lookups_by_directory: &'a [DirectoryLookups],
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

/// Code behind a finding.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FindingSiteKeys {
    /// The place of the call site in `sites.sites`.
    site: u32,
    /// Its part, 0 to 1.
    share: f64,
    /// What that is a share of.
    of: &'static str,
}

/// What a rule found.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FindingKeys<'a> {
    /// The rule; docs/rules.md explains it.
    rule: &'static str,
    severity: Severity,
    title: &'a str,
    /// The numbers that it rests on.
    evidence: BTreeMap<&'static str, NumberKey>,
    advice: &'a str,
    /// The files that it is about.
    files: Vec<Path>,
    saving_ns: SavingKeys,
    /// The code behind it, the largest part first; empty where call sites were not asked for.
    sites: Vec<FindingSiteKeys>,
}

impl<'a> From<&'a Finding> for FindingKeys<'a> {
    fn from(finding: &'a Finding) -> Self {
        Self {
            rule: finding.rule,
            severity: finding.severity,
            title: &finding.title,
            evidence: evidence_keys(&finding.evidence),
            advice: &finding.advice,
            files: finding.files.iter().map(Path::of).collect(),
            saving_ns: SavingKeys::from(&finding.saving),
            sites: finding
                .sites
                .iter()
                .map(|one| FindingSiteKeys { site: one.site, share: one.share, of: one.of })
                .collect(),
        }
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
    _files: Vec<super::schema_tests::Object<FileRow>>,
    /// Processes, in order of appearance.
    #[serde(rename = "processes")]
    _processes: Vec<super::schema_tests::Object<ProcessRow>>,
}
