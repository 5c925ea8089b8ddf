//! How a session compares with a baseline: a sentence for each condition, and what a reader has to know beside it.

use std::time::SystemTime;

use hotset_analysis::bench::{
    BaselineComparison, BenchSummary, Change, ChangeVerdict, ConditionChange, HostDifference,
    NotComparable, RatioEstimate,
};
use hotset_facts::Baseline;
use hotset_facts::format::rfc3339;

use super::look::BenchLook;
use super::words::{condition, letter, ratio};
use crate::escape::escape_text;
use crate::report::screen::Screen;
use crate::units::{percent, plural};

pub(super) fn push(screen: &mut Screen, summary: &BenchSummary, look: BenchLook) {
    let Some(baseline) = &summary.baseline else { return };
    screen.heading(&title(baseline), &sessions(baseline));
    for one in &baseline.conditions {
        let label = format!("  {} ", condition(summary, one.condition));
        screen.paragraph(&label, " ", &sentence(&one.wall, look, baseline.fail_above.wall), 0);
        if says_cpu(baseline, one) {
            let cpu = sentence(&one.cpu, look, baseline.fail_above.cpu);
            screen.paragraph("    CPU time ", " ", &cpu, 0);
        }
    }
    for note in notes(summary, baseline) {
        screen.below_table(&note);
    }
}

/// `Against the baseline main`.
pub(super) fn title(baseline: &BaselineComparison) -> String {
    format!("Against the baseline {}", escape_text(&baseline.name))
}

/// `3 sessions, 2026-11-20 to 2026-11-26`.
pub(super) fn sessions(baseline: &BaselineComparison) -> String {
    between(baseline.sessions, baseline.first_at, baseline.last_at)
}

/// The same of a baseline.
pub fn sessions_of(baseline: &Baseline) -> String {
    let times = || baseline.sessions.iter().map(|session| session.started_at);
    let Some((first, last)) = times().min().zip(times().max()) else {
        return "no session".to_owned();
    };
    between(baseline.sessions.len(), first, last)
}

fn between(sessions: usize, first: SystemTime, last: SystemTime) -> String {
    let day = |time| rfc3339(time).split('T').next().unwrap_or_default().to_owned();
    let (first, last) = (day(first), day(last));
    let days = if first == last { first } else { format!("{first} to {last}") };
    format!("{}, {days}", plural(sessions as u64, "session"))
}

/// CPU times are told where they show something, or where someone wants to know.
fn says_cpu(baseline: &BaselineComparison, one: &ConditionChange) -> bool {
    match one.cpu.verdict {
        ChangeVerdict::Slower | ChangeVerdict::Faster => true,
        ChangeVerdict::NoDifferenceShown => baseline.fail_above.cpu.is_some(),
        ChangeVerdict::NotComparable => {
            baseline.fail_above.cpu.is_some() && one.cpu.reason != one.wall.reason
        }
    }
}

/// `96.0 ms → 104 ms, 1.083x [1.021, 1.152]: slower, above the limit of 2.0 %`.
fn sentence(change: &Change, look: BenchLook, limit: Option<f64>) -> String {
    let verdict = verdict(change, limit);
    match (change.baseline_ns, change.now_ns, estimate(change)) {
        (Some(then), Some(now), Some(estimate)) => {
            format!("{} → {}, {}: {verdict}", look.time(then), look.time(now), ratio(&estimate))
        }
        (_, Some(now), _) => format!("{} now: {verdict}", look.time(now)),
        _ => verdict,
    }
}

pub(super) fn estimate(change: &Change) -> Option<RatioEstimate> {
    let (ratio, interval) = (change.ratio?, change.interval);
    Some(RatioEstimate { ratio, interval, rounds: 0, apart: false })
}

/// `slower`, `no difference detected; …`, `not comparable: …`.
pub(super) fn verdict(change: &Change, limit: Option<f64>) -> String {
    match change.verdict {
        ChangeVerdict::Slower => match limit {
            Some(limit) if change.above_limit => {
                format!("slower, above the limit of {}", percent(limit))
            }
            Some(limit) => format!("slower, but not shown to be above {}", percent(limit)),
            None => "slower".to_owned(),
        },
        ChangeVerdict::Faster => "faster".to_owned(),
        ChangeVerdict::NoDifferenceShown => match change.smallest_effect() {
            Some(effect) => format!(
                "no difference detected; slow-downs below {} are not detectable",
                percent(effect)
            ),
            None => "no difference detected; no slow-down is detectable".to_owned(),
        },
        ChangeVerdict::NotComparable => {
            format!("not comparable: {}", change.reason.map_or("", reason))
        }
    }
}

