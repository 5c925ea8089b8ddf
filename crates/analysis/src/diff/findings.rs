//! What became of findings, by rule.

use std::cmp::Ordering;

use hotset_facts::Reason;

use super::difference::{Brief, Change, FindingChange};
use super::side::{Side, SideFinding};

/// What became of the findings of both runs. A finding that matters as much as before is left out: its numbers are times.
pub(super) fn compare_findings(
    before: (&Side, &[SideFinding]),
    after: (&Side, &[SideFinding]),
) -> Vec<FindingChange> {
    let in_after = after.1.iter().map(|finding| {
        let other = before.1.iter().find(|other| other.rule == finding.rule);
        change(other, Some(finding), undecided(before.0, finding.rule))
    });
    let only_before = before.1.iter().filter(|one| !after.1.iter().any(|it| it.rule == one.rule));
    let only_before =
        only_before.map(|finding| change(Some(finding), None, undecided(after.0, finding.rule)));
    let mut all: Vec<FindingChange> = in_after.chain(only_before).flatten().collect();
    let severity = |one: &FindingChange| {
        let brief = one.after.as_ref().or(one.before.as_ref());
        brief.map(|brief| brief.severity)
    };
    all.sort_by_key(|one| (one.change, std::cmp::Reverse(severity(one))));
    all
}

/// Why a rule could not tell of a run.
fn undecided(side: &Side, rule: &str) -> Option<Reason> {
    side.undecided.iter().find(|(undecided, _)| *undecided == rule).map(|(_, reason)| *reason)
}

fn change(
    before: Option<&SideFinding>,
    after: Option<&SideFinding>,
    undecided: Option<Reason>,
) -> Option<FindingChange> {
    let change = match (before, after, undecided) {
        (Some(before), Some(after), _) => match before.severity.cmp(&after.severity) {
            Ordering::Less => Change::Grew,
            Ordering::Greater => Change::Shrank,
            Ordering::Equal => return None,
        },
        (.., Some(_)) => Change::Unclear,
        (None, ..) => Change::Came,
        (Some(_), None, None) => Change::Went,
    };
    let rule = before.or(after)?.rule;
    let undecided = undecided.filter(|_| change == Change::Unclear);
    let brief = |finding: &SideFinding| Brief {
        severity: finding.severity,
        title: finding.title.clone(),
        saving_high_ns: finding.saving_high_ns,
    };
    Some(FindingChange {
        rule: rule.into(),
        change,
        before: before.map(brief),
        after: after.map(brief),
        undecided: undecided.map(|reason| reason.to_string()),
    })
}
