//! The page of a trace: what cost most and why, then where and when, in pictures with the tables that sum them up.

mod drawings;
mod headline;
mod latency;
mod tables;

use std::io::{self, Write};

use super::{Trace, words};
use crate::escape::{escape_bytes, escape_text};
use crate::page::{Page, PageWarning, Section, host, write_page};

/// Writes a self-contained HTML page about a trace.
///
/// # Errors
/// Only those of `out`.
pub fn write_trace_html(trace: &Trace<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_page(&trace_page(trace), out)
}

/// Questions and answers, where there are records.
fn sections(trace: &Trace<'_>) -> Vec<Section> {
    let Trace { summary, pictures, .. } = *trace;
    let mut sections = Vec::new();
    sections.extend(tables::files(summary));
    sections.extend(pictures.files.iter().map(|one| drawings::file(summary, one)));
    sections.extend(drawings::threads(&pictures.threads));
    sections.extend(drawings::sites(trace));
    sections.extend(latency::section(summary));
    sections.extend(tables::operations(summary));
    sections.extend(tables::processes(summary));
    sections.extend(tables::failed_lookups(summary));
    sections
}

/// The page of a trace.
pub fn trace_page(trace: &Trace<'_>) -> Page {
    let Trace { head, summary, .. } = *trace;
    let mut subtitle = vec![words::source(trace, &escape_bytes), words::size(trace)];
    subtitle.splice(1..1, words::origin(trace, &escape_bytes));
    let sections = match words::no_records(trace) {
        Some(empty) => vec![Section {
            question: "What is in it?".to_owned(),
            answer: empty.to_owned(),
            ..Section::default()
        }],
        None => sections(trace),
    };
    let conditions = match (head.started_at, &head.environment) {
        (Some(began), Some(environment)) => {
            host::with_version(host::host(began, environment), &head.hotset)
        }
        _ => vec![("hotset".to_owned(), escape_text(&head.hotset))],
    };
    let doubts = words::caveats(trace, &escape_bytes).into_iter();
    let doubts = doubts.map(|text| PageWarning { text, advice: String::new() });
    Page {
        title: words::title(trace, &escape_bytes),
        subtitle: subtitle.join(" · "),
        headline: headline::answers(summary),
        sections,
        conditions,
        doubts: doubts.collect(),
        ..Page::default()
    }
}
