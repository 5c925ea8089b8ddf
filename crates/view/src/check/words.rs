//! The sentences that every form of a check shares.

use hotset_analysis::check::{
    Attempt, CheckOutcome, CheckReport, CheckResult, JudgedFinding, JudgedLimit, LimitOf,
    LimitVerdict, Part, PartKind, SitePart,
};
use hotset_analysis::diff::Change;
use hotset_facts::budget::{exact, rounded};
use hotset_facts::units::{duration, plural};
use hotset_facts::{ExitStatus, LearnedBy, Observed, Unit};

use crate::escape::{escape_bytes, escape_text};
use crate::sites::with_callers;

/// By what was counted, where that was not the sensor.
pub(super) fn instrument(report: &CheckReport) -> Option<String> {
    let why = escape_text(report.no_sensor.as_ref()?);
    Some(match &report.no_trace {
        None => format!(
            "without the sensor: {why}. Lookups, opens and processes are counted by tracing, which slows the commands down."
        ),
        Some(trace) => format!("without the sensor: {why}; nor by tracing: {}", escape_text(trace)),
    })
}

/// Which files a state was set on; nothing where it was set on none.
pub(super) fn state_files(check: &CheckResult) -> Option<String> {
    let how = match check.learned_by {
        LearnedBy::Sensor => "learned by the sensor",
        LearnedBy::Trace => "learned by tracing",
        LearnedBy::Given => "as given",
        LearnedBy::Nothing => return None,
    };
    Some(format!("state {} of {}, {how}", check.state, plural(check.state_files, "file")))
}

/// The name of a number, with the files or processes that the limit is on.
pub(super) fn number(limit: &JudgedLimit) -> String {
    match &limit.which {
        Some(which) => {
            let except = match limit.except.len() as u64 {
                0 => String::new(),
                patterns => format!(" without {}", plural(patterns, "pattern")),
            };
            format!("{} of {}{except}", limit.number, escape_text(which))
        }
        None => limit.number.clone(),
    }
}

/// Limits that were on nothing: a file that was renamed is held by no limit any more.
pub(super) fn on_nothing(attempt: &Attempt) -> Vec<String> {
    let limits = attempt.limits.iter().filter(|limit| limit.rows == Some(0));
    let mut names: Vec<String> = limits
        .map(|limit| {
            let which = limit.which.as_deref().map(escape_text).unwrap_or_default();
            match limit.on {
                LimitOf::Processes => format!("no process of the run is called \"{which}\""),
                LimitOf::Run | LimitOf::Files => format!("no file of the run fits \"{which}\""),
            }
        })
        .collect();
    names.dedup();
    names
}

/// Two amounts, in full where three digits don't tell them apart.
fn both(value: u64, bound: u64, unit: Unit) -> (String, String) {
    let (a, b) = (rounded(value, unit), rounded(bound, unit));
    if value != bound && a == b { (exact(value, unit), exact(bound, unit)) } else { (a, b) }
}

/// What a limit came to, without the name of its number.
pub(super) fn limit(limit: &JudgedLimit) -> String {
    let allowed = &limit.limit;
    let doubt = limit.doubt.as_ref().map(|doubt| format!(" ({doubt})")).unwrap_or_default();
    match (limit.value, limit.bound) {
        (Observed::Value(value), Some(bound)) => {
            let (value_text, bound_text) = both(value, bound, limit.unit);
            // Of a limit above the baseline, what that makes is the news.
            let allowed = match limit.baseline {
                Some(baseline) if allowed.contains("above the baseline") => format!(
                    "{allowed} ({}), so at most {bound_text}",
                    rounded(baseline, limit.unit)
                ),
                _ => allowed.clone(),
            };
            let by = rounded(value.abs_diff(bound), limit.unit);
            let off = match limit.verdict {
                LimitVerdict::Broken if value > bound => format!(": {by} too {}", much(limit.unit)),
                LimitVerdict::Broken => format!(": {by} too {}", little(limit.unit)),
                _ => String::new(),
            };
            format!("{value_text}, allowed {allowed}{off}{doubt}")
        }
        (Observed::Value(value), None) => {
            format!("{}, allowed {allowed}{doubt}", rounded(value, limit.unit))
        }
        (Observed::Missing(reason), _) => {
            let hint = match limit.verdict {
                LimitVerdict::NotMeasured => "; \", if measured\" in the limit would allow that",
                _ => "",
            };
            format!("not measured ({reason}), allowed {allowed}{hint}")
        }
    }
}

