//! The Test Anything Protocol, version 14: <https://testanything.org/tap-version-14-specification.html>.

use hotset_analysis::check::{CheckOutcome, CheckReport};

use super::words;
use crate::escape::escape_text;

/// A test point a check, with what failed as diagnostics.
pub fn tap(report: &CheckReport) -> String {
    let mut out = format!("TAP version 14\n1..{}\n", report.checks.len());
    for (at, check) in report.checks.iter().enumerate() {
        let not = if check.outcome.fails() { "not " } else { "" };
        // A hash would begin a directive.
        let name = escape_text(&check.name).replace('\\', "\\\\").replace('#', "\\#");
        out.push_str(&format!("{not}ok {} - {name}\n", at + 1));
        let mut diagnostics = Vec::new();
        if check.outcome != CheckOutcome::Passed {
            diagnostics.push(words::outcome(check));
        }
        let earlier = check.attempts.len().saturating_sub(1);
        for (run, attempt) in check.attempts.iter().take(earlier).enumerate() {
            diagnostics.push(words::earlier(run, attempt));
        }
        if let Some(last) = check.last() {
            diagnostics.extend(words::failures(last));
            if check.outcome == CheckOutcome::CommandFailed {
                diagnostics.extend(words::tail(last));
            }
        }
        diagnostics.iter().for_each(|line| out.push_str(&format!("# {line}\n")));
    }
    if report.interrupted {
        out.push_str("Bail out! interrupted\n");
    }
    out
}
