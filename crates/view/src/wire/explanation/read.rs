//! A saved explanation: findings as they were found, and what replays prove of them, derived anew.

use std::path::PathBuf;

use hotset_analysis::explain::{
    Attempt, Explained, Explanation, FileShare, Language, Setting, TraceFinding, TraceSiteShare,
    explained,
};
use hotset_analysis::replay::summarise_replay;
use hotset_analysis::{Evidence, Saving, Severity};
use hotset_facts::format::{Path, constant, required};
use hotset_facts::replay::ReplaySession;
use hotset_facts::trace::{Site, SiteIndex, TraceHead, TraceLists};
use serde::Deserialize;

use super::SCHEMA;
use crate::explain::ExplainedTrace;
use crate::wire::findings::{NumberKey, SavingKeys, VerdictKeys};
use crate::wire::{Document, ReadError};

/// A saved explanation.
#[derive(Debug, Clone)]
pub struct ExplanationDocument {
    path: Option<PathBuf>,
    head: TraceHead,
    lists: TraceLists,
    explained: Explained,
}

impl ExplanationDocument {
    /// As a live one is shown.
    pub fn trace(&self) -> ExplainedTrace<'_> {
        ExplainedTrace {
            path: self.path.as_deref(),
            head: &self.head,
            lists: &self.lists,
            explained: &self.explained,
        }
    }
}

/// What [`super::explanation_json`] wrote.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_explanation(document: &Document<'_>) -> Result<ExplanationDocument, ReadError> {
    let Whole { path, recording, wall_ns, io_ns, findings, rules, replays } =
        document.read(SCHEMA)?;
    let mut lists = TraceLists::default();
    let mut attempts = Vec::with_capacity(findings.len());
    let mut found = Vec::with_capacity(findings.len());
    for (at, finding) in findings.into_iter().enumerate() {
        attempts.push(finding.attempt().map_err(|error| error.inside(&format!("findings[{at}]")))?);
        found.push(finding.finding(wall_ns, &mut lists));
    }
    let verdict = |(at, rule): (usize, &VerdictKeys)| {
        rule.verdict().map_err(|error| error.inside(&format!("rules[{at}]")))
    };
    let verdicts = rules.iter().enumerate().map(verdict).collect::<Result<_, _>>()?;
    let replays = replays.map(|session| {
        let version = document.hotset.clone().into_owned();
        summarise_replay(ReplaySession { version, ..session })
    });
    let explanation = Explanation { wall_ns, io_ns, findings: found, verdicts };
    Ok(ExplanationDocument {
        path,
        head: recording,
        lists,
        explained: explained(explanation, attempts, replays),
    })
}

/// What is read of a document.
#[derive(Deserialize)]
struct Whole {
    #[serde(flatten, with = "Path::<Option<String>>")]
    path: Option<PathBuf>,
    recording: TraceHead,
    wall_ns: u64,
    io_ns: u64,
    findings: Vec<Finding>,
    rules: Vec<VerdictKeys>,
    #[serde(deserialize_with = "required")]
    replays: Option<ReplaySession>,
}

#[derive(Deserialize)]
struct Finding {
    rule: String,
    severity: Severity,
    title: String,
    evidence: Vec<Measured>,
    saving_ns: SavingKeys,
    files: Vec<File>,
    more_files: u64,
    sites: Vec<Caller>,
    changes: Vec<String>,
    #[serde(deserialize_with = "required")]
    variant: Option<usize>,
    #[serde(deserialize_with = "required")]
    not_proved: Option<String>,
    advice: String,
    how: Vec<How>,
    #[serde(deserialize_with = "required")]
    risks: Option<String>,
    settings: Vec<Setting>,
}

#[derive(Deserialize)]
struct Measured {
    name: String,
    #[serde(deserialize_with = "required")]
    value: NumberKey,
}

#[derive(Deserialize)]
struct File {
    #[serde(flatten, with = "Path::<Option<String>>")]
    path: Option<PathBuf>,
    records: u64,
    time_ns: u64,
}

#[derive(Deserialize)]
struct Caller {
    #[serde(flatten)]
    site: Site,
    records: u64,
    time_ns: u64,
}

#[derive(Deserialize)]
struct How {
    language: Language,
    text: String,
}

impl Finding {
    /// Whether it was replayed, or why not.
    fn attempt(&self) -> Result<Attempt, ReadError> {
        match (self.variant, &self.not_proved) {
            (Some(variant), _) => Ok(Attempt::Variant(variant)),
            (None, Some(why)) => Ok(Attempt::Not(why.clone())),
            (None, None) => {
                let text = "null, and so is `variant`; expected why it is not proved";
                Err(ReadError::at("not_proved", text))
            }
        }
    }

    /// Its call sites go into the lists.
    fn finding(self, wall_ns: u64, lists: &mut TraceLists) -> TraceFinding {
        let evidence = self.evidence.iter();
        let sites = self.sites.into_iter().map(|Caller { site, records, time_ns }| {
            let index = SiteIndex(u32::try_from(lists.sites.len()).unwrap_or(u32::MAX));
            lists.sites.push(site);
            TraceSiteShare { site: index, records, time_ns }
        });
        let file =
            |File { path, records, time_ns }| FileShare { file: None, path, records, time_ns };
        TraceFinding {
            sites: sites.collect(),
            rule: constant(&self.rule),
            severity: self.severity,
            title: self.title,
            evidence: evidence
                .map(|one| Evidence { name: constant(&one.name), value: one.value.number() })
                .collect(),
            saving: Saving::of_wall(self.saving_ns.low, self.saving_ns.high, wall_ns),
            files: self.files.into_iter().map(file).collect(),
            more_files: self.more_files,
            changes: self.changes,
            unproved: None,
            advice: self.advice,
            how: self.how.into_iter().map(|how| (how.language, how.text)).collect(),
            risks: self.risks,
            settings: self.settings,
        }
    }
}
