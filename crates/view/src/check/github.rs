//! GitHub Actions: annotations as workflow commands, and the summary of a step.

use std::fmt::Write as _;

use hotset_analysis::check::{CheckOutcome, CheckReport, CheckResult};

use super::words;
use crate::escape::escape_text;

/// A workflow command for each check that did not pass in its first run.
pub fn annotations(report: &CheckReport) -> String {
    let mut out = String::new();
    for check in report.checks.iter().filter(|check| check.outcome != CheckOutcome::Passed) {
        let level = if check.outcome.fails() { "error" } else { "warning" };
        let file = property(&report.path.display().to_string());
        let title = property(&format!("hotset check: {}", check.name));
        let mut lines = vec![words::outcome(check)];
        lines.extend(all_lines(check));
        let message = data(&lines.join("\n"));
        let _ = writeln!(out, "::{level} file={file},title={title}::{message}");
    }
    out
}

/// Markdown for `$GITHUB_STEP_SUMMARY`: a table of all checks, and of those that failed why.
pub fn step_summary(report: &CheckReport) -> String {
    let mut out = String::from("### hotset check\n\n| check | result |\n|---|---|\n");
    for check in &report.checks {
        let icon = match check.outcome {
            CheckOutcome::Passed => "✅",
            CheckOutcome::PassedOnRetry => "⚠️",
            _ => "❌",
        };
        let _ =
            writeln!(out, "| {} | {icon} {} |", cell(&check.name), cell(&words::outcome(check)));
    }
    for check in report.checks.iter().filter(|check| check.outcome != CheckOutcome::Passed) {
        let lines = all_lines(check);
        if lines.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n**{}**\n\n```text", cell(&check.name));
        lines.iter().for_each(|line| {
            // Three backticks would end the block.
            let _ = writeln!(out, "{}", line.replace("```", "'''"));
        });
        out.push_str("```\n");
    }
    let _ = writeln!(out, "\n{}", words::total(report));
    out
}

fn all_lines(check: &CheckResult) -> Vec<String> {
    let earlier = check.attempts.len().saturating_sub(1);
    let runs = check.attempts.iter().take(earlier).enumerate();
    let mut lines: Vec<String> = runs.map(|(at, attempt)| words::earlier(at, attempt)).collect();
    if let Some(last) = check.last() {
        lines.extend(words::failures(last));
        if check.outcome == CheckOutcome::CommandFailed {
            lines.extend(words::tail(last));
        }
    }
    lines
}

/// What stands behind `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// What stands in a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Text that is a cell of a table and no markup.
fn cell(text: &str) -> String {
    let escaped = escape_text(text).replace('\\', "\\\\").replace('|', "\\|");
    escaped.replace('<', "&lt;").replace('*', "\\*").replace('_', "\\_").replace('`', "\\`")
}