fn reason(reason: NotComparable) -> &'static str {
    match reason {
        NotComparable::NotInBaseline => "the baseline has no such command in this state",
        NotComparable::TooFewRuns => "a comparison requires 6 valid runs",
        NotComparable::TooFewRunsThen => {
            "no session of the baseline has the 6 valid runs that a comparison requires"
        }
        NotComparable::OtherFileSystem => {
            "its files are on another type of file system than in the baseline; --other-host compares all the same"
        }
    }
}

/// What a reader has to know beside the sentences.
pub(super) fn notes(summary: &BenchSummary, baseline: &BaselineComparison) -> Vec<String> {
    let several = summary.session.commands.len() > 1;
    let mut notes = Vec::new();
    notes.extend(busy(baseline));
    for one in &baseline.conditions {
        let name = condition(summary, one.condition);
        notes.extend(busier(&one.wall).map(|note| format!("{name}: {note}")));
    }
    let changed = baseline.conditions.iter().filter_map(|one| {
        let condition = summary.session.conditions.get(one.condition)?;
        let who = if several { letter(condition.command) } else { "the command".to_owned() };
        let was = escape_text(one.other_command.as_ref()?);
        Some(format!("{who} has changed: in the baseline, this name stands for `{was}`"))
    });
    for note in changed {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    if !baseline.only_in_baseline.is_empty() {
        let names: Vec<String> =
            baseline.only_in_baseline.iter().map(|name| escape_text(name)).collect();
        notes.push(format!("only in the baseline: {}", names.join(", ")));
    }
    notes.extend(baseline.host_differences.iter().map(host_difference));
    notes
}

/// Where other programs kept the host busy in one of the sessions.
fn busy(baseline: &BaselineComparison) -> Option<String> {
    /// Below this the interval is hardly wider.
    const WORTH_SAYING: f64 = 0.02;
    let busiest = baseline.conditions.iter().filter_map(|one| one.wall.busy).fold(0.0, f64::max);
    let text = || {
        format!(
            "other programs used up to {} of the CPUs during a session: intervals are wider than on a quiet host",
            percent(busiest)
        )
    };
    (busiest >= WORTH_SAYING).then(text)
}

/// Where tasks waited for a CPU more or less than then, how much of a difference that may explain.
fn busier(change: &Change) -> Option<String> {
    /// What is less is not worth a line.
    const WORTH_SAYING: f64 = 0.01;
    change.ratio?;
    let (who, share) = match change.waiting {
        factor if factor < 1.0 => ("now", 1.0 / factor - 1.0),
        factor => ("in the baseline", factor - 1.0),
    };
    let text = || {
        format!(
            "tasks waited for a CPU more {who}, which may explain up to {}; the interval includes it",
            percent(share)
        )
    };
    (share >= WORTH_SAYING).then(text)
}

/// `kernel: 6.1.0 in the baseline, 6.12.0 now`.
pub fn host_difference(difference: &HostDifference) -> String {
    format!(
        "{}: {} in the baseline, {} now",
        difference.what.as_str(),
        escape_text(&difference.baseline),
        escape_text(&difference.now)
    )
}

/// A row a condition for the Markdown table; nothing without a baseline.
pub(super) fn markdown(summary: &BenchSummary, look: BenchLook) -> String {
    let Some(baseline) = &summary.baseline else { return String::new() };
    let mut out = format!(
        "\n{} ({}):\n\n| Condition | Then | Now | Ratio | Verdict |\n|:---|---:|---:|---:|:---|\n",
        title(baseline).replace('|', "\\|"),
        sessions(baseline)
    );
    let time = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), |ns| look.time(ns));
    for one in &baseline.conditions {
        let name = condition(summary, one.condition);
        let mut row = |name: String, change: &Change, limit| {
            let cells = [
                name,
                time(change.baseline_ns),
                time(change.now_ns),
                estimate(change).map_or_else(|| "-".to_owned(), |estimate| ratio(&estimate)),
                verdict(change, limit),
            ];
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
        };
        row(name.clone(), &one.wall, baseline.fail_above.wall);
        if says_cpu(baseline, one) {
            row(format!("{name}, CPU time"), &one.cpu, baseline.fail_above.cpu);
        }
    }
    for note in notes(summary, baseline) {
        out.push_str(&format!("\n- {}", note.replace('|', "\\|")));
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}
