//! How a session compares with a baseline: a sentence for each condition, and what a reader has to know beside it.

use hotset_analysis::baseline::{Change, ChangeVerdict};
use hotset_analysis::bench::{BaselineComparison, BenchSummary, ConditionChange};

use super::look::BenchLook;
use super::words::{condition, letter, ratio};
use crate::baseline::{Kind, busier, busy, estimate, host_difference, sessions, title, verdict};
use crate::escape::escape_text;
use crate::report::screen::Screen;

pub(super) fn push(screen: &mut Screen, summary: &BenchSummary, look: BenchLook) {
    let Some(baseline) = &summary.baseline else { return };
    screen.heading(&title(&baseline.with), &sessions(&baseline.with));
    let limits = baseline.with.fail_above;
    for one in &baseline.conditions {
        let label = format!("  {} ", condition(summary, one.condition));
        screen.paragraph(&label, " ", &sentence(&one.wall, look, limits.wall), 0);
        if says_cpu(baseline, one) {
            let cpu = sentence(&one.cpu, look, limits.cpu);
            screen.paragraph("    CPU time ", " ", &cpu, 0);
        }
    }
    for note in notes(summary, baseline) {
        screen.below_table(&note);
    }
}

/// CPU times are told where they show something, or where someone wants to know.
fn says_cpu(baseline: &BaselineComparison, one: &ConditionChange) -> bool {
    match one.cpu.verdict {
        ChangeVerdict::Slower | ChangeVerdict::Faster => true,
        ChangeVerdict::NoDifferenceShown => baseline.with.fail_above.cpu.is_some(),
        ChangeVerdict::NotComparable => {
            baseline.with.fail_above.cpu.is_some() && one.cpu.reason != one.wall.reason
        }
    }
}

/// `96.0 ms → 104 ms, 1.083x [1.021, 1.152]: slower, above the limit of 2.0 %`.
fn sentence(change: &Change, look: BenchLook, limit: Option<f64>) -> String {
    let verdict = verdict(change, limit, Kind::Conditions);
    match (change.baseline_ns, change.now_ns, estimate(change)) {
        (Some(then), Some(now), Some(estimate)) => {
            format!("{} → {}, {}: {verdict}", look.time(then), look.time(now), ratio(&estimate))
        }
        (_, Some(now), _) => format!("{} now: {verdict}", look.time(now)),
        _ => verdict,
    }
}

/// What a reader has to know beside the sentences.
pub(super) fn notes(summary: &BenchSummary, baseline: &BaselineComparison) -> Vec<String> {
    let several = summary.session.commands.len() > 1;
    let mut notes = Vec::new();
    notes.extend(busy(baseline.conditions.iter().map(|one| &one.wall)));
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
    notes.extend(baseline.with.host_differences.iter().map(host_difference));
    notes
}

/// A row a condition for the Markdown table; nothing without a baseline.
pub(super) fn markdown(summary: &BenchSummary, look: BenchLook) -> String {
    let Some(baseline) = &summary.baseline else { return String::new() };
    let mut out = format!(
        "\n{} ({}):\n\n| Condition | Then | Now | Ratio | Verdict |\n|:---|---:|---:|---:|:---|\n",
        title(&baseline.with).replace('|', "\\|"),
        sessions(&baseline.with)
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
                verdict(change, limit, Kind::Conditions),
            ];
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
        };
        row(name.clone(), &one.wall, baseline.with.fail_above.wall);
        if says_cpu(baseline, one) {
            row(format!("{name}, CPU time"), &one.cpu, baseline.with.fail_above.cpu);
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
