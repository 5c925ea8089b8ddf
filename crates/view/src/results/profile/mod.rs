//! The page of a run: what to change, where the time went, what came from the cache, and who asked for it.

mod beside;
mod headline;
mod sites;
mod tables;

use std::io::{self, Write};

use hotset_analysis::{Finding, Summary};

use crate::escape::{escape_bytes, escape_path, escape_text};
use crate::page::{Entry, Page, PageWarning, Section, host, write_page};
use crate::report::{caveats, findings, header};
use crate::wire;

pub(super) use beside::beside;

/// Writes a self-contained HTML page about a run that this version of hotset measured.
///
/// # Errors
/// Only those of `out`.
pub fn write_profile_html(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    write_page(&profile_page(wire::VERSION, summary), out)
}

/// The page of one run, measured by this version of hotset.
pub fn profile_page(version: &str, summary: &Summary) -> Page {
    let profile = &summary.profile;
    let level = profile.sensor.level.as_str();
    let conditions = host::host(profile.started_at, &profile.environment);
    let sections = [
        Some(findings_section(summary)),
        tables::time(summary),
        tables::cache(summary),
        Some(tables::files(summary)),
        tables::processes(summary),
        sites::section(summary),
        tables::lookups(summary),
    ];
    Page {
        title: header::title(summary, &escape_bytes),
        name: String::new(),
        subtitle: format!(
            "{} · sensor: {} ({level})",
            header::outcome(summary),
            escape_text(profile.sensor.name),
        ),
        headline: headline::answers(summary),
        sections: sections.into_iter().flatten().collect(),
        conditions: host::with_version(conditions, version),
        doubts: doubts(summary),
        parts: Vec::new(),
    }
}

fn findings_section(summary: &Summary) -> Section {
    let none = summary.findings.is_empty().then(|| findings::none(summary));
    Section {
        question: "What is worth changing?".to_owned(),
        answer: none.unwrap_or_default(),
        entries: summary.findings.iter().map(|finding| entry(finding, summary)).collect(),
        ..Section::default()
    }
}

/// A finding with its numbers, its advice and all its files.
fn entry(finding: &Finding, summary: &Summary) -> Entry {
    let facts = escape_text(&findings::facts(finding).join(" · "));
    let files: Vec<String> = finding.files.iter().map(|path| escape_path(path)).collect();
    let files = (!files.is_empty()).then(|| format!("Files: {}", files.join(", ")));
    let asked = findings::askers(finding, summary.profile.sites.as_ref(), &escape_bytes);
    Entry {
        label: finding.severity.as_str().to_owned(),
        title: escape_text(&finding.title),
        lines: [Some(facts), Some(escape_text(&finding.advice)), files]
            .into_iter()
            .flatten()
            .chain(asked)
            .filter(|line| !line.is_empty())
            .collect(),
        command: String::new(),
    }
}

fn doubts(summary: &Summary) -> Vec<PageWarning> {
    let lost = caveats::losses(&summary.losses).into_iter();
    let lost = lost.map(|text| PageWarning { text, advice: String::new() });
    let missing = caveats::missing(summary).into_iter().map(|(reason, what)| PageWarning {
        text: format!("not measured: {}", escape_text(&what.join(", "))),
        advice: escape_text(&reason),
    });
    lost.chain(missing).collect()
}
