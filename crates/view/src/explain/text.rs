//! An explanation for a terminal.

use hotset_analysis::Outcome;
use hotset_analysis::explain::ProvedFinding;

use super::{ExplainedTrace, words};
use crate::escape::{shorten_end, shorten_path};
use crate::report::Options;
use crate::report::findings::{INDENT, push_title};
use crate::report::header::command_title;
use crate::report::screen::Screen;
use crate::units::{count, duration, percent, plural};

/// Findings that are shown in full unless everything is asked for.
const FULL: usize = 3;
/// Evidence that has room beside a proof.
const FACTS: usize = 4;

/// An explanation, ready for a terminal.
pub fn render_explained(trace: &ExplainedTrace<'_>, options: &Options) -> String {
    let mut screen = Screen::new(options);
    screen.title(&title(&screen, trace));
    screen.paragraph("", " · ", &extent(&screen, trace), 2);
    let findings = &trace.explained.findings;
    if findings.is_empty() {
        screen.heading("Findings", "");
        screen.paragraph("", " ", &nothing(trace), 2);
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

fn title(screen: &Screen, trace: &ExplainedTrace<'_>) -> String {
    let what = match &trace.head.command {
        Some(command) => command_title(command, &|name| screen.name(name)),
        None => trace.path.map_or_else(|| "a recording".to_owned(), |path| screen.path(path)),
    };
    shorten_end(&format!("Explanation of {what}"), screen.width)
}

/// How much of the run was I/O, and how much was proved.
fn extent(screen: &Screen, trace: &ExplainedTrace<'_>) -> String {
    let explained = trace.explained;
    let share = explained.io_ns as f64 / explained.wall_ns.max(1) as f64;
    let io = format!(
        "{} of I/O in a run of {} ({})",
        duration(explained.io_ns),
        duration(explained.wall_ns),
        percent(share)
    );
    let proved = explained.findings.iter().filter(|finding| finding.is_proved()).count();
    let found = plural(explained.findings.len() as u64, "finding");
    let found = format!("{found}, {} proved by replay", count(proved as u64));
    let path = trace.path.map(|path| screen.path(path));
    path.into_iter().chain([io, found]).collect::<Vec<_>>().join(" · ")
}

/// Why there is nothing to change.
fn nothing(trace: &ExplainedTrace<'_>) -> String {
    let is_clear = |verdict: &hotset_analysis::RuleVerdict| verdict.outcome == Outcome::Clear;
    match trace.explained.verdicts.iter().any(is_clear) {
        true => "None: nothing in this recording is worth changing. No rule found a saving of 5 % of wall time or 50 ms.",
        false => "None: the recording does not have enough data for any rule.",
    }
    .to_owned()
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
