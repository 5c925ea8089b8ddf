//! A run of a check, judged.

use std::path::Path;

use hotset_analysis::check::{Attempt, Judged};
use hotset_analysis::diff::Side;
use hotset_analysis::{Gate, Summary, summarise};
use hotset_control::Patterns;
use hotset_facts::budget::Check;
use hotset_facts::{CostTable, ExitStatus, Observed};
use hotset_watch::{CheckedRun, Killed};

/// A run as its rules see it.
pub(super) fn summary_of(run: &CheckedRun, costs: Observed<CostTable>) -> Summary {
    summarise(run.profile.clone(), costs, Gate::default())
}

/// A run beside its check, whose directory is `place`.
pub(super) fn attempt(
    check: &Check,
    run: &CheckedRun,
    summary: &Summary,
    baseline: Option<&Side>,
    place: &Path,
) -> Attempt {
    let side = Side::of_summary(summary);
    let matches = |pattern: &str, path: &Path| fits(pattern, path, place);
    let judged = Judged { run: &side, baseline, matches: &matches };
    let exit_as_wanted = run.exit == ExitStatus::Code(check.exit_code.into());
    Attempt {
        exit: run.exit,
        exit_as_wanted,
        timed_out: run.killed == Some(Killed::TimedOut),
        wall_ns: run.profile.command.wall_ns,
        reached: run.reached,
        limits: judged.limits(check),
        findings: judged.findings(check),
        requests_without_site: judged.requests_without_site(),
        output_tail: if exit_as_wanted { Vec::new() } else { run.tail.clone() },
    }
}

/// Whether a path fits a pattern: the whole path, or as it is from the check's directory on. A pattern without a slash is for names.
fn fits(pattern: &str, path: &Path, place: &Path) -> bool {
    let Ok(patterns) = Patterns::new(&[pattern.to_owned()]) else { return false };
    patterns.matches(path) || path.strip_prefix(place).is_ok_and(|below| patterns.matches(below))
}