fn much(unit: Unit) -> &'static str {
    if matches!(unit, Unit::Count | Unit::Pages) { "many" } else { "much" }
}

fn little(unit: Unit) -> &'static str {
    if matches!(unit, Unit::Count | Unit::Pages) { "few" } else { "little" }
}

/// A part of a number: how much, of what, and what became of that since the baseline.
pub(super) fn part(part: &Part, limit: &JudgedLimit) -> (String, String) {
    let name = match escape_bytes(part.name.as_encoded_bytes()) {
        name if name.is_empty() => "all other files".to_owned(),
        name => name,
    };
    (amount(part.amount, part.change, limit.unit), format!("{name}{}", fate(part.change)))
}

fn amount(amount: i64, change: Option<Change>, unit: Unit) -> String {
    let size = rounded(amount.unsigned_abs(), unit);
    match (change, amount < 0) {
        (None, _) => size,
        (Some(_), false) => format!("+{size}"),
        (Some(_), true) => format!("-{size}"),
    }
}

fn fate(change: Option<Change>) -> &'static str {
    match change {
        Some(Change::Came) => " (not in the baseline)",
        Some(Change::Went) => " (only in the baseline)",
        _ => "",
    }
}

/// That there are more parts.
pub(super) fn more_parts(limit: &JudgedLimit) -> Option<String> {
    let noun = match limit.parts.first()?.kind {
        PartKind::File => "file",
        PartKind::Process => "command",
        PartKind::FailedLookup => "path",
    };
    (limit.more_parts > 0)
        .then(|| format!("and {}", plural(limit.more_parts, &format!("more {noun}"))))
}

/// A call site's part of a number.
fn site_part(part: &SitePart, limit: &JudgedLimit) -> String {
    let (amount, fate) = (amount(part.amount, part.change, limit.unit), fate(part.change));
    format!("{amount}  by {}{fate}", with_callers(&part.site, &escape_bytes))
}

fn more_sites(limit: &JudgedLimit) -> Option<String> {
    (limit.more_sites > 0).then(|| format!("and by {}", plural(limit.more_sites, "more call site")))
}

/// That call sites don't have all parts.
fn without_site(attempt: &Attempt) -> Option<String> {
    let requests = attempt.requests_without_site.filter(|&requests| requests > 0)?;
    let shown = attempt.limits.iter().any(|limit| !limit.sites.is_empty());
    shown.then(|| format!("the code behind {} is not known", plural(requests, "more request")))
}

/// What a forbidden finding came to.
pub(super) fn finding(finding: &JudgedFinding) -> String {
    let words = finding.words.as_deref().map(escape_text).unwrap_or_default();
    match finding.verdict {
        LimitVerdict::Broken => format!("may not be found: {words}"),
        LimitVerdict::Held => "not found".to_owned(),
        LimitVerdict::NotMeasured => {
            format!("can't be told: {words}; \", if measured\" behind the rule would allow that")
        }
        LimitVerdict::Allowed => format!("can't be told: {words}"),
    }
}

/// One word for an outcome, at the front of a line.
pub(super) fn mark(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Passed => "ok",
        CheckOutcome::PassedOnRetry => "flaky",
        CheckOutcome::NotRun => "ERROR",
        CheckOutcome::Failed | CheckOutcome::CommandFailed | CheckOutcome::TimedOut => "FAIL",
    }
}

/// What a check came to, in a line.
pub(super) fn outcome(check: &CheckResult) -> String {
    let Some(last) = check.last() else {
        return escape_text(check.error.as_deref().unwrap_or("it was not run"));
    };
    let took = duration(last.wall_ns);
    let runs = match check.attempts.len() {
        0 | 1 => String::new(),
        runs => format!(" in the last of {runs} runs"),
    };
    match check.outcome {
        CheckOutcome::Passed => format!("{} held · {took}", limits(last)),
        CheckOutcome::PassedOnRetry => {
            format!("{} held, but only in run {} · {took}", limits(last), check.attempts.len())
        }
        CheckOutcome::CommandFailed => format!("the command {}{runs} · {took}", ended(last.exit)),
        CheckOutcome::TimedOut => format!("the command was killed after {took}{runs}"),
        CheckOutcome::NotRun => escape_text(check.error.as_deref().unwrap_or("it was not run")),
        CheckOutcome::Failed => {
            format!("{} of {} not held{runs} · {took}", failing(last), limits(last))
        }
    }
}

