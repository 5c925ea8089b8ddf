//! JUnit XML, as Jenkins, GitLab and others read it: a suite a budget, a case a check.

use hotset_analysis::check::{CheckOutcome, CheckReport, CheckResult};
use maud::{PreEscaped, html};

use super::words;

/// The document. What XML can't hold is escaped as on a terminal.
pub fn junit(report: &CheckReport) -> String {
    let suite = report.path.display().to_string();
    let failures = report.count(|outcome| {
        matches!(
            outcome,
            CheckOutcome::Failed | CheckOutcome::CommandFailed | CheckOutcome::TimedOut
        )
    });
    let errors = report.count(|outcome| outcome == CheckOutcome::NotRun);
    let total_ns = report.checks.iter().map(wall_ns).sum();
    let cases: String = report.checks.iter().map(|check| case(check, &suite)).collect();
    let suite = text(&suite);
    let tests = report.checks.len();
    let body = html! {
        testsuites name="hotset check" tests=(tests) failures=(failures) errors=(errors) time=(seconds(total_ns)) {
            testsuite name=(suite) tests=(tests) failures=(failures) errors=(errors) skipped="0" time=(seconds(total_ns)) {
                (PreEscaped(cases))
            }
        }
    };
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", body.into_string())
}

fn case(check: &CheckResult, suite: &str) -> String {
    let message = text(&words::outcome(check));
    let lines = check.last().map(words::failures).unwrap_or_default();
    let mut lines: Vec<String> = lines.iter().map(|line| text(line)).collect();
    let earlier = check.attempts.len().saturating_sub(1);
    let earlier = check.attempts.iter().take(earlier).enumerate();
    let earlier: Vec<String> = earlier.map(|(at, run)| text(&words::earlier(at, run))).collect();
    lines.splice(0..0, earlier.iter().cloned());
    let details = lines.join("\n");
    let output = check.last().map(words::tail).unwrap_or_default().join("\n");
    let kind = check.outcome.as_str();
    let case = html! {
        testcase name=(text(&check.name)) classname=(text(suite)) time=(seconds(wall_ns(check))) {
            @match check.outcome {
                CheckOutcome::Passed => {}
                // The schema knows no flaky tests; a reader of logs finds it here.
                CheckOutcome::PassedOnRetry => { system-out { (message) "\n" (details) } }
                CheckOutcome::NotRun => { error message=(message) type=(kind) { (details) } }
                _ => { failure message=(message) type=(kind) { (details) } }
            }
            @if check.outcome == CheckOutcome::CommandFailed && !output.is_empty() {
                system-err { (text(&output)) }
            }
        }
    };
    case.into_string()
}

fn wall_ns(check: &CheckResult) -> u64 {
    check.attempts.iter().map(|attempt| attempt.wall_ns).sum()
}

fn seconds(ns: u64) -> String {
    format!("{:.3}", ns as f64 / 1e9)
}

/// XML 1.0 has no control characters but tab, line feed and return, not even escaped.
fn text(text: &str) -> String {
    let allowed = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
    text.chars()
        .map(|c| if allowed(c) && !matches!(c, '\u{fffe}' | '\u{ffff}') { c } else { '\u{fffd}' })
        .collect()
}
