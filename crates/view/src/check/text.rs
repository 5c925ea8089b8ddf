//! Checks for a terminal.

use hotset_analysis::check::{Attempt, CheckOutcome, CheckReport, CheckResult};
use hotset_facts::LearnedBy;
use hotset_facts::units::plural;

use super::words;
use crate::escape::{columns, escape_path, escape_text};
use crate::report::Options;
use crate::report::screen::{Screen, Tone};
use crate::table::INDENT;

/// Where the words of a check begin: behind its mark.
const NAMES: usize = 8;
/// The widest column of names; longer ones push their line.
const WIDEST_NAME: usize = 28;

/// Every check with what it came to, and of those that failed why; of the others too with `all`.
pub fn render_check(report: &CheckReport, options: &Options) -> String {
    let mut screen = Screen::new(options);
    screen.title(&format!(
        "{} · {}",
        escape_path(&report.path),
        plural(report.checks.len() as u64, "check")
    ));
    if let Some(text) = words::instrument(report) {
        screen.paragraph("", " ", &text, INDENT);
    }
    let names = report.checks.iter().map(|check| columns(&escape_text(&check.name)));
    let width = names.max().unwrap_or(0).min(WIDEST_NAME);
    for check in &report.checks {
        line(&mut screen, check, width);
        details(&mut screen, check, options.all);
    }
    screen.line("");
    screen.line(&words::total(report));
    if let Some(hint) = words::hint(report) {
        screen.note(&hint);
    }
    screen.finish()
}

fn line(screen: &mut Screen, check: &CheckResult, width: usize) {
    let mark = words::mark(check.outcome);
    let tone = match check.outcome {
        CheckOutcome::Passed => Tone::Good,
        CheckOutcome::PassedOnRetry => Tone::Warning,
        _ => Tone::Critical,
    };
    let name = escape_text(&check.name);
    let gap = " ".repeat((NAMES - 2).saturating_sub(mark.len()));
    let fill = " ".repeat(width.saturating_sub(columns(&name)));
    let painted = screen.paint(mark, tone);
    let outcome = words::outcome(check);
    if check.outcome == CheckOutcome::NotRun {
        // An error is as long as it is.
        screen.line(&format!("  {painted}{gap}{name}"));
        screen.paragraph("", " ", &outcome, NAMES);
    } else {
        screen.line(&format!("  {painted}{gap}{name}{fill}  {outcome}"));
    }
}

fn details(screen: &mut Screen, check: &CheckResult, all: bool) {
    for (at, attempt) in check.attempts.iter().enumerate() {
        let is_last = at + 1 == check.attempts.len();
        if !is_last {
            screen.paragraph("", " ", &words::earlier(at, attempt), NAMES);
        }
    }
    let Some(last) = check.last() else { return };
    // What tracing can't see is not in the state either, so that is always told.
    if all || check.learned_by == LearnedBy::Trace {
        let text = words::state_files(check);
        text.iter().for_each(|text| screen.paragraph("", " ", text, NAMES));
    }
    for line in words::failures(last) {
        screen.paragraph(
            "",
            " ",
            line.trim_start(),
            NAMES + 2 * usize::from(line.starts_with(' ')),
        );
    }
    for line in words::on_nothing(last) {
        screen.paragraph("", " ", &line, NAMES);
    }
    if matches!(check.outcome, CheckOutcome::CommandFailed | CheckOutcome::TimedOut) {
        words::tail(last)
            .iter()
            .for_each(|line| screen.line(&format!("{}{line}", " ".repeat(NAMES))));
    }
    if all {
        held(screen, last);
    }
}

/// The limits that were held, and those that the budget lets go.
fn held(screen: &mut Screen, attempt: &Attempt) {
    for limit in attempt.limits.iter().filter(|limit| !limit.verdict.fails()) {
        let text = format!("{}: {}", words::number(limit), words::limit(limit));
        screen.paragraph("", " ", &text, NAMES);
    }
    for finding in attempt.findings.iter().filter(|finding| !finding.verdict.fails()) {
        screen.paragraph("", " ", &format!("{}: {}", finding.rule, words::finding(finding)), NAMES);
    }
}

/// Lines that differ between two texts with as many lines, the old one before the new one.
pub fn changed_lines(old: &str, new: &str) -> String {
    let pairs = old.lines().zip(new.lines()).filter(|(old, new)| old != new);
    pairs.map(|(old, new)| format!("-{}\n+{}\n", escape_text(old), escape_text(new))).collect()
}
