//! `hotset.explanation/1`: findings of a recording, and what replays of it with their changes showed.

mod read;

use hotset_analysis::Severity;
use hotset_analysis::explain::{FileShare, Language, Proof, ProvedFinding, Setting};
use hotset_facts::format::Path;
use hotset_facts::trace::{Site, TraceHead};
use serde::Serialize;

use super::Envelope;
use super::findings::{NumberKey, SavingKeys, VerdictKeys};
use super::replay::Whole as Replays;
use crate::explain::ExplainedTrace;

pub use read::{ExplanationDocument, read_explanation};

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.explanation/1";

/// One line of JSON, schema `hotset.explanation/1`.
pub fn explanation_json(trace: &ExplainedTrace<'_>) -> Vec<u8> {
    let explained = trace.explained;
    let body = Whole {
        path: Path::of(&trace.path.map(std::path::Path::to_owned)),
        recording: trace.head,
        wall_ns: explained.wall_ns,
        io_ns: explained.io_ns,
        findings: explained.findings.iter().map(|finding| keys(finding, trace)).collect(),
        rules: explained.verdicts.iter().map(VerdictKeys::from).collect(),
        replays: explained.replays.as_ref().map(Replays::of),
    };
    Envelope::new(SCHEMA, body).to_line()
}

/// What the document holds beside its envelope.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Whole<'a> {
    /// The recording; null where it was not kept.
    #[serde(flatten)]
    path: Path<Option<String>>,
    /// What it says of itself.
    recording: &'a TraceHead,
    /// How long the run took.
    wall_ns: u64,
    /// How long its requests took; those of several threads add up.
    io_ns: u64,
    /// What is worth changing: what is proved first, the largest gain first.
    findings: Vec<FindingKeys<'a>>,
    /// What the other rules said.
    rules: Vec<VerdictKeys>,
    /// The replays; null where nothing was replayed.
    replays: Option<Replays<'a>>,
}

/// A finding with its proof.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FindingKeys<'a> {
    /// The rule; docs/explain.md explains it.
    rule: &'static str,
    severity: Severity,
    title: &'a str,
    /// The numbers that it rests on, those that tell most first.
    evidence: Vec<EvidenceKeys>,
    /// What the change would save, as estimated.
    saving_ns: SavingKeys,
    /// The files with most of it.
    files: Vec<FileKeys>,
    /// Other files that have a part in it.
    more_files: u64,
    /// The code behind it; empty where the recording has no call sites.
    sites: Vec<SiteKeys<'a>>,
    /// What `hotset replay --as` is told to prove it.
    changes: &'a [String],
    /// The variant of the replays that these were made in, by its place; null where it was not replayed.
    variant: Option<usize>,
    /// What the replay showed; null where there was none, or nothing may be claimed of it.
    proof: Option<&'a Proof>,
    /// Why it is not proved; null where it is.
    not_proved: Option<&'a str>,
    advice: &'a str,
    /// How that is done, by language.
    how: Vec<HowKeys<'a>>,
    /// What the change risks; null where it risks nothing.
    risks: Option<&'a str>,
    /// Settings of programs and disks that spare most of it without a change of code.
    settings: &'a [Setting],
}

/// A number that a finding rests on. A unit stands at the end of its name.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct EvidenceKeys {
    name: &'static str,
    value: NumberKey,
}

/// How something is done in a language.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct HowKeys<'a> {
    language: Language,
    text: &'a str,
}

/// A file with its part of a finding.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FileKeys {
    #[serde(flatten)]
    path: Path<Option<String>>,
    /// Records of it that the finding is about.
    records: u64,
    /// How long they took together.
    time_ns: u64,
}

impl From<&FileShare> for FileKeys {
    fn from(share: &FileShare) -> Self {
        Self { path: Path::of(&share.path), records: share.records, time_ns: share.time_ns }
    }
}

/// A call site with its part of a finding.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SiteKeys<'a> {
    #[serde(flatten)]
    site: &'a Site,
    /// Records of it that the finding is about.
    records: u64,
    /// How long they took together.
    time_ns: u64,
}

fn keys<'a>(proved: &'a ProvedFinding, trace: &ExplainedTrace<'a>) -> FindingKeys<'a> {
    let finding = &proved.finding;
    let sites = finding.sites.iter().filter_map(|share| {
        let site = trace.lists.site(share.site)?;
        Some(SiteKeys { site, records: share.records, time_ns: share.time_ns })
    });
    let evidence = finding
        .evidence
        .iter()
        .map(|evidence| EvidenceKeys { name: evidence.name, value: NumberKey::of(evidence.value) });
    let how = finding.how.iter();
    FindingKeys {
        rule: finding.rule,
        severity: finding.severity,
        title: &finding.title,
        evidence: evidence.collect(),
        saving_ns: SavingKeys::from(&finding.saving),
        files: finding.files.iter().map(FileKeys::from).collect(),
        more_files: finding.more_files,
        sites: sites.collect(),
        changes: &finding.changes,
        variant: proved.variant,
        proof: proved.proof.as_ref(),
        not_proved: proved.not_proved.as_deref(),
        advice: &finding.advice,
        how: how.map(|(language, text)| HowKeys { language: *language, text }).collect(),
        risks: finding.risks.as_deref(),
        settings: &finding.settings,
    }
}