fn limits(attempt: &Attempt) -> String {
    plural((attempt.limits.len() + attempt.findings.len()) as u64, "limit")
}

fn failing(attempt: &Attempt) -> usize {
    let limits = attempt.limits.iter().filter(|limit| limit.verdict.fails()).count();
    limits + attempt.findings.iter().filter(|finding| finding.verdict.fails()).count()
}

/// How a command ended that should have ended otherwise.
pub(super) fn ended(exit: ExitStatus) -> String {
    match exit {
        ExitStatus::Code(code) => format!("ended with exit code {code}"),
        ExitStatus::Signal(signal) => format!("was killed by signal {signal}"),
    }
}

/// What a run that does not decide gave: a first failure is never hidden.
pub(super) fn earlier(at: usize, attempt: &Attempt) -> String {
    let run = at + 1;
    match attempt.outcome() {
        CheckOutcome::TimedOut => format!("run {run}: killed after {}", duration(attempt.wall_ns)),
        CheckOutcome::CommandFailed => format!("run {run}: the command {}", ended(attempt.exit)),
        _ => {
            let limits = attempt.limits.iter().filter(|limit| limit.verdict.fails());
            let limits = limits.map(|one| format!("{} {}", number(one), limit(one)));
            let findings = attempt.findings.iter().filter(|finding| finding.verdict.fails());
            let all: Vec<_> = limits
                .chain(findings.map(|one| format!("{} {}", one.rule, finding(one))))
                .collect();
            format!("run {run}: {}", all.join("; "))
        }
    }
}

/// The sum of all checks.
pub(super) fn total(report: &CheckReport) -> String {
    let passed = report.count(|outcome| outcome == CheckOutcome::Passed);
    let flaky = report.count(|outcome| outcome == CheckOutcome::PassedOnRetry);
    let failed = report.count(CheckOutcome::fails);
    let mut parts = vec![format!("{passed} passed")];
    if flaky > 0 {
        parts.push(format!("{flaky} passed on a retry"));
    }
    if failed > 0 {
        parts.push(format!("{failed} failed"));
    }
    let checks = plural(report.checks.len() as u64, "check");
    let end = if report.interrupted { "; interrupted, the others were not run" } else { "" };
    format!("{checks}: {}{end}", parts.join(", "))
}

/// What failed in a run, a line each with what makes it below it.
pub(super) fn failures(attempt: &Attempt) -> Vec<String> {
    let mut lines = Vec::new();
    for one in attempt.limits.iter().filter(|limit| limit.verdict.fails()) {
        lines.push(format!("{}: {}", number(one), limit(one)));
        for one_part in &one.parts {
            let (amount, name) = part(one_part, one);
            lines.push(format!("  {amount}  {name}"));
        }
        lines.extend(more_parts(one).map(|more| format!("  {more}")));
        lines.extend(one.sites.iter().map(|site| format!("  {}", site_part(site, one))));
        lines.extend(more_sites(one).map(|more| format!("  {more}")));
    }
    for one in attempt.findings.iter().filter(|finding| finding.verdict.fails()) {
        lines.push(format!("{}: {}", one.rule, finding(one)));
    }
    lines.extend(without_site(attempt));
    lines
}

/// The end of what a command wrote that failed, line by line.
pub(super) fn tail(attempt: &Attempt) -> Vec<String> {
    const LINES: usize = 10;
    let text = String::from_utf8_lossy(&attempt.output_tail);
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(LINES);
    lines[from..].iter().map(|line| escape_bytes(line.as_bytes())).collect()
}

/// How failures come to show what changed, where a check that failed by a limit has no baseline.
pub(super) fn hint(report: &CheckReport) -> Option<String> {
    let unexplained = |check: &&CheckResult| {
        let last = check.last().filter(|_| check.outcome == CheckOutcome::Failed);
        last.is_some_and(|last| {
            let mut broken = last.limits.iter().filter(|one| one.verdict == LimitVerdict::Broken);
            broken.any(|one| one.baseline.is_none())
        })
    };
    let check = report.checks.iter().find(unexplained)?;
    Some(format!(
        "To see what changed, give \"{}\" a baseline = \"FILE\" in the budget, and run `hotset check --update` where all is as it \
         should be.",
        escape_text(&check.name)
    ))
}
