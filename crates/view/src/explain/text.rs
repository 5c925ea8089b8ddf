//! An explanation for a terminal.

use hotset_analysis::explain::ProvedFinding;

use super::{ExplainedTrace, words};
use crate::escape::{shorten_end, shorten_path};
use crate::report::Options;
use crate::report::findings::{INDENT, push_title};
use crate::report::screen::Screen;
use crate::units::count;

/// Findings that are shown in full unless everything is asked for.
const FULL: usize = 3;
/// Evidence that has room beside a proof.
const FACTS: usize = 4;

/// An explanation, ready for a terminal.
pub fn render_explained(trace: &ExplainedTrace<'_>, options: &Options) -> String {
    let mut screen = Screen::new(options);
    let title = words::title(trace, &|name| screen.name(name));
    screen.title(&shorten_end(&title, screen.width));
    let extent = words::extent(trace, &|name| screen.name(name));
    screen.paragraph("", " · ", &extent.join(" · "), 2);
    let findings = &trace.explained.findings;
    if findings.is_empty() {
        screen.heading("Findings", "");
        screen.paragraph("", " ", words::nothing(trace.explained), 2);
        return screen.finish();
    }
    let brief = if screen.all { 0 } else { findings.len().saturating_sub(FULL) };
    screen.heading("Findings", if brief > 0 { "-v shows all in full" } else { "" });
    let (full, rest) = findings.split_at(findings.len() - brief);
    full.iter().for_each(|finding| push(&mut screen, trace, finding));
    for finding in rest {
        let title = format!("{}{}", finding.finding.title, note(finding));
        let title = shorten_end(&title, screen.width.saturating_sub(INDENT));
        push_title(&mut screen, finding.finding.severity, &title);
    }
    screen.finish()
}

/// Why a finding is not proved, in a few words behind its title.
fn note(finding: &ProvedFinding) -> String {
    match &finding.not_proved {
        Some(_) => " (not proved)".to_owned(),
        None => String::new(),
    }
}

fn push(screen: &mut Screen, trace: &ExplainedTrace<'_>, finding: &ProvedFinding) {
    push_title(screen, finding.finding.severity, &finding.finding.title);
    let facts = words::facts(finding);
    let room = if screen.all { facts.len() } else { FACTS };
    let facts = facts.get(..room.min(facts.len())).unwrap_or_default().join(" · ");
    screen.paragraph("", " · ", &facts, INDENT);
    push_places(screen, trace, finding);
    if let (Some(proof), Some(replays)) = (&finding.proof, &trace.explained.replays) {
        screen.paragraph("", " ", &words::proof(proof, replays), INDENT);
    }
    if let Some(computing) = words::computing(finding) {
        screen.paragraph("", " ", &computing, INDENT);
    }
    if let Some(why) = &finding.not_proved {
        screen.paragraph("", " ", &format!("Not proved: {why}."), INDENT);
    }
    screen.paragraph("", " ", &finding.finding.advice, INDENT);
    for (language, how) in &finding.finding.how {
        screen.paragraph(&format!("{}: ", words::language(*language)), " ", how, INDENT);
    }
    if let Some(risks) = &finding.finding.risks {
        screen.paragraph("Risk: ", " ", risks, INDENT);
    }
    for setting in &finding.finding.settings {
        screen.paragraph("", " ", &words::setting(setting), INDENT);
    }
}

/// Files and call sites.
fn push_places(screen: &mut Screen, trace: &ExplainedTrace<'_>, finding: &ProvedFinding) {
    let room = screen.width.saturating_sub(INDENT);
    let files = words::files(finding, &|name| screen.name(name));
    if let Some(first) = files.first() {
        let others = finding.finding.more_files + files.len() as u64 - 1;
        let more = if others > 0 { format!(" and {} more", count(others)) } else { String::new() };
        let first = shorten_path(first, room.saturating_sub(more.len() + 3));
        screen.line(&format!("{:INDENT$}in {first}{more}", ""));
    }
    let sites = words::sites(finding, trace.lists, &|name| screen.name(name));
    let mut shown: Vec<String> = sites.iter().map(|site| shorten_end(site, room)).collect();
    // Chains that differ only where they are cut look the same.
    shown.dedup();
    for site in shown {
        screen.line(&format!("{:INDENT$}{site}", ""));
    }
}
